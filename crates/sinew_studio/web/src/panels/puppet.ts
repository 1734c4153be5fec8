// Puppet: an actor from a camera or a recording, pairs of poses, how the character follows, and takes.
import { run, ask, store } from '../app';
import { showShape } from '../display';
import { unlessDirty } from '../commands/file';
import { showActor } from '../dialogs/drop';
import { openActor } from '../dialogs/open';
import { openExport } from '../dialogs/export';
import { address } from '../net/address';
import type { Limb, PairInfo, PairTarget } from '../net/protocol';
import type { Player } from '../player';
import type { Network } from '../pose/messages';
import { puppeteering, type Phase, type Source } from '../puppeteering';
import { askText } from '../ui/dialog';
import { h, whenChanged } from '../ui/dom';
import { checkbox, iconButton, row, segments, selectField, slider } from '../ui/fields';
import { icon } from '../ui/icons';
import { section } from './section';

export function buildPuppet(player: Player): HTMLElement {
  const element = h('div.properties.puppet', { 'data-testid': 'puppet' });
  const slot = (build: () => Node): ((key: unknown) => void) => {
    const place = h('div');
    element.append(place);
    return whenChanged(() => place.replaceChildren(build()));
  };
  const showSource = slot(sourceSection);
  const playing = new Playing();
  element.append(playing.element);
  const showPhase = slot(phaseSection);
  const shelf = new Shelf();
  element.append(shelf.element);
  const take = new Take();
  element.append(take.element);
  const showSettings = slot(settingsSection);
  const show = (): void => {
    const { doc } = store;
    const { source, phase, target, countDown, camera, patient } = puppeteering;
    const names = [doc?.examples.map(({ name }) => name), doc?.clips, (doc?.n_moves ?? 0) > 0];
    showSource([source, doc?.actor?.name, camera.state, store.prefs.tracker]);
    showPhase([source !== 'none', phase, target, countDown, patient, names]);
    showSettings([doc?.puppet.settings, doc?.puppet.projections]);
    shelf.show();
    playing.show();
    take.show();
  };
  const showLive = (): void => {
    playing.show();
    shelf.weigh();
    take.show();
  };
  puppeteering.on('change', show);
  puppeteering.on('act', showLive);
  store.on('doc', show);
  // A take that was kept is what one wants to see next.
  let n = 0;
  store.on('doc', ({ clips }) => {
    const newest = clips[clips.length - 1]?.name;
    if (clips.length === n + 1 && newest?.startsWith('take ')) player.choose(newest, false);
    n = clips.length;
  });
  show();
  return element;
}

/** Samples that are paired with an actor of our own. */
const DEMOS: [string, string][] = [
  ['quadruped', 'Fox'],
  ['octopus', 'Octopus'],
  ['sack', 'Sack'],
  ['bar', 'Bar'],
];

async function openDemo(name: string): Promise<void> {
  // The actor of before leaves when the other document is there, which may be after the answer.
  const there = new Promise<void>((done) => {
    const stop = store.on('opened', () => {
      stop();
      done();
    });
  });
  const opened = await ask({ type: 'puppet_demo', name });
  if (opened === undefined) return;
  await there;
  await showActor(opened);
  if (!puppeteering.playing) puppeteering.toggle();
}

const TRACKERS: { value: Network; label: string; tip: string }[] = [
  { value: 'lite', label: 'Quick', tip: 'Follows sooner' },
  { value: 'full', label: 'Exact', tip: 'Sees you better, and takes a little longer' },
];

function sourceSection(): HTMLElement {
  const { source, camera } = puppeteering;
  const choices: { value: Source; label: string; tip?: string }[] = [
    { value: 'none', label: 'None' },
    { value: 'camera', label: 'Camera', tip: 'Follow you; pictures stay on this computer' },
    { value: 'recording', label: 'Recording', tip: 'Kinect, BVH, landmarks, or a GLB with a person' },
  ];
  const parts: Node[] = [
    segments('puppet-source', 'Actor', source, choices, (value) => void puppeteering.choose(value)),
  ];
  if (source === 'none')
    parts.push(h('p.note', null, 'You move, the character moves: start the camera or open a recording, pair a few poses, perform.'));
  if (source === 'none')
    parts.push(
      h(
        'div.actions.wrap',
        null,
        h('span.dim', null, 'Try it:'),
        ...DEMOS.map(([name, label]) =>
          h('button', { type: 'button', 'data-testid': `demo-${name}`, onclick: () => unlessDirty(() => void openDemo(name)) }, label),
        ),
      ),
    );
  if (source === 'recording')
    parts.push(
      h(
        'div.actions',
        null,
        h('button', { type: 'button', 'data-testid': 'actor-open', onclick: openActor }, icon('folder'), 'Open a recording…'),
        h('span.dim.grow.name', null, store.doc?.actor?.name ?? ''),
      ),
    );
  if (source === 'camera')
    parts.push(row('Tracker', segments('puppet-tracker', 'Tracker', store.prefs.tracker, TRACKERS, (network) => puppeteering.useTracker(network))));
  if (source === 'camera' && camera.state === 'off')
    parts.push(h('button', { type: 'button', 'data-testid': 'camera-again', onclick: () => puppeteering.startCamera() }, 'Start the camera again'));
  return section('Actor', ...parts);
}

/** The recording's own timeline, and how fast the camera is followed. Kept while it plays. */
class Playing {
  private readonly scrub = h('input', { type: 'range', min: 0, step: 1, value: 0, 'aria-label': 'Frame of the actor', 'data-testid': 'actor-scrub' });
  private readonly at = h('output.frame-number', { 'data-testid': 'actor-frame' });
  private readonly play = iconButton('actor-play', 'play', 'Play or pause the actor', () => puppeteering.toggle());
  // An icon that is exchanged while the button is pressed would swallow the click.
  private readonly showPlaying = whenChanged((playing: boolean) => this.play.replaceChildren(icon(playing ? 'pause' : 'play')));
  private readonly rate = h('span.dim.grow', { 'data-testid': 'camera-rate' });
  private readonly stand = h('button', { type: 'button', 'data-testid': 'calibrate', 'data-tip': 'Stand straight, wholly in the picture: corrects a tilted camera, and learns your size', onclick: () => void ask({ type: 'calibrate', on: store.doc?.puppet.settings.calibration === null }) });
  private readonly recording = h('div.actions.player', null, this.play, this.scrub, this.at);
  private readonly camera = h('div.actions', null, this.rate);
  readonly element = h('div.playing', null, this.recording, this.camera, h('div.actions', null, this.stand));

  constructor() {
    this.scrub.addEventListener('input', () => {
      // Pausing shows the frame of before.
      const frame = this.scrub.valueAsNumber;
      puppeteering.pause();
      puppeteering.seek(frame);
    });
  }

  show(): void {
    const { source, camera, frame, playing } = puppeteering;
    const { actor, puppet } = store.doc ?? {};
    this.element.hidden = source === 'none';
    this.recording.hidden = source !== 'recording' || !actor;
    this.camera.hidden = source !== 'camera';
    this.stand.textContent = puppet?.settings.calibration ? 'Forget calibration' : 'Calibrate: stand straight';
    if (actor) {
      this.scrub.max = String(actor.frames - 1);
      this.scrub.value = String(frame);
      this.scrub.style.setProperty('--share', String(frame / Math.max(1, actor.frames - 1)));
      this.at.textContent = `${frame} / ${actor.frames - 1}`;
      this.showPlaying(playing);
    }
    const rate = camera.rate.toFixed(1);
    this.rate.textContent = camera.state === 'on' ? `${rate} pictures a second, ${camera.ms.toFixed(0)} ms each` : '';
  }
}

const PHASES: { value: Phase; label: string; tip: string }[] = [
  { value: 'pair', label: 'Pair poses', tip: 'Say which pose of yours means which of the character' },
  { value: 'perform', label: 'Perform', tip: 'The character follows' },
];

const key = (target: PairTarget): string => (typeof target === 'string' ? target : 'clip' in target ? `clip:${target.clip[0]}` : `example:${target.example}`);

function targets(): { value: string; label: string; target: PairTarget }[] {
  const { examples = [], clips = [], n_moves = 0 } = store.doc ?? {};
  const list: [PairTarget, string][] = [
    ['rest', 'At rest'],
    ...(n_moves > 0 ? [['posed', 'The present pose'] as [PairTarget, string]] : []),
    ...examples.map(({ name }): [PairTarget, string] => [{ example: name }, `Pose: ${name}`]),
    ...clips.filter(({ name }) => !name.startsWith('take ')).map(({ name }): [PairTarget, string] => [{ clip: [name, 0] }, `Moment of ${name}`]),
  ];
  return list.map(([target, label]) => ({ value: key(target), label, target }));
}

function phaseSection(): Node {
  const { source, phase, target, countDown } = puppeteering;
  if (source === 'none') return h('div');
  const parts: Node[] = [segments('puppet-phase', 'Phase', phase, PHASES, (value) => puppeteering.setPhase(value))];
  if (phase === 'pair') {
    const all = targets();
    parts.push(
      row(
        'Character',
        selectField('pair-target', 'Pose of the character', key(target), all, (value) =>
          puppeteering.setTarget(all.find((one) => one.value === value)?.target ?? 'rest'),
        ),
      ),
    );
    if (typeof target !== 'string' && 'clip' in target) parts.push(momentRow(target.clip));
    parts.push(
      h(
        'div.actions',
        null,
        h(
          'button.primary',
          {
            type: 'button',
            'data-testid': 'pair',
            'data-tip': 'Your pose of this moment means the pose that is shown',
            onclick: () => (countDown === null ? puppeteering.pair(puppeteering.freePairName()) : puppeteering.cancelPair()),
          },
          icon('link'),
          countDown === null ? 'Pair' : `Stop (${countDown})`,
        ),
        source === 'camera' &&
          checkbox('pair-patient', 'count down', puppeteering.patient, (on) => {
            puppeteering.patient = on;
          }),
      ),
    );
  }
  return h('div.phase', null, ...parts);
}

function momentRow([name, time]: [string, number]): HTMLElement {
  const duration = store.doc?.clips.find((clip) => clip.name === name)?.duration ?? 0;
  const shown = h('span.dim.number', null, `${time.toFixed(2)} s`);
  const range = slider({
    id: 'pair-moment',
    label: 'Moment',
    value: time,
    min: 0,
    max: Math.max(duration, 0.01),
    step: 0.01,
    set: (moment) => {
      shown.textContent = `${moment.toFixed(2)} s`;
      puppeteering.target = { clip: [name, moment] };
      void showShape('clip', { clip: name, time: moment });
    },
  });
  return row('Moment', range, shown);
}

/** The pairs with their pictures, and how much each weighs now. */
class Shelf {
  private readonly cards = h('div.cards', { 'data-testid': 'pairs' });
  private meters: HTMLElement[] = [];
  private readonly residual = h('p.note', { 'data-testid': 'residual' });
  readonly element = section('Pairs', this.cards, this.residual, this.files());
  private readonly build = whenChanged((pairs: PairInfo[]) => {
    this.meters = pairs.map(() => h('i.weight'));
    this.cards.replaceChildren(...pairs.map((pair, i) => card(pair, this.meters[i])));
    if (pairs.length === 0) this.cards.append(h('p.note', null, 'None yet. Two are enough to begin: stand still for “at rest”, then a pose of yours for another of the character.'));
    this.weigh();
  });

  show(): void {
    this.build((store.doc?.puppet.pairs ?? []).map(({ name, thumbnail, target }) => ({ name, thumbnail, target, body: [] })));
    this.weigh();
  }

  weigh(): void {
    const { weights, residual, fault } = store.doc?.act ?? {};
    this.meters.forEach((meter, i) => {
      const weight = weights?.[i] ?? 0;
      meter.style.setProperty('--weight', String(Math.min(1, Math.abs(weight))));
      meter.classList.toggle('below', weight < 0);
      meter.dataset.weight = weight.toFixed(3);
    });
    const isFault = fault != null && (store.doc?.puppet.pairs.length ?? 0) > 0;
    this.residual.classList.toggle('missed', isFault);
    this.residual.textContent = isFault
      ? fault
      : residual != null
        ? `You are ${(100 * residual).toFixed(1)} cm from a blend of these poses${residual > 0.06 ? ': pair this one, too' : ''}.`
        : '';
    this.residual.hidden = this.residual.textContent === '';
  }

  private files(): HTMLElement {
    const input = h('input', { type: 'file', accept: '.json', hidden: true, 'data-testid': 'pairs-file' });
    input.addEventListener('change', async () => {
      const text = await input.files?.[0]?.text();
      input.value = '';
      if (text === undefined) return;
      const pairs: unknown = await Promise.resolve(text).then(JSON.parse).catch(() => ({}));
      void run({ set_pairs: { pairs } });
    });
    return h(
      'div.actions',
      null,
      input,
      h('button', { type: 'button', 'data-tip': 'Exchange the pairs for those of a pairs.json', onclick: () => input.click() }, 'Import…'),
      h('button', { type: 'button', 'data-testid': 'pairs-export', 'data-tip': 'For `sinew puppet`', onclick: () => openExport('pairs') }, 'Export…'),
    );
  }
}

function card({ name, thumbnail, target }: PairInfo, meter: HTMLElement): HTMLElement {
  const rename = (): void =>
    askText('rename-pair', 'Rename pair', 'Name', name, (to) => {
      if (to !== name) void run({ rename_pair: { name, to } });
    });
  const meaning = 'example' in target ? `the pose ${target.example}` : target.joints === 0 ? 'at rest' : 'a pose of the skeleton';
  return h(
    'div.card.pair',
    { 'data-testid': `pair-${name}` },
    h('div.card-picture', { 'data-tip': `Means ${meaning}` }, thumbnail === null ? icon('figure') : h('img', { src: address(thumbnail), alt: '' }), meter),
    h(
      'div.card-line',
      null,
      h('span.name', { ondblclick: rename, 'data-tip': 'Double click renames' }, name),
      iconButton(`pair-delete-${name}`, 'trash', 'Delete pair', () => void run({ remove_pair: { name } })),
    ),
  );
}

/** Recording a take: kept while it runs, since a button that is made anew while pressed is not pressed. */
class Take {
  private readonly label = h('span');
  private readonly button = h('button.primary', { type: 'button', 'data-testid': 'take', onclick: () => void puppeteering.record() }, h('b.dot'), this.label);
  private readonly all = h('button', { type: 'button', 'data-testid': 'take-all', 'data-tip': 'Every frame of the recording, at once', onclick: () => puppeteering.performAll() }, 'Whole recording');
  private readonly export = h('button', { type: 'button', 'data-testid': 'take-export', onclick: () => openExport() }, 'Export…');
  readonly element = section('Take', h('div.actions.wrap', null, this.button, this.all, this.export), h('p.note', null, 'A take becomes a clip of the timeline, made of the poses of the character.'));

  show(): void {
    const { source } = puppeteering;
    const take = store.doc?.act?.take ?? null;
    const ready = (store.doc?.puppet.pairs.length ?? 0) > 0;
    this.element.hidden = source === 'none';
    this.button.disabled = !ready || store.doc?.act == null;
    this.all.hidden = source !== 'recording';
    this.all.disabled = !ready || !store.doc?.actor;
    this.button.classList.toggle('recording', take !== null);
    this.label.textContent = take === null ? 'Record' : `Stop (${take} frames)`;
  }
}

const LIMBS: [Limb, string][] = [
  ['arm.L', 'left arm'],
  ['arm.R', 'right arm'],
  ['leg.L', 'left leg'],
  ['leg.R', 'right leg'],
];

const PROJECTIONS: Record<string, string> = {
  l1: 'Between (L1)',
  positive: 'Never beyond the pairs',
  linear: 'Nearest, may shake (linear)',
  radial: 'By likeness (radial)',
};

function settingsSection(): HTMLElement {
  const settings = store.doc?.puppet.settings;
  if (!settings) return section('Following');
  const range = (name: 'smoothing' | 'lambda' | 'limit' | 'hold', label: string, max: number, step: number, tip: string): HTMLElement => {
    const shown = h('span.dim.number', null, String(settings[name]));
    return row(
      label,
      slider({
        id: `puppet-${name}`,
        label,
        value: settings[name],
        min: 0,
        max,
        step,
        tip,
        set: (value) => {
          shown.textContent = String(value);
          puppeteering.set({ [name]: value });
        },
      }),
      shown,
    );
  };
  const listen = (limb: Limb, on: boolean): void =>
    puppeteering.set({ ignored: on ? settings.ignored.filter((other) => other !== limb) : [...settings.ignored, limb] });
  const projections = (store.doc?.puppet.projections ?? []).map((value) => ({ value, label: PROJECTIONS[value] ?? value }));
  return section(
    'Following',
    range('smoothing', 'Smoothing', 1, 0.05, 'More is calmer and later'),
    row('Poses', selectField('puppet-projection', 'Projection', settings.projection, projections, (projection) => puppeteering.set({ projection }))),
    ...(settings.projection === 'l1' ? [range('lambda', 'Caution', 0.2, 0.005, 'Price of going beyond the pairs: 0 is linear, much is never')] : []),
    range('limit', 'Beyond', 2, 0.05, 'How far beyond the pairs it may go'),
    row('Mirror', checkbox('puppet-mirror', 'left is right, as in a mirror', settings.mirror, (mirror) => puppeteering.set({ mirror }))),
    row('Listen to', h('div.limbs', null, ...LIMBS.map(([limb, label]) => checkbox(`listen-${limb}`, label, !settings.ignored.includes(limb), (on) => listen(limb, on))))),
    row(
      'Body',
      segments(
        'puppet-parts',
        'Body',
        settings.whole_body ? 'whole' : 'parts',
        [
          { value: 'parts', label: 'Limb by limb', tip: 'An arm does not disturb a leg' },
          { value: 'whole', label: 'Whole', tip: 'The body as a whole, as the thesis does' },
        ],
        (value) => puppeteering.set({ whole_body: value === 'whole' }),
      ),
    ),
    row(
      'Blend',
      segments(
        'puppet-blend',
        'Blend',
        settings.interpolation,
        [
          { value: 'fk', label: 'Turns', tip: 'Limbs keep their lengths' },
          { value: 'linear', label: 'Matrices', tip: 'As the thesis compares: they shrink and shear' },
        ],
        (interpolation) => puppeteering.set({ interpolation }),
      ),
    ),
    row(
      'Ground',
      h(
        'div.limbs',
        null,
        checkbox('puppet-travel', 'travels', settings.travel, (travel) => puppeteering.set({ travel })),
        checkbox('puppet-feet', 'feet stay', settings.feet, (feet) => puppeteering.set({ feet })),
      ),
    ),
    range('hold', 'Hold', 5, 0.1, 'Seconds after which a lost actor stands'),
  );
}
