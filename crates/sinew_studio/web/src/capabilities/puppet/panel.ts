// The puppet panel: an actor from a camera or a recording, pairs of poses, and takes.
import { ask, store } from '../../app';
import { unlessDirty } from '../../commands/file';
import { showShape } from '../../display';
import type { PairTarget } from '../../net/protocol';
import type { Network } from '../../pose/messages';
import { button, checkbox, iconButton, note, row, segments, selectField, slider } from '../../ui/fields';
import { section } from '../../ui/section';
import { addSkeletonRow, hasSkeleton } from '../../ui/skeleton';
import { h, part, useTopics, type View } from '../../ui/view';
import { openExport } from '../export/form';
import { openActor, openDemo } from './open';
import { Pairs } from './pairs';
import { followingSection } from './settings';
import { type Phase, puppetStage, type Source } from './state';

export function PuppetPanel(): View {
  useTopics(store, 'doc', 'prefs');
  useTopics(puppetStage, 'change');
  return h(
    'div.properties.puppet',
    { 'data-testid': 'puppet' },
    sourceSection(),
    ...missing(),
    part(Playing, { key: 'playing' }),
    puppetStage.source !== 'none' && h('div.phase', { key: 'phase' }, ...phaseRows()),
    part(Pairs, { key: 'pairs' }),
    part(Take, { key: 'take' }),
    followingSection(),
  );
}

/** What an actor cannot move yet: without pairs it moves limbs of a skeleton. */
function missing(): View[] {
  const { doc } = store;
  if (!doc || hasSkeleton() || (doc.puppet?.pairs.length ?? 0) > 0) return [];
  const text =
    doc.examples.length > 0
      ? 'This character has no skeleton to follow you with. Add one, or pair your poses with the saved ones.'
      : 'This character has no skeleton to follow you with.';
  return [note(text, 'puppet-empty'), addSkeletonRow('puppet-add-skeleton')];
}

/** Samples that are paired with an actor of our own. */
const DEMOS: [string, string][] = [
  ['quadruped', 'Fox'],
  ['octopus', 'Octopus'],
  ['sack', 'Sack'],
  ['bar', 'Bar'],
];

const TRACKERS: { value: Network; label: string; tip: string }[] = [
  { value: 'lite', label: 'Fast', tip: 'Lower latency' },
  { value: 'full', label: 'Precise', tip: 'More precise, and slightly slower' },
];

const SOURCES: { value: Source; label: string; tip?: string }[] = [
  { value: 'none', label: 'None' },
  { value: 'camera', label: 'Camera', tip: 'Follows you; pictures stay on this computer' },
  { value: 'recording', label: 'Recording', tip: 'Kinect, BVH, landmarks, or a GLB with a person' },
];

function sourceSection(): View {
  const { source } = puppetStage;
  return section(
    'Actor',
    segments('puppet-source', 'Actor', source, SOURCES, (value) => puppetStage.choose(value)),
    ...sourceRows(source),
  );
}

function sourceRows(source: Source): View[] {
  if (source === 'none')
    return [
      note('You move, the character moves: start the camera or open a recording. Pairs of poses correct what it does.'),
      h(
        'div.actions.wrap',
        null,
        h('span.dim', null, 'Try it:'),
        ...DEMOS.map(([name, label]) => button(`demo-${name}`, label, () => unlessDirty(() => void openDemo(name)))),
      ),
    ];
  if (source === 'recording')
    return [
      h(
        'div.actions',
        null,
        button('actor-open', 'Open a recording…', openActor, { icon: 'folder' }),
        h('span.dim.grow.name', null, store.doc?.actor?.name ?? ''),
      ),
    ];
  const isOff = puppetStage.camera.state === 'off';
  const use = (network: Network): void => puppetStage.useTracker(network);
  return [
    row('Tracker', segments('puppet-tracker', 'Tracker', store.prefs.tracker, TRACKERS, use)),
    ...(isOff ? [button('camera-again', 'Restart the camera', () => puppetStage.startCamera())] : []),
  ];
}

/** The recording's own timeline, and how fast the camera is followed. */
function Playing(): View {
  useTopics(puppetStage, 'act', 'change');
  const { source, camera, frame, playing } = puppetStage;
  const { actor, puppet } = store.doc ?? {};
  const isCalibrated = puppet?.settings.calibration != null;
  const last = Math.max(0, (actor?.frames ?? 1) - 1);
  const seek = (to: number): void => {
    puppetStage.pause();
    puppetStage.seek(to);
  };
  const rate = `${camera.rate.toFixed(1)} fps, ${camera.ms.toFixed(0)} ms per picture`;
  return h(
    'div.playing',
    { hidden: source === 'none' },
    h(
      'div.actions.player',
      { hidden: source !== 'recording' || !actor },
      iconButton('actor-play', playing ? 'pause' : 'play', 'Play or pause the actor', () => puppetStage.toggle()),
      slider({ id: 'actor-scrub', label: 'Frame of the actor', value: frame, min: 0, max: last, step: 1, set: seek }),
      h('output.frame-number', { 'data-testid': 'actor-frame' }, `${frame} / ${last}`),
    ),
    h(
      'div.actions',
      { hidden: source !== 'camera' },
      h('span.dim.grow', { 'data-testid': 'camera-rate' }, camera.state === 'on' ? rate : ''),
    ),
    h(
      'div.actions',
      null,
      button(
        'calibrate',
        isCalibrated ? 'Reset calibration' : 'Calibrate: stand straight',
        () => void ask({ type: 'calibrate', on: !isCalibrated }),
        { tip: 'Stand straight and fully in the picture: corrects a tilted camera and measures your size' },
      ),
    ),
  );
}

const PHASES: { value: Phase; label: string; tip: string }[] = [
  { value: 'pair', label: 'Pair poses', tip: 'Pair your poses with poses of the character' },
  { value: 'perform', label: 'Perform', tip: 'The character follows' },
];

function keyOf(target: PairTarget): string {
  if (typeof target === 'string') return target;
  return 'clip' in target ? `clip:${target.clip[0]}` : `example:${target.example}`;
}

function targets(): { value: string; label: string; target: PairTarget }[] {
  const { examples = [], clips = [], n_moves = 0 } = store.doc ?? {};
  const list: [PairTarget, string][] = [
    ['rest', 'At rest'],
    ...(n_moves > 0 ? [['posed', 'The current pose'] as [PairTarget, string]] : []),
    ...examples.map(({ name }): [PairTarget, string] => [{ example: name }, `Pose: ${name}`]),
    ...clips.map(({ name }): [PairTarget, string] => [{ clip: [name, 0] }, `Frame of ${name}`]),
  ];
  return list.map(([target, label]) => ({ value: keyOf(target), label, target }));
}

function phaseRows(): View[] {
  const { source, phase, target, countDown, patient } = puppetStage;
  const choose = segments('puppet-phase', 'Phase', phase, PHASES, (value) => puppetStage.setPhase(value));
  if (phase !== 'pair') return [choose];
  const all = targets();
  const setTarget = (value: string): void =>
    puppetStage.setTarget(all.find((one) => one.value === value)?.target ?? 'rest');
  const pair = (): void => (countDown === null ? puppetStage.pair(puppetStage.pairName()) : puppetStage.cancelPair());
  return [
    choose,
    row('Character', selectField('pair-target', 'Pose of the character', keyOf(target), all, setTarget)),
    ...(typeof target !== 'string' && 'clip' in target ? [momentRow(target.clip)] : []),
    h(
      'div.actions',
      null,
      button('pair', countDown === null ? 'Pair' : `Stop (${countDown})`, pair, {
        class: 'primary',
        icon: 'link',
        tip: 'Pair your current pose with the pose that is shown',
      }),
      source === 'camera' &&
        checkbox('pair-patient', 'count down', patient, (on) => {
          puppetStage.patient = on;
        }),
    ),
  ];
}

function momentRow([name, time]: [string, number]): View {
  const duration = store.doc?.clips.find((clip) => clip.name === name)?.duration ?? 0;
  const set = (moment: number): Promise<void> => {
    puppetStage.target = { clip: [name, moment] };
    puppetStage.emit('change', null);
    return showShape('clip', { clip: name, time: moment });
  };
  const max = Math.max(duration, 0.01);
  return row(
    'Time',
    slider({ id: 'pair-moment', label: 'Time in the clip', value: time, min: 0, max, step: 0.01, set }),
    h('span.dim.number', null, `${time.toFixed(2)} s`),
  );
}

/** Recording a take. */
function Take(): View {
  useTopics(puppetStage, 'act', 'change');
  const { source } = puppetStage;
  const { act, actor, puppet } = store.doc ?? {};
  const take = act?.take ?? null;
  // Bodies that follow by themselves need no pairs.
  const isReady = (puppet?.pairs.length ?? 0) > 0 || (act != null && act.fault == null);
  const label = [h('b.dot'), take === null ? 'Record' : `Stop (${take} frames)`];
  if (source === 'none') return h('div');
  return section(
    'Take',
    h(
      'div.actions.wrap',
      null,
      button('take', label, () => void puppetStage.record(), {
        class: `primary${take === null ? '' : ' recording'}`,
        disabled: !isReady || act == null,
      }),
      source === 'recording' &&
        button('take-all', 'Whole recording', () => void puppetStage.performAll(), {
          disabled: !isReady || !actor,
          tip: 'Perform all frames without playing them',
        }),
      button('take-export', 'Export…', () => openExport()),
    ),
    note('A take is saved as a clip on the timeline.'),
  );
}
