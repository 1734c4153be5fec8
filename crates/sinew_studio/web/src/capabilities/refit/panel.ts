// The refit panel: a clip of the skeleton on other ground or with longer limbs, its feet held where they are planted.
import { ask, store } from '../../app';
import type { Context } from '../../capability';
import { Emitter } from '../../emitter';
import type { Ground, Job, Refitted } from '../../net/protocol';
import { type Player, playNew } from '../../player';
import { button, checkbox, note, numberField, row, segments } from '../../ui/fields';
import { formatFps } from '../../ui/format';
import { groundFields } from '../../ui/ground';
import { section } from '../../ui/section';
import { addSkeletonRow, hasSkeleton } from '../../ui/skeleton';
import { h, useTopics, type View } from '../../ui/view';
import { rules } from '../rules/state';
import { footContacts } from './state';

/** What is asked for next, and what the last refit came to; kept while the panel is closed. */
class RefitSettings extends Emitter<{ change: null }> {
  value = { ground: { flat: 0 } as Ground, alongWay: true, rules: false, legs: 1, arms: 1, name: '' };
  report: View[] = [];

  set(change: Partial<RefitSettings['value']>): void {
    Object.assign(this.value, change);
    this.emit('change', null);
  }

  show(report: View[]): void {
    this.report = report;
    this.emit('change', null);
  }
}

const settings = new RefitSettings();

export const forgetRefit = (): void => settings.show([]);

const running = (): Job | undefined => [...store.jobs.values()].find(({ kind }) => kind === 'refit');

export function RefitPanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'jobs', 'prefs');
  useTopics(footContacts, 'change');
  useTopics(player, 'change');
  useTopics(settings, 'change');
  return h(
    'div.properties.refit',
    { 'data-testid': 'refit' },
    settingsSection(player),
    contactsSection(),
    runRow(player),
    h('div.refit-report', { 'data-testid': 'refit-report', role: 'status' }, ...settings.report),
  );
}

function settingsSection(player: Player): View {
  const clip = player.clip?.name;
  if (!hasSkeleton())
    return section(
      'Refit a clip',
      note('Refitting needs a skeleton, and this character has none.', 'refit-empty'),
      addSkeletonRow('refit-add-skeleton'),
    );
  if (clip === undefined) {
    const text = 'There is no clip. Bake a walk, record a take, or open an animated character.';
    return section('Refit a clip', note(text, 'refit-empty'));
  }
  const { value } = settings;
  const along = value.alongWay ? 'way' : 'world';
  return section(
    'Refit a clip',
    row('Clip', h('strong', { 'data-testid': 'refit-clip' }, clip), h('span.dim', null, 'of the timeline')),
    ...groundFields('refit-ground', value.ground, (ground) => settings.set({ ground })),
    row(
      'Direction',
      segments(
        'refit-along',
        'Direction of the ground',
        along,
        [
          { value: 'way', label: 'Clip', tip: 'The ground starts where the clip starts and follows its heading' },
          { value: 'world', label: '+Z', tip: 'The ground starts at the origin and follows +Z of the world' },
        ],
        (to) => settings.set({ alongWay: to === 'way' }),
      ),
    ),
    lengthFactor('legs', 'Legs'),
    lengthFactor('arms', 'Arms'),
    rules().text !== '' &&
      row(
        'Rules',
        checkbox('refit-rules', 'apply in every frame they name', value.rules, (on) => settings.set({ rules: on })),
      ),
  );
}

function lengthFactor(key: 'legs' | 'arms', label: string): View {
  const value = settings.value[key];
  return row(
    label,
    numberField({
      id: `refit-${key}`,
      label,
      value,
      min: 0.2,
      max: 5,
      step: 0.05,
      set: (to) => settings.set({ [key]: to }),
    }),
    h('span.dim', { 'data-tip': 'Factor on the current length; the skin stretches with it' }, '×'),
  );
}

function contactsSection(): View {
  const { track, why } = footContacts;
  if (!track) return section('Contacts', note(why || 'None.'));
  const found = `${track.contacts.length} ${track.edited ? 'set by hand' : 'found'}, at ${formatFps(track.fps)}.`;
  return section(
    'Contacts',
    note(
      `${found} Edit them on the timeline: drag their ends, drag on an empty row to add one, Del removes.`,
      'contacts-report',
    ),
    h(
      'div.actions',
      null,
      button('contacts-reset', 'Reset', () => void footContacts.set(null), { disabled: !track.edited }),
    ),
  );
}

function runRow(player: Player): View {
  const clip = player.clip?.name;
  const job = running();
  if (job)
    return h(
      'div.run',
      { key: 'running' },
      h('progress', { max: 1, value: job.share ?? undefined, 'aria-label': 'Refitting' }),
      button('refit-stop', 'Stop', () => void ask({ type: 'cancel', job: job.job })),
    );
  return h(
    'div.run',
    { key: 'idle' },
    h('input', {
      type: 'text',
      value: settings.value.name,
      placeholder: clip === undefined ? '' : `${clip} refit`,
      'aria-label': 'Name of the new clip',
      'data-testid': 'refit-name',
      oninput: ({ currentTarget }: Event) => settings.set({ name: (currentTarget as HTMLInputElement).value }),
    }),
    button('refit-start', 'Refit and play', () => void start(player, clip!), {
      class: 'primary',
      disabled: clip === undefined || !hasSkeleton(),
    }),
  );
}

async function start(player: Player, clip: string): Promise<void> {
  const { ground, alongWay, legs, arms, rules: withRules, name } = settings.value;
  const to = name.trim() || `${clip} refit`;
  const request = { clip, to, ground, along_way: alongWay, rules: withRules, legs, arms };
  settings.show([]);
  const done = await ask<Refitted>({ type: 'do', command: { refit: { settings: request } } });
  if (!done) return settings.show([note('The clip was not refitted.')]);
  // The limbs are longer now; once is enough.
  settings.set({ legs: 1, arms: 1, name: '' });
  settings.show(numbers(done));
  playNew(player, to);
}

function numbers(done: Refitted): View[] {
  const line = (id: string, label: string, value: string, beside: string): View =>
    h(
      'div.refit-number',
      { key: id, 'data-testid': `refit-${id}` },
      h('span', null, label),
      h('strong', null, value),
      h('span.dim', null, beside),
    );
  const { slide_cm_s: slide, penetration_cm: depth } = done.copied;
  return [
    line('slide', 'Foot sliding', `${done.slide_cm_s.toFixed(2)} cm/s`, `copying angles: ${slide.toFixed(1)}`),
    line('depth', 'Ground penetration', `${done.penetration_cm.toFixed(2)} cm`, `copying angles: ${depth.toFixed(1)}`),
    line('drift', 'Stance drift', `${done.drift_cm.toFixed(2)} cm`, ''),
    line('jerk', 'Jerk', `${done.jerk_ratio.toFixed(2)} ×`, 'of the clip'),
    ...(done.rule_violation_cm > 0
      ? [line('rules', 'Worst rule', `${done.rule_violation_cm.toFixed(2)} cm`, 'off')]
      : []),
    ...(done.limit_excess_percent > 0
      ? [line('limits', 'Worst limit', `${done.limit_excess_percent.toFixed(1)} %`, 'exceeded')]
      : []),
    ...done.damage.map((text) => h('p.note.missed', { key: text }, text)),
    ...done.warnings.map((text) => note(text)),
  ];
}
