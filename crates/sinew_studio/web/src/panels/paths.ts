// Paths: the walk, paths of handles, the ground and keyframes, baked to a clip.
import { ask, store } from '../app';
import type { Baked, Follow, HandlePath } from '../net/protocol';
import { guessFeet, paths, removePath, setPath, setPaths, setWalk } from '../pathing';
import type { Player } from '../player';
import { h, whenChanged } from '../ui/dom';
import { checkbox, iconButton, lengthField, numberField, row, segments, selectField } from '../ui/fields';
import { toast } from '../ui/toast';
import { groundFields } from './ground';
import { section } from './section';

export function buildPaths(player: Player): HTMLElement {
  const element = h('div.paths', { 'data-testid': 'paths' });
  const slot = (build: () => HTMLElement): ((key: unknown) => void) => {
    const place = h('div');
    element.append(place);
    return whenChanged(() => place.replaceChildren(build()));
  };
  const baking = new Baking(player);
  const showWalk = slot(walkSection);
  const showPaths = slot(pathsSection);
  const showGround = slot(groundSection);
  const showKeys = slot(keysSection);
  const showBake = slot(() => baking.section());
  const show = (): void => {
    const { doc, prefs, options, tool } = store;
    const names = doc?.handles.map(({ name }) => name);
    showWalk([doc?.paths?.walk, names, prefs.units, options.path, tool]);
    showPaths([doc?.paths?.paths, names, prefs.units, options.path, tool, store.main]);
    showGround([doc?.paths?.ground, prefs.units]);
    showKeys([doc?.paths?.keyframes, doc?.examples.map(({ name }) => name)]);
    showBake([baking.follow, Boolean(doc?.paths?.keyframes?.examples.length), hasPaths()]);
  };
  baking.changed = show;
  for (const topic of ['doc', 'prefs', 'tool', 'selection'] as const) store.on(topic, show);
  show();
  return element;
}

const hasPaths = (): boolean => paths().walk !== undefined || (paths().paths ?? []).length > 0;

/** Draw with the path tool, on the walk or the path of a handle. */
function drawOn(path: 'walk' | number): void {
  store.options.path = path;
  store.setTool('path');
}

function drawButton(id: string, path: 'walk' | number, tip: string): HTMLButtonElement {
  const button = iconButton(id, 'path', tip, () => drawOn(path));
  button.setAttribute('aria-pressed', String(store.tool === 'path' && store.options.path === path));
  return button;
}

function walkSection(): HTMLElement {
  const { walk } = paths();
  const handles = (store.doc?.handles ?? []).map(({ name }) => ({ value: name, label: name }));
  if (!walk) {
    return section(
      'Walk',
      h('p.note', null, 'Where it walks: draw a line on the ground, click by click.'),
      h('button', { type: 'button', disabled: guessFeet() === null, 'data-testid': 'walk-draw', onclick: () => drawOn('walk') }, 'Draw a walk'),
    );
  }
  const foot = (k: 0 | 1, side: string): HTMLElement =>
    row(
      `${side} foot`,
      selectField(`walk-foot-${side.toLowerCase()}`, `${side} foot`, walk.feet[k], handles, (name) =>
        setWalk({ feet: k === 0 ? [name, walk.feet[1]] : [walk.feet[0], name] }),
      ),
    );
  const length = (key: 'stride' | 'lift', label: string, min: number): HTMLElement =>
    row(`${label} ${store.prefs.units}`, lengthField({ id: `walk-${key}`, label, value: walk[key], min, set: (value) => setWalk({ [key]: value }) }));
  return section(
    'Walk',
    h(
      'div.path-head',
      null,
      h('span.name', { 'data-testid': 'walk-points' }, `${walk.line.length} points`),
      drawButton('walk-edit', 'walk', 'Edit its points'),
      iconButton('walk-remove', 'trash', 'Remove the walk', () => void setPaths({ walk: undefined })),
    ),
    foot(0, 'Left'),
    foot(1, 'Right'),
    length('stride', 'Stride', 0.001),
    row('Time s', numberField({ id: 'walk-seconds', label: 'Seconds a stride', value: walk.seconds, min: 0.05, max: 60, step: 0.1, set: (seconds) => setWalk({ seconds }) })),
    length('lift', 'Lift', 0),
    row('Stance', numberField({ id: 'walk-stance', label: 'Share of the time that a foot stands', value: walk.stance, min: 0.2, max: 0.9, step: 0.05, set: (stance) => setWalk({ stance }) })),
  );
}

function pathsSection(): HTMLElement {
  const list = paths().paths ?? [];
  const { main } = store;
  const taken = list.some(({ handle }) => handle === main);
  const add = h(
    'button',
    {
      type: 'button',
      disabled: main === null || taken,
      'data-testid': 'path-add',
      onclick: () => void addPath(main!),
    },
    main === null ? 'Select a handle to give it a path' : taken ? `${main} has a path` : `Path for ${main}`,
  );
  return section('Paths of handles', ...list.map(pathRow), add);
}

async function addPath(handle: string): Promise<void> {
  const start = store.handle(handle)?.middle;
  if (!start) return;
  const list = [...(paths().paths ?? []), { handle, points: [start], seconds: 2 }];
  if ((await setPaths({ paths: list })) !== undefined) drawOn(list.length - 1);
}

function pathRow(path: HandlePath, index: number): HTMLElement {
  const { handle } = path;
  return h(
    'div.path-row',
    { 'data-testid': `path-${handle}` },
    h(
      'div.path-head',
      null,
      h('span.name', null, handle),
      h('span.off', { 'data-testid': `path-points-${handle}` }, `${path.points.length} point${path.points.length === 1 ? '' : 's'}`),
      drawButton(`path-edit-${handle}`, index, 'Edit its points'),
      iconButton(`path-remove-${handle}`, 'trash', 'Remove the path', () => removePath(index)),
    ),
    row(
      'Seconds',
      numberField({ id: `path-seconds-${handle}`, label: `Seconds of ${handle}`, value: path.seconds ?? 2, min: 0.01, step: 0.1, set: (seconds) => setPath(index, { seconds, times: undefined }) }),
    ),
    h(
      'div.path-checks',
      null,
      checkbox(`path-pin-${handle}`, 'must be there', path.pin ?? false, (pin) => setPath(index, { pin })),
      checkbox(`path-carries-${handle}`, 'carries the body', path.carries ?? false, (carries) => setPath(index, { carries })),
    ),
  );
}

function groundSection(): HTMLElement {
  return section('Ground', ...groundFields('ground', paths().ground, (ground) => void setPaths({ ground })));
}

function keysSection(): HTMLElement {
  const keys = paths().keyframes ?? { examples: [], seconds: 0.5 };
  const set = (change: Partial<typeof keys>): void => {
    const now = { ...keys, ...change };
    void setPaths({ keyframes: now.examples.length > 0 ? now : undefined });
  };
  const names = (store.doc?.examples ?? []).map(({ name }) => ({ value: name, label: name }));
  const chips = keys.examples.map((name, i) =>
    h(
      'span.chip',
      { 'data-testid': `key-${i}` },
      name,
      iconButton(`key-remove-${i}`, 'close', 'Take it out', () => set({ examples: keys.examples.filter((_, k) => k !== i) })),
    ),
  );
  return section(
    'Keyframes',
    h('div.chips', { 'data-testid': 'keys' }, ...chips),
    row(
      'Add',
      selectField('key-add', 'Add an example', '', [{ value: '', label: names.length > 0 ? 'Example…' : 'No examples' }, ...names], (name) => {
        if (name !== '') set({ examples: [...keys.examples, name] });
      }),
    ),
    row('Time s', numberField({ id: 'key-seconds', label: 'Seconds from one to the next', value: keys.seconds, min: 0.01, max: 3600, step: 0.1, set: (seconds) => set({ seconds }) })),
  );
}

/** Baking to a clip, which then plays. */
class Baking {
  follow: Follow = 'paths';
  changed: () => void = () => {};
  private name = 'motion';
  private fps = 30;
  private readonly said = h('p.note', { 'data-testid': 'bake-said', role: 'status' });

  constructor(private readonly player: Player) {}

  section(): HTMLElement {
    const name = h('input', { type: 'text', value: this.name, 'aria-label': 'Name of the clip', 'data-testid': 'bake-name' });
    name.addEventListener('change', () => {
      this.name = name.value.trim() || 'motion';
    });
    const isReady = this.follow === 'paths' ? hasPaths() : (paths().keyframes?.examples.length ?? 0) > 0;
    return section(
      'Bake',
      segments<Follow>(
        'bake-follow',
        'Follow',
        this.follow,
        [
          { value: 'paths', label: 'Paths', tip: 'The walk and the paths of handles' },
          { value: 'keyframes', label: 'Keyframes', tip: 'Examples one after the other' },
        ],
        (follow) => {
          this.follow = follow;
          this.changed();
        },
      ),
      row('Clip', name),
      row('Frames/s', numberField({ id: 'bake-fps', label: 'Frames per second', value: this.fps, min: 1, max: 240, step: 1, set: (fps) => (this.fps = fps) })),
      h('button.primary', { type: 'button', disabled: !isReady, 'data-testid': 'bake', onclick: () => void this.bake() }, 'Bake and play'),
      this.said,
    );
  }

  private async bake(): Promise<void> {
    const clip = this.name;
    this.said.textContent = 'Baking…';
    const done = await ask<Baked>({ type: 'do', command: { bake: { clip, fps: this.fps, follow: this.follow } } });
    if (!done) {
      this.said.textContent = 'It was not baked.';
      return;
    }
    this.said.textContent = sayBaked(done, this.follow);
    if (done.missed > 0.02) toast('warning', `Some targets are out of reach: the nearest poses miss them by up to ${(100 * done.missed).toFixed(1)} % of the body.`);
    this.play(clip);
  }

  /** The clip may not be in the state yet. */
  private play(clip: string): void {
    const start = (): boolean => {
      if (!store.doc?.clips.some(({ name }) => name === clip)) return false;
      this.player.choose(clip);
      this.player.setFps(this.fps);
      this.player.play();
      return true;
    };
    if (start()) return;
    const stop = store.on('doc', () => {
      if (start()) stop();
    });
  }
}

function sayBaked({ frames, target_error: [mean, most] }: Baked, follow: Follow): string {
  if (follow === 'keyframes') return `${frames} frames.`;
  const cm = (metres: number): string => `${(100 * metres).toFixed(2)} cm`;
  return `${frames} frames; targets are missed by ${cm(mean)} on average, ${cm(most)} at most.`;
}
