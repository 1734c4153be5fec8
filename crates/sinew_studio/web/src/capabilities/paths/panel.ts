// The paths panel: the walk, paths of handles, the ground, keyframes, and baking them to a clip.
import { store } from '../../app';
import type { Context } from '../../capability';
import type { HandlePath, Walk } from '../../net/protocol';
import { button, checkbox, iconButton, lengthField, note, numberField, row, selectField } from '../../ui/fields';
import { counted } from '../../ui/format';
import { groundFields } from '../../ui/ground';
import { section } from '../../ui/section';
import { h, part, useTopics, type View } from '../../ui/view';
import { Bake } from './bake';
import { guessFeet, pathOptions, paths, removePath, setPath, setPaths, setWalk, usual } from './state';

export function PathPanel({ context }: { context: Context }): View {
  useTopics(store, 'doc', 'prefs', 'tool', 'selection');
  return h(
    'div.paths',
    { 'data-testid': 'paths' },
    walkSection(),
    pathsSection(),
    section('Ground', ...groundFields('ground', paths().ground, (ground) => setPaths({ ground }))),
    keysSection(),
    part(Bake, { key: 'bake', player: context.player }),
  );
}

/** Draw with the path tool, on the walk or the path of a handle. */
function drawOn(path: 'walk' | number): void {
  pathOptions.value.path = path;
  store.setTool('path');
}

function drawButton(id: string, path: 'walk' | number): View {
  const pressed = store.tool === 'path' && pathOptions.value.path === path;
  return iconButton(id, 'path', 'Edit the points', () => drawOn(path), { pressed });
}

function walkSection(): View {
  const { walk } = paths();
  if (walk) return section('Walk', ...walkFields(walk));
  return section(
    'Walk',
    note('Click points on the ground to draw a line for the character to walk along.'),
    button('walk-draw', 'Draw a walk', () => drawOn('walk'), { disabled: guessFeet() === null }),
  );
}

function walkFields(walk: Walk): View[] {
  const handles = (store.doc?.handles ?? []).map(({ name }) => ({ value: name, label: name }));
  const foot = (k: 0 | 1, side: string): View =>
    row(
      `${side} foot`,
      selectField(`walk-foot-${side.toLowerCase()}`, `${side} foot`, walk.feet[k], handles, (name) =>
        setWalk({ feet: k === 0 ? [name, walk.feet[1]] : [walk.feet[0], name] }),
      ),
    );
  const length = (key: 'stride' | 'lift', label: string, min: number): View =>
    row(
      `${label} ${store.prefs.units}`,
      lengthField({
        id: `walk-${key}`,
        label,
        value: walk[key] ?? usual(key),
        min,
        set: (value) => setWalk({ [key]: value }),
      }),
    );
  const number = (
    key: 'seconds' | 'stance',
    title: string,
    label: string,
    [min, max, step]: [number, number, number],
  ) =>
    row(
      title,
      numberField({
        id: `walk-${key}`,
        label,
        value: walk[key],
        min,
        max,
        step,
        set: (value) => setWalk({ [key]: value }),
      }),
    );
  return [
    h(
      'div.path-head',
      null,
      h('span.name', { 'data-testid': 'walk-points' }, counted(walk.line.length, 'point')),
      drawButton('walk-edit', 'walk'),
      iconButton('walk-remove', 'trash', 'Remove the walk', () => void setPaths({ walk: undefined })),
    ),
    foot(0, 'Left'),
    foot(1, 'Right'),
    length('stride', 'Stride', 0.001),
    number('seconds', 'Time s', 'Seconds per stride', [0.05, 60, 0.1]),
    length('lift', 'Lift', 0),
    number('stance', 'Stance', 'Share of the time a foot is planted', [0.2, 0.9, 0.05]),
  ];
}

function pathsSection(): View {
  const list = paths().paths ?? [];
  const { main } = store;
  const taken = list.some(({ handle }) => handle === main);
  const label =
    main === null ? 'Select a handle to add a path' : taken ? `${main} already has a path` : `Add path for ${main}`;
  return section(
    'Paths of handles',
    ...list.map(pathRow),
    button('path-add', label, () => void addPath(main!), { disabled: main === null || taken }),
  );
}

async function addPath(handle: string): Promise<void> {
  const start = store.handle(handle)?.middle;
  if (!start) return;
  const list = [...(paths().paths ?? []), { handle, points: [start], seconds: 2 }];
  if ((await setPaths({ paths: list })) !== undefined) drawOn(list.length - 1);
}

function pathRow(path: HandlePath, index: number): View {
  const { handle } = path;
  return h(
    'div.path-row',
    { key: handle, 'data-testid': `path-${handle}` },
    h(
      'div.path-head',
      null,
      h('span.name', null, handle),
      h('span.off', { 'data-testid': `path-points-${handle}` }, counted(path.points.length, 'point')),
      drawButton(`path-edit-${handle}`, index),
      iconButton(`path-remove-${handle}`, 'trash', 'Remove the path', () => removePath(index)),
    ),
    row(
      'Seconds',
      numberField({
        id: `path-seconds-${handle}`,
        label: `Seconds of ${handle}`,
        value: path.seconds ?? 2,
        min: 0.01,
        step: 0.1,
        set: (seconds) => setPath(index, { seconds, times: undefined }),
      }),
    ),
    h(
      'div.path-checks',
      null,
      checkbox(`path-pin-${handle}`, 'exact', path.pin ?? false, (pin) => setPath(index, { pin })),
      checkbox(`path-carries-${handle}`, 'carries the body', path.carries ?? false, (carries) =>
        setPath(index, { carries }),
      ),
    ),
  );
}

function keysSection(): View {
  const keys = paths().keyframes ?? { examples: [], seconds: 0.5 };
  const set = (change: Partial<typeof keys>): Promise<unknown> => {
    const now = { ...keys, ...change };
    return setPaths({ keyframes: now.examples.length > 0 ? now : undefined });
  };
  const remove = (i: number): Promise<unknown> => set({ examples: keys.examples.filter((_, k) => k !== i) });
  const names = (store.doc?.examples ?? []).map(({ name }) => ({ value: name, label: name }));
  const hint = { value: '', label: names.length > 0 ? 'Example…' : 'No examples' };
  return section(
    'Keyframes',
    h(
      'div.chips',
      { 'data-testid': 'keys' },
      ...keys.examples.map((name, i) =>
        h(
          'span.chip',
          { key: i, 'data-testid': `key-${i}` },
          name,
          iconButton(`key-remove-${i}`, 'close', 'Remove', () => void remove(i)),
        ),
      ),
    ),
    row(
      'Add',
      selectField('key-add', 'Add an example', '', [hint, ...names], (name) =>
        name === '' ? undefined : set({ examples: [...keys.examples, name] }),
      ),
    ),
    row(
      'Time s',
      numberField({
        id: 'key-seconds',
        label: 'Seconds between keyframes',
        value: keys.seconds,
        min: 0.01,
        max: 3600,
        step: 0.1,
        set: (seconds) => set({ seconds }),
      }),
    ),
  );
}
