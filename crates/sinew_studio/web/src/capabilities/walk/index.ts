// A clip in which the character walks, runs or gallops on its own legs.
import { ask, store } from '../../app';
import type { Capability, Context } from '../../capability';
import { Emitter } from '../../emitter';
import { freeCopy } from '../../names';
import type { Ground, Walked, WalkSettings } from '../../net/protocol';
import { type Player, playNew } from '../../player';
import { button, checkbox, note, numberField, row, selectField } from '../../ui/fields';
import { groundFields } from '../../ui/ground';
import { section } from '../../ui/section';
import { addSkeletonRow, hasSkeleton } from '../../ui/skeleton';
import { h, useTopics, type View } from '../../ui/view';

const GAITS = [
  { value: '', label: 'By speed' },
  { value: 'walk', label: 'Walk' },
  { value: 'run', label: 'Run (two legs)' },
  { value: 'trot', label: 'Trot' },
  { value: 'pace', label: 'Pace' },
  { value: 'gallop', label: 'Gallop' },
];

/** What is asked for next, and what the last one came to; kept while the panel is closed. */
class Chosen extends Emitter<{ change: null }> {
  gait = '';
  /** Metres per second; 0 is what suits the body. */
  speed = 0;
  inPlace = false;
  /** Metres straight on; 0 is a loop. */
  distance = 0;
  ground: Ground = { flat: 0 };
  report: { text: string; faults: string[] } | null = null;

  set(change: Partial<Chosen>): void {
    Object.assign(this, change);
    this.emit('change', null);
  }
}

const chosen = new Chosen();

async function add(player: Player): Promise<void> {
  if (!store.doc) return;
  const clip = freeCopy(store.doc.clips, chosen.gait || 'walk');
  const settings: Partial<WalkSettings> = {
    clip,
    gait: chosen.gait || null,
    speed: chosen.speed > 0 ? chosen.speed : null,
    line: chosen.distance > 0 ? [[0, chosen.distance]] : [],
    ground: chosen.ground,
    in_place: chosen.inPlace,
  };
  const made = await ask<Walked>({ type: 'walk', settings });
  if (!made) return;
  const legs = `${made.gait} on ${made.legs} legs at ${made.speed.toFixed(2)} m/s`;
  const feet = `feet slide ${made.slide_cm_s.toFixed(1)} cm/s at most and are lifted ${made.lift_cm.toFixed(1)} cm`;
  chosen.set({ report: { text: `${legs}; ${feet}.`, faults: made.faults } });
  playNew(player, clip);
}

function WalkPanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'prefs');
  useTopics(chosen, 'change');
  if (!hasSkeleton())
    return section(
      'Walk',
      note('Walking needs a skeleton, and this character has none.', 'walk-empty'),
      addSkeletonRow('walk-add-skeleton'),
    );
  const number = (id: string, label: string, value: number, max: number, set: (to: number) => void): View =>
    numberField({ id, label, value, min: 0, max, step: 0.1, digits: 2, set });
  return h(
    'div.properties',
    { 'data-testid': 'walk' },
    section(
      'Walk',
      note('Step length follows from leg length. Speed 0 chooses one that suits the body; distance 0 makes a loop.'),
      row(
        'Gait',
        selectField('walk-gait', 'Gait', chosen.gait, GAITS, (gait) => chosen.set({ gait })),
      ),
      row(
        'Speed',
        number('walk-speed', 'Speed in metres per second', chosen.speed, 100, (speed) => chosen.set({ speed })),
      ),
      row(
        'Distance',
        number('walk-distance', 'Distance in metres', chosen.distance, 1000, (distance) => chosen.set({ distance })),
      ),
      row(
        'In place',
        checkbox('walk-in-place', 'Stay in place', chosen.inPlace, (inPlace) => chosen.set({ inPlace })),
      ),
      ...groundFields('walk-ground', chosen.ground, (ground) => chosen.set({ ground })),
      h(
        'div.actions',
        null,
        button('walk-add', 'Add and play', () => void add(player), { class: 'primary' }),
      ),
    ),
    h(
      'div',
      { 'data-testid': 'walk-report', role: 'status' },
      chosen.report && note(chosen.report.text),
      ...(chosen.report?.faults ?? []).map((fault) => h('p.note.missed', null, fault)),
    ),
  );
}

export const walk: Capability = {
  id: 'walk',
  panels: [{ id: 'walk', title: 'Walk', icon: 'feet', workspace: 'animate', view: WalkPanel }],
  start: () => {
    store.on('opened', () => chosen.set({ report: null }));
  },
};
