// The refit panel: a clip of the skeleton on another ground or on longer limbs, its feet held where they stand.
import { ask, store } from '../app';
import { contacting } from '../contacting';
import type { Ground, Refitted } from '../net/protocol';
import type { Player } from '../player';
import { rules } from '../ruling';
import { h, whenChanged } from '../ui/dom';
import { checkbox, numberField, row, segments } from '../ui/fields';
import { groundFields } from './ground';
import { section } from './section';

const wish = {
  ground: { flat: 0 } as Ground,
  alongWay: true,
  rules: false,
  legs: 1,
  arms: 1,
  name: '',
};

export function buildRefit(player: Player): HTMLElement {
  const element = h('div.properties.refit', { 'data-testid': 'refit' });
  const slots = [h('div'), h('div'), h('div')];
  const said = h('div.refit-said', { 'data-testid': 'refit-said', role: 'status' });
  element.append(...slots, said);
  const showChoices = whenChanged(() => slots[0].replaceChildren(choices(player, () => show())));
  const showContacts = whenChanged(() => slots[1].replaceChildren(contactsSection()));
  const showRun = whenChanged(() => slots[2].replaceChildren(runRow(player, said)));
  const show = (): void => {
    const { doc } = store;
    const clip = player.clip?.name;
    showChoices([doc?.joints, clip, wish.ground, wish.alongWay, doc?.bounds, store.prefs.units, rules().text !== '']);
    showContacts([contacting.track, contacting.why]);
    showRun([clip, doc?.joints, running()?.job, running()?.share]);
  };
  for (const topic of ['doc', 'jobs', 'prefs'] as const) store.on(topic, show);
  contacting.on('change', show);
  player.on('change', show);
  store.on('opened', () => said.replaceChildren());
  show();
  return element;
}

const running = (): { job: number; share: number | null } | undefined =>
  [...store.jobs.values()].find(({ title }) => title.startsWith('Refitting '));

function choices(player: Player, changed: () => void): HTMLElement {
  const clip = player.clip?.name;
  if (!store.doc?.joints || clip === undefined) {
    const why = store.doc?.joints ? 'There is no clip.' : 'This character has no skeleton.';
    return section('Refit a clip', h('p.note', { 'data-testid': 'refit-empty' }, `${why} Open an animated character: its clip can be set on other ground, its feet held where they stand.`));
  }
  const factor = (key: 'legs' | 'arms', label: string): HTMLElement =>
    row(label, numberField({ id: `refit-${key}`, label, value: wish[key], min: 0.2, max: 5, step: 0.05, set: (value) => (wish[key] = value) }), h('span.dim', { 'data-tip': 'Times as long as they are; the skin is stretched along' }, '×'));
  return section(
    'Refit a clip',
    row('Clip', h('strong', { 'data-testid': 'refit-clip' }, clip), h('span.dim', null, 'of the timeline')),
    ...groundFields('refit-ground', wish.ground, (ground) => {
      wish.ground = ground;
      changed();
    }),
    row(
      'Along',
      segments('refit-along', 'Along', wish.alongWay ? 'way' : 'world', [
        { value: 'way', label: 'Way', tip: 'It begins where the clip begins, and rises the way it goes' },
        { value: 'world', label: '+Z', tip: 'It rises along +Z of the world, from the origin' },
      ], (value) => {
        wish.alongWay = value === 'way';
        changed();
      }),
    ),
    factor('legs', 'Legs'),
    factor('arms', 'Arms'),
    ...(rules().text === '' ? [] : [row('Rules', checkbox('refit-rules', 'hold in every frame they name', wish.rules, (on) => (wish.rules = on)))]),
  );
}

function contactsSection(): HTMLElement {
  const { track, why } = contacting;
  if (!track) return section('Contacts', h('p.note', null, why || 'None.'));
  const n = track.contacts.length;
  return section(
    'Contacts',
    h('p.note', { 'data-testid': 'contacts-said' }, `${n} ${track.edited ? 'set by hand' : 'found'}, at ${Math.round(track.fps)} frames a second. They are on the timeline: drag their ends, drag on an empty row to add one, Del removes.`),
    h('div.actions', null, h('button', { type: 'button', disabled: !track.edited, 'data-testid': 'contacts-reset', onclick: () => void contacting.set(null) }, 'As found')),
  );
}

function runRow(player: Player, said: HTMLElement): HTMLElement {
  const clip = player.clip?.name;
  const job = running();
  if (job) {
    return h(
      'div.run',
      null,
      h('progress', { max: 1, value: job.share ?? undefined }),
      h('button', { type: 'button', 'data-testid': 'refit-stop', onclick: () => void ask({ type: 'cancel', job: job.job }) }, 'Stop'),
    );
  }
  const name = h('input', { type: 'text', value: wish.name, placeholder: clip === undefined ? '' : `${clip} refit`, 'aria-label': 'Name of the new clip', 'data-testid': 'refit-name' });
  name.addEventListener('change', () => (wish.name = name.value.trim()));
  const start = async (): Promise<void> => {
    const to = name.value.trim() || `${clip} refit`;
    const settings = { clip: clip!, to, ground: wish.ground, along_way: wish.alongWay, rules: wish.rules, legs: wish.legs, arms: wish.arms };
    said.replaceChildren();
    const done = await ask<Refitted>({ type: 'do', command: { refit: { settings } } });
    if (!done) return void said.replaceChildren(h('p.note', null, 'It was not refitted.'));
    // The limbs are longer now; once is enough.
    [wish.legs, wish.arms, wish.name] = [1, 1, ''];
    said.replaceChildren(...numbers(done));
    play(player, to);
  };
  return h(
    'div.run',
    null,
    name,
    h('button.primary', { type: 'button', disabled: clip === undefined || !store.doc?.joints, 'data-testid': 'refit-start', onclick: () => void start() }, 'Refit and play'),
  );
}

/** The clip may not be in the state yet. */
function play(player: Player, clip: string): void {
  const begin = (): boolean => {
    if (!store.doc?.clips.some(({ name }) => name === clip)) return false;
    player.choose(clip);
    player.play();
    return true;
  };
  if (begin()) return;
  const stop = store.on('doc', () => {
    if (begin()) stop();
  });
}

function numbers(done: Refitted): Node[] {
  const line = (id: string, label: string, value: string, beside: string): HTMLElement =>
    h('div.refit-number', { 'data-testid': `refit-${id}` }, h('span', null, label), h('strong', null, value), h('span.dim', null, beside));
  return [
    line('slide', 'Feet slide', `${done.slide_cm_s.toFixed(2)} cm/s`, `angles copied: ${done.copied_slide_cm_s.toFixed(1)}`),
    line('depth', 'Deepest in the ground', `${done.penetration_cm.toFixed(2)} cm`, `copied: ${done.copied_penetration_cm.toFixed(1)}`),
    line('drift', 'Drift of a stance', `${done.drift_cm.toFixed(2)} cm`, ''),
    line('jerk', 'Jerk', `${done.jerk_ratio.toFixed(2)} ×`, 'the clip’s'),
    ...(done.rule_violation_cm > 0 ? [line('rules', 'Worst rule', `${done.rule_violation_cm.toFixed(2)} cm`, 'off')] : []),
    ...(done.limit_excess_percent > 0 ? [line('limits', 'Worst limit', `${done.limit_excess_percent.toFixed(1)} %`, 'exceeded')] : []),
    ...done.warnings.map((text) => h('p.note', null, text)),
  ];
}
