// The flesh panel: elastic flesh at the press of a button, what it is made of, stiffness by brush, joints by hand, and bakes.
import { ask, run, store } from '../app';
import {
  anglesOf,
  changeFlesh,
  flesh,
  fleshing,
  freeClipName,
  isLive,
  isUnbound,
  jointOf,
  joints,
  setFlesh,
  setLive,
  stiffness,
  turnTo,
} from '../fleshing';
import type { FleshBaked, Vec3 } from '../net/protocol';
import type { Player } from '../player';
import { formatCount, h, whenChanged } from '../ui/dom';
import { AXES, checkbox, iconButton, lengthField, numberField, row, segments, selectField, slider } from '../ui/fields';
import { icon } from '../ui/icons';
import { toast } from '../ui/toast';
import { section } from './section';

const STAND = ' stand';
/** Directions of gravity by name. */
const WAYS: Record<string, Vec3> = {
  down: [0, -1, 0],
  up: [0, 1, 0],
  left: [-1, 0, 0],
  right: [1, 0, 0],
  forward: [0, 0, 1],
  back: [0, 0, -1],
};

export function buildFlesh(player: Player): HTMLElement {
  const element = h('div.properties.flesh', { 'data-testid': 'flesh' });
  const slots = Array.from({ length: 6 }, () => h('div'));
  element.append(...slots);
  const running = runningSlot(slots[0]);
  const feel = new Feel();
  slots[1].append(feel.element);
  const showSolid = whenChanged(() => slots[2].replaceChildren(solids()));
  const showPaint = whenChanged(() => slots[3].replaceChildren(painting()));
  const showJoints = whenChanged(() => slots[4].replaceChildren(jointSection()));
  const wish = { clip: STAND, to: '', fps: 30, seconds: 2 };
  const showBake = whenChanged(() => slots[5].replaceChildren(baking(player, wish, () => show())));
  const show = (): void => {
    const { doc } = store;
    const data = flesh();
    if (!doc || !data) return;
    running();
    feel.show();
    const { floor, friction, colliders } = data.settings;
    showSolid([floor, friction, colliders, store.prefs.units]);
    showPaint([data.painted, fleshing.colours]);
    showJoints([data.sites, data.joints.map(({ name, turn }) => [name, turn]), data.own_skeleton, data.bound, data.turned, data.moved, fleshing.joint, fleshing.mode]);
    showBake([doc.clips.map(({ name }) => name), wish.clip, doc.document]);
  };
  store.on('doc', show);
  store.on('fleshed', running);
  fleshing.on('change', show);
  store.on('opened', () => {
    Object.assign(wish, { clip: STAND, to: '', fps: 30, seconds: 2 });
    show();
  });
  show();
  return element;
}

/** The button, and how it goes. Kept while it runs: a button that is made anew while pressed is not pressed. */
function runningSlot(slot: HTMLElement): () => void {
  const label = h('span');
  const start = h('button.primary', { type: 'button', 'data-testid': 'flesh-live', onclick: () => setLive(!isLive()) }, icon('flesh'), label);
  const pause = iconButton('flesh-pause', 'pause', 'Hold it still, or let it go on', () =>
    void ask({ type: 'flesh_pause', on: !store.doc?.fleshed?.paused }),
  );
  const reset = iconButton('flesh-reset', 'reset', 'Begin anew, at rest', () => void ask({ type: 'flesh_reset' }));
  const note = h('p.note', { 'data-testid': 'flesh-note', role: 'status' });
  const cells = h('input', { type: 'checkbox', 'data-testid': 'flesh-cells' });
  cells.addEventListener('change', () => void ask({ type: 'flesh_cells', on: cells.checked }));
  const show = h('label.check', null, cells, 'show its cells');
  slot.append(h('div.run', null, h('div.actions', null, start, pause, reset), note, show));
  return () => {
    const { fleshed, cells: shown } = store.doc ?? {};
    const on = fleshed?.on ?? false;
    label.textContent = on ? 'Stop' : 'Flesh';
    start.setAttribute('aria-pressed', String(on));
    pause.disabled = reset.disabled = !on;
    pause.setAttribute('aria-pressed', String(fleshed?.paused ?? false));
    cells.checked = shown ?? false;
    note.textContent = says(fleshed);
    note.classList.toggle('stale', Boolean(fleshed?.fault));
  };
}

function says(fleshed: NonNullable<typeof store.doc>['fleshed'] | undefined): string {
  if (fleshed?.fault) return fleshed.fault;
  if (!fleshed?.on) return 'Fills the body with elastic cells that hang on its bones. Play a clip, or take hold of it with the flesh tool.';
  const { status } = fleshed;
  if (!status) return 'Filling the body with cells…';
  const parts = [`${formatCount(status.cells)} cells, ${status.step_ms.toFixed(1)} ms a step`];
  if (status.speed < 0.9) parts.push(`slow motion: ${(100 * status.speed).toFixed(0)} % of real time; fewer cells are faster`);
  if (status.n_uncovered > 0)
    parts.push(`${formatCount(status.n_uncovered)} vertices lie in no cell and follow the nearest (red dots with “show its cells”); more cells may reach them`);
  if (status.unsolved > 0) parts.push(`${formatCount(status.unsolved)} steps were not solved exactly`);
  return `${parts.join('. ')}.`;
}

interface Knob {
  row: HTMLElement;
  sync(): void;
}

/** A slider that follows the document, but not while a hand has it. */
function knob(id: string, label: string, [min, max, step]: Vec3, tip: string, get: () => number, text: () => string, set: (value: number) => void): Knob {
  const out = h('output.number', { 'data-testid': `${id}-value` });
  const input = slider({ id, label, value: get(), min, max, step, tip, set });
  const sync = (): void => {
    out.textContent = text();
    if (input.matches(':active')) return;
    input.value = String(get());
    input.style.setProperty('--share', String((input.valueAsNumber - min) / (max - min)));
  };
  return { row: row(label, input, out), sync };
}

/** What flesh is made of; it changes while it runs. */
class Feel {
  readonly element: HTMLElement;
  private readonly knobs: Knob[];
  private readonly showRest: (value: unknown) => void;

  constructor() {
    const settings = () => flesh()?.settings;
    const size = (): number => Math.hypot(...(settings()?.gravity ?? [0, -9.81, 0]));
    this.knobs = [
      knob('flesh-stiffness', 'Stiffness', [-2, 1.5, 0.05], 'Soft to the left, firm to the right; changes while it runs',
        () => Math.log10(stiffness() / (flesh()?.usual_stiffness ?? 3e4)),
        () => pascals(stiffness()),
        (value) => setFlesh({ stiffness: (flesh()?.usual_stiffness ?? 3e4) * 10 ** value })),
      knob('flesh-damping', 'Damping', [0, 0.1, 0.005], 'How soon it comes to rest',
        () => settings()?.damping ?? 0.01,
        () => `${Math.round(1000 * (settings()?.damping ?? 0.01))} ms`,
        (damping) => setFlesh({ damping })),
      knob('flesh-gravity', 'Gravity', [0, 30, 0.1], 'Metres a second squared; 9.8 on earth',
        size,
        () => `${size().toFixed(1)} m/s²`,
        (value) => setFlesh({ gravity: way().map((x) => x * value) as Vec3 })),
    ];
    const rest = h('div.stack.bare');
    this.showRest = whenChanged(() => rest.replaceChildren(...more()));
    this.element = section('Made of', ...this.knobs.map(({ row }) => row), rest);
  }

  show(): void {
    for (const { sync } of this.knobs) sync();
    const { settings, modes } = flesh()!;
    this.showRest([wayName(), settings.mode, settings.cells, settings.poisson, settings.bone_radius, modes]);
  }
}

const pascals = (value: number): string => (value >= 1e6 ? `${(value / 1e6).toPrecision(2)} MPa` : `${Number((value / 1e3).toPrecision(2))} kPa`);

/** Direction of gravity; down while there is none. */
function way(): Vec3 {
  const g = flesh()?.settings.gravity ?? [0, -9.81, 0];
  const size = Math.hypot(...g);
  return size > 0 ? (g.map((x) => x / size) as Vec3) : WAYS[lastWay];
}

let lastWay = 'down';

function wayName(): string {
  const [x, y, z] = way();
  const found = Object.entries(WAYS).find(([, [a, b, c]]) => a * x + b * y + c * z > 0.999);
  return found?.[0] ?? 'other';
}

function more(): Node[] {
  const { settings, modes } = flesh()!;
  const ways = Object.keys(WAYS).map((value) => ({ value, label: value }));
  const name = wayName();
  if (name === 'other') ways.push({ value: 'other', label: 'another way' });
  return [
    row(
      'Pulls',
      selectField('flesh-way', 'Direction of gravity', name, ways, (value) => {
        if (!WAYS[value]) return;
        lastWay = value;
        const size = Math.hypot(...settings.gravity) || 9.81;
        setFlesh({ gravity: WAYS[value].map((x) => x * size) as Vec3 });
      }),
    ),
    row(
      'Cells',
      numberField({ id: 'flesh-n-cells', label: 'About how many cells', value: settings.cells, min: 50, max: 20000, step: 50, set: (cells) => setFlesh({ cells: Math.round(cells) }) }),
      h('span.dim', null, 'about'),
    ),
    row(
      'Strain',
      selectField('flesh-mode', 'How strain is measured', settings.mode, modes.map((value) => ({ value, label: value })), (mode) => setFlesh({ mode })),
    ),
    row(
      'Bones',
      numberField({ id: 'flesh-bones', label: 'Thickness of bones, as a share of the way to the surface', value: settings.bone_radius, min: 0, max: 0.9, step: 0.05, set: (bone_radius) => setFlesh({ bone_radius }) }),
      h('span.dim', null, 'of the depth'),
    ),
    h('div.actions', null, h('button', { type: 'button', 'data-testid': 'flesh-defaults', onclick: () => setFlesh({ ...DEFAULTS }) }, 'Defaults')),
  ];
}

const DEFAULTS = { cells: 1000, stiffness: null, poisson: 0.45, density: 1000, damping: 0.01, mode: 'predicted', bone_radius: 0.4, gravity: [0, -9.81, 0] as Vec3 };

function solids(): HTMLElement {
  const { settings } = flesh()!;
  const { floor, friction, colliders } = settings;
  const low = store.doc?.bounds[0][1] ?? 0;
  const balls = colliders.flatMap((collider, i) => ('ball' in collider ? [{ ...collider.ball, i }] : []));
  const without = (i: number): typeof colliders => colliders.filter((_, k) => k !== i);
  const put = (i: number, ball: { center: Vec3; radius: number }): void => setFlesh({ colliders: colliders.map((old, k) => (k === i ? { ball } : old)) });
  const parts: Node[] = [
    row(
      'Floor',
      checkbox('flesh-floor', 'at', floor !== null, (on) => setFlesh({ floor: on ? low : null })),
      lengthField({ id: 'flesh-floor-height', label: 'Height of the floor', value: floor ?? low, step: 0.01, set: (height) => setFlesh({ floor: height }) }),
      h('span.dim', null, store.prefs.units),
    ),
    row('Friction', numberField({ id: 'flesh-friction', label: 'Friction', value: friction, min: 0, max: 10, step: 0.1, set: (value) => setFlesh({ friction: value }) })),
    ...balls.map(({ center, radius, i }) =>
      h(
        'div.ball',
        { 'data-testid': `flesh-ball-${i}` },
        h('span', null, 'Ball'),
        ...AXES.map(([k, axis]) =>
          lengthField({ id: `flesh-ball-${i}-${axis}`, label: `${axis} of the ball`, value: center[k], step: 0.01, set: (value) => put(i, { center: center.map((x, j) => (j === k ? value : x)) as Vec3, radius }) }),
        ),
        lengthField({ id: `flesh-ball-${i}-r`, label: 'Radius of the ball', value: radius, min: 1e-4, step: 0.01, set: (value) => put(i, { center, radius: value }) }),
        iconButton(`flesh-ball-${i}-remove`, 'trash', 'Take the ball away', () => setFlesh({ colliders: without(i) })),
      ),
    ),
    h(
      'div.actions',
      null,
      h('button', { type: 'button', 'data-testid': 'flesh-add-ball', 'data-tip': 'A solid ball in front of the body; x, y, z and radius are beside it', onclick: () => setFlesh({ colliders: [...colliders, newBall()] }) }, icon('plus'), 'Ball'),
    ),
  ];
  return section('In its way', ...parts);
}

/** In front of the middle, touching. */
function newBall(): { ball: { center: Vec3; radius: number } } {
  const [low, high] = store.doc!.bounds;
  const size = Math.max(...high.map((x, k) => x - low[k]));
  const radius = 0.08 * size;
  return { ball: { center: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, high[2] + 0.5 * radius], radius } };
}

function painting(): HTMLElement {
  const { painted } = flesh()!;
  return section(
    'Stiffness by brush',
    h(
      'div.actions',
      null,
      h('button', { type: 'button', 'data-testid': 'flesh-paint', onclick: () => { fleshing.set({ colours: true }); store.setTool('stiffen'); } }, icon('stiffen'), 'Paint'),
      h('button', { type: 'button', disabled: !painted, 'data-testid': 'flesh-clear-paint', onclick: () => void changeFlesh({ clear_paint: {} }) }, 'Clear'),
    ),
    h('div.actions', null, checkbox('flesh-colours', 'show as colours', fleshing.colours, (on) => fleshing.set({ colours: on }))),
    h('p.note', null, 'Blue is softer, red is stiffer. How much is chosen above the picture; Ctrl takes paint away.'),
  );
}

function jointSection(): HTMLElement {
  const data = flesh()!;
  const parts: Node[] = [];
  if (data.own_skeleton) parts.push(h('p.note', { 'data-testid': 'flesh-own' }, 'The character has a skeleton. Turn its joints with the joint tool or by numbers; the flesh follows.'));
  else if (data.sites.length === 0) parts.push(h('p.note', { 'data-testid': 'flesh-no-joints' }, 'Without a skeleton the body stands on the ground by itself. Take the joint tool and click on the surface: a joint is put half-way through the body; the next one hangs on it.'));
  const turn = { value: 'turn' as const, label: 'Turn', tip: 'Drag a joint to turn the bone above it' };
  const put = { value: 'put' as const, label: 'Put', tip: 'Click to put a joint, drag to move it' };
  parts.push(
    h(
      'div.actions',
      null,
      h('button', { type: 'button', 'data-testid': 'flesh-joint-tool', onclick: () => store.setTool('joint') }, icon('joint'), 'Joint tool'),
      data.bound && !data.own_skeleton ? segments('flesh-joint-mode', 'Joints are', fleshing.mode, [put, turn], (mode) => fleshing.set({ mode })) : null as never,
    ),
  );
  if (!data.own_skeleton && !fleshing.turns) parts.push(...data.sites.map(({ name, parent, position }) => siteRow(name, parent ?? null, position)));
  if (!data.own_skeleton && data.sites.length > 0)
    parts.push(
      h(
        'div.actions',
        null,
        h('button', { type: 'button', class: isUnbound() ? 'primary' : '', disabled: !isUnbound(), 'data-testid': 'flesh-bind', 'data-tip': 'Bones between the joints, and weights of the surface', onclick: () => void bind() }, icon('bones'), data.bound ? 'Make skeleton again' : 'Make skeleton'),
      ),
    );
  if (fleshing.turns && data.joints.length > 0) parts.push(...turning());
  return section('Joints', ...parts);
}

async function bind(): Promise<void> {
  if ((await run({ bind_joints: {} })) !== undefined) fleshing.set({ mode: 'turn' });
}

function siteRow(name: string, parent: string | null, position: Vec3): HTMLElement {
  const others = flesh()!.sites.filter((site) => site.name !== name);
  const choices = [{ value: '', label: 'root' }, ...others.map((site) => ({ value: site.name, label: site.name }))];
  return h(
    'div.site',
    { 'data-testid': `site-${name}`, 'aria-current': fleshing.joint === name ? 'true' : null },
    h('button.name', { type: 'button', onclick: () => fleshing.set({ joint: name }) }, name),
    h('span.dim', null, 'on'),
    selectField(`site-${name}-parent`, `What ${name} hangs on`, parent ?? '', choices, (value) => void changeFlesh({ joint: { joint: { name, parent: value === '' ? null : value, position } } })),
    iconButton(`site-${name}-remove`, 'trash', 'Remove the joint', () => void changeFlesh({ remove_joint: { name } })),
  );
}

function turning(): Node[] {
  const all = joints();
  const joint = jointOf(fleshing.joint) ?? all[0];
  const angles = anglesOf(joint);
  const field = (k: 0 | 1 | 2, axis: string): HTMLInputElement =>
    numberField({ id: `flesh-turn-${axis}`, label: `Degrees about ${axis}`, value: angles[k], min: -180, max: 180, step: 5, digits: 1, set: (value) => turnTo(joint.name, angles.map((old, j) => (j === k ? value : old)) as Vec3) });
  return [
    row('Joint', selectField('flesh-joint', 'Joint', joint.name, all.map(({ name }) => ({ value: name, label: name })), (name) => fleshing.set({ joint: name }))),
    row('Turned', ...AXES.map(([k, axis]) => field(k, axis)), h('span.dim', null, '°')),
    h(
      'div.actions',
      null,
      h('button', { type: 'button', disabled: !flesh()!.turned, 'data-testid': 'flesh-reset-turns', onclick: () => void changeFlesh({ reset_turns: {} }) }, 'Reset pose'),
      h('button', { type: 'button', 'data-testid': 'flesh-keep-turns', 'data-tip': 'The pose of the joints as a clip of one frame', onclick: () => void run({ keep_turns: { clip: freeClipName('pose') } }) }, 'Keep as clip'),
    ),
  ];
}

interface BakeWish {
  clip: string;
  to: string;
  fps: number;
  seconds: number;
}

function baking(player: Player, wish: BakeWish, changed: () => void): HTMLElement {
  const clips = store.doc?.clips ?? [];
  if (wish.clip !== STAND && !clips.some(({ name }) => name === wish.clip)) wish.clip = STAND;
  const clip = clips.find(({ name }) => name === wish.clip);
  const name = h('input', { type: 'text', value: wish.to || freeClipName(clip ? `${clip.name} flesh` : 'flesh'), 'aria-label': 'Name of the clip', 'data-testid': 'flesh-bake-name' });
  name.addEventListener('change', () => {
    wish.to = name.value;
  });
  const bake = async (): Promise<void> => {
    const made = await ask<FleshBaked>({
      type: 'do',
      command: { bake_flesh: { bake: { clip: clip?.name ?? null, to: name.value, fps: wish.fps, seconds: clip ? null : wish.seconds } } },
    });
    if (!made) return;
    wish.to = '';
    player.choose(name.value);
    const told = made.warnings.length > 0 ? ` ${made.warnings.join('. ')}.` : '';
    toast('info', `${made.frames} frames in ${made.seconds.toFixed(1)} s, ${formatCount(made.steps)} steps of ${formatCount(made.cells)} cells.${told}`);
  };
  const parts: Node[] = [
    row(
      'Follows',
      selectField('flesh-bake-clip', 'What the bones do', wish.clip, [{ value: STAND, label: 'no clip: it stands' }, ...clips.map((c) => ({ value: c.name, label: c.name }))], (value) => {
        wish.clip = value;
        wish.to = '';
        changed();
      }),
    ),
    row('Name', name),
    row(
      'Frames',
      numberField({ id: 'flesh-bake-fps', label: 'Frames a second', value: wish.fps, min: 1, max: 240, step: 1, set: (fps) => { wish.fps = fps; } }),
      h('span.dim', null, 'a second'),
    ),
  ];
  if (!clip) parts.push(row('Seconds', numberField({ id: 'flesh-bake-seconds', label: 'Seconds', value: wish.seconds, min: 0.1, max: 600, step: 0.5, set: (seconds) => { wish.seconds = seconds; } })));
  parts.push(
    h('div.actions', null, h('button.primary', { type: 'button', 'data-testid': 'flesh-bake', onclick: () => void bake() }, icon('play'), 'Bake')),
    h('p.note', null, 'A clip of vertices on the timeline. Exports as shapes, or as a small skin through fit.'),
  );
  return section('Bake', ...parts);
}
