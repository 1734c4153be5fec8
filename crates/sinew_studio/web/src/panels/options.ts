// The strip above the picture: options of the tool at its left, the look at its right.
import { action, firstKeys, perform } from '../actions';
import { run, store } from '../app';
import { sculptExample } from '../commands/examples';
import { setLook } from '../commands/view';
import type { PaintOp } from '../net/protocol';
import { clampBrush } from '../tools/manager';
import { h, whenChanged } from '../ui/dom';
import { iconButton, segments, selectField, slider, type Segment } from '../ui/fields';
import type { IconName } from '../ui/icons';
import type { Look, ToolId } from '../store';

const labelled = (label: string, ...nodes: Node[]): HTMLElement =>
  h('label.inline', null, h('span', null, label), ...nodes);

function weight(): HTMLElement {
  const number = h('output', null, store.options.weight.toFixed(2));
  return labelled(
    'Weight',
    slider({
      id: 'option-weight',
      label: 'Weight',
      min: 0.05,
      max: 1,
      step: 0.05,
      value: store.options.weight,
      tip: '1 is rigid, less gives way',
      set: (value) => {
        store.options.weight = value;
        number.textContent = value.toFixed(2);
      },
    }),
    number,
  );
}

function brush(): HTMLElement[] {
  const number = h('output', null, `${store.options.brushPx} px`);
  return [
    labelled(
      'Size',
      slider({
        id: 'option-size',
        label: 'Brush size',
        min: 2,
        max: 150,
        step: 1,
        value: Math.min(150, store.options.brushPx),
        tip: 'Size of the brush: [ and ], or F and move',
        set: (value) => {
          store.options.brushPx = clampBrush(value);
          number.textContent = `${value} px`;
        },
      }),
      number,
    ),
  ];
}

function strength(): HTMLElement {
  return labelled(
    'Strength',
    slider({
      id: 'option-strength',
      label: 'Strength',
      min: 0.05,
      max: 1,
      step: 0.05,
      value: store.options.sculptStrength,
      set: (value) => {
        store.options.sculptStrength = value;
      },
    }),
  );
}

/** How much stiffer, on a scale of powers. */
function stiffness(): HTMLElement {
  const text = (): string => `× ${Number(store.options.stiffFactor.toPrecision(2))}`;
  const number = h('output', null, text());
  return labelled(
    'Stiffness',
    slider({
      id: 'option-stiffness',
      label: 'Factor of stiffness',
      min: -1.5,
      max: 1.5,
      step: 0.05,
      value: Math.log10(store.options.stiffFactor),
      tip: 'Left softer, right stiffer; in the middle it takes paint away',
      set: (value) => {
        store.options.stiffFactor = 10 ** value;
        number.textContent = text();
      },
    }),
    number,
  );
}

function operation(): HTMLElement {
  const choices: Segment<PaintOp | 'new'>[] = [
    { value: 'new', label: 'New', tip: 'Make a new handle' },
    { value: 'add', label: 'Add', tip: 'Add to the main handle (Shift)' },
    { value: 'remove', label: 'Take', tip: 'Take away from the main handle (Ctrl)' },
    { value: 'replace', label: 'Set', tip: 'Replace what the main handle has' },
  ];
  return segments('option-op', 'What it does', store.options.op, choices, (op) => store.setOptions({ op }));
}

function optionsOf(tool: ToolId): Node[] {
  const { options } = store;
  const fresh = store.main === null || (options.op === 'new' && tool !== 'paint');
  const into = h('span.target', { 'data-testid': 'option-target' }, fresh ? '→ new handle' : `→ ${store.main}`);
  if (tool === 'box' || tool === 'lasso') {
    return [
      operation(),
      segments(
        'option-mode',
        'Which vertices',
        options.mode,
        [
          { value: 'facing', label: 'Facing', tip: 'Only what can be seen' },
          { value: 'all', label: 'Through', tip: 'All within, behind too' },
          { value: 'around', label: 'Around', tip: 'All the way round a limb, but nothing behind it' },
        ],
        (mode) => store.setOptions({ mode }),
      ),
      weight(),
      into,
    ];
  }
  if (tool === 'paint') {
    return [
      ...brush(),
      weight(),
      segments(
        'option-faces',
        'Brush',
        options.singleFaces ? 'faces' : 'round',
        [
          { value: 'round', label: 'Round' },
          { value: 'faces', label: 'Faces', tip: 'Single faces under the pointer' },
        ],
        (value) => store.setOptions({ singleFaces: value === 'faces' }),
      ),
      into,
    ];
  }
  if (tool === 'erase')
    return [...brush(), h('span.target', null, store.main === null ? 'select a handle first' : `from ${store.main}`)];
  if (tool === 'sculpt') {
    const examples = store.doc?.examples ?? [];
    return [
      segments(
        'option-sculpt',
        'What the brush does',
        options.sculptOp,
        [
          { value: 'pull', label: 'Pull', tip: 'Outwards (Ctrl: the other way)' },
          { value: 'push', label: 'Push', tip: 'Inwards (Ctrl: the other way)' },
          { value: 'smooth', label: 'Smooth', tip: 'Even out (Shift)' },
        ],
        (sculptOp) => store.setOptions({ sculptOp }),
      ),
      ...brush(),
      strength(),
      selectField(
        'option-example',
        'Which pose is sculpted',
        options.sculptExample ?? '',
        [{ value: '', label: 'this pose' }, ...examples.map(({ name }) => ({ value: name, label: name }))],
        (name) => void sculptExample(name === '' ? null : name),
      ),
      h(
        'button',
        {
          type: 'button',
          disabled: !store.doc?.detail,
          'data-testid': 'option-clear-detail',
          onclick: () => void run({ clear_detail: { example: options.sculptExample } }),
        },
        'Clear',
      ),
    ];
  }
  if (tool === 'flesh')
    return [
      segments(
        'option-flesh',
        'What the hand does',
        options.fleshOp,
        [
          { value: 'grab', label: 'Pull', tip: 'Take hold of the surface and drag (Shift: push)' },
          { value: 'push', label: 'Push', tip: 'A click pushes the surface away (Shift: pull)' },
        ],
        (fleshOp) => store.setOptions({ fleshOp }),
      ),
    ];
  if (tool === 'stiffen') return [stiffness(), ...brush(), strength()];
  if (tool === 'path') {
    const list = store.doc?.paths?.paths ?? [];
    return [
      labelled(
        'Draw',
        selectField(
          'option-path',
          'Which path is drawn',
          String(options.path),
          [{ value: 'walk', label: 'the walk' }, ...list.map(({ handle }, i) => ({ value: String(i), label: handle }))],
          (value) => store.setOptions({ path: value === 'walk' ? 'walk' : Number(value) }),
        ),
      ),
    ];
  }
  if (tool === 'twist') {
    return [
      segments(
        'option-twist',
        'Axis',
        options.twistAxis,
        [
          { value: 'limb', label: 'Limb', tip: 'From the rotation centre along the handle' },
          { value: 'x', label: 'X' },
          { value: 'y', label: 'Y' },
          { value: 'z', label: 'Z' },
        ],
        (twistAxis) => store.setOptions({ twistAxis }),
      ),
    ];
  }
  if (tool === 'rotate' || tool === 'translate') {
    return [
      segments(
        'option-space',
        'Axes',
        options.space,
        [
          { value: 'world', label: 'World' },
          { value: 'local', label: 'Local', tip: 'Axes of the handle as it is turned' },
        ],
        (space) => store.setOptions({ space }),
      ),
    ];
  }
  return [h('span.tool-name', null, action(`tool-${tool}`).label)];
}

const LOOKS: Segment<Look>[] = [
  { value: 'shaded', label: 'Shaded', icon: 'shaded', tip: 'Shaded' },
  { value: 'matcap', label: 'Matcap', icon: 'matcap', tip: 'Matcap' },
  { value: 'handles', label: 'Handles', icon: 'handles', tip: 'Handles as colours, strong where the weight is 1' },
  { value: 'textured', label: 'Textured', icon: 'textured', tip: 'Textured' },
  { value: 'stress', label: 'Stress', icon: 'stress', tip: 'Stress: blue where pressed, red where stretched' },
];

/** What else of the document the options of a tool show. */
function of(tool: ToolId): unknown {
  const { doc } = store;
  if (tool === 'sculpt') return [doc?.examples.map(({ name }) => name), doc?.detail];
  return tool === 'path' ? doc?.paths?.paths?.map(({ handle }) => handle) : null;
}

export function buildOptions(): HTMLElement {
  const left = h('div.options-left', { 'data-testid': 'tool-options' });
  const right = h('div.options-right', { 'data-testid': 'look-options' });
  const showLeft = whenChanged(() => left.replaceChildren(...optionsOf(store.tool)));
  // Sliders of the strip change brush and weight themselves, and must not be rebuilt under the pointer.
  const refresh = (): void => {
    if (!left.contains(document.activeElement) || !left.querySelector('input:active'))
      showLeft([store.tool, store.options, store.main, of(store.tool)]);
  };
  const toggle = (id: string, name: IconName): HTMLButtonElement => {
    const item = action(id);
    const button = iconButton(`toggle-${id}`, name, item.label, () => perform(id), firstKeys(item));
    button.setAttribute('aria-pressed', String(item.checked?.() ?? false));
    return button;
  };
  const showRight = whenChanged(() =>
    right.replaceChildren(
      segments('look', 'Look', store.look, LOOKS, setLook),
      toggle('wireframe', 'wire'),
      toggle('ghost', 'ghost'),
      toggle('grid', 'grid'),
      slider({
        id: 'xray',
        label: 'Transparency',
        min: 0.1,
        max: 1,
        step: 0.05,
        value: store.xray,
        tip: 'See through',
        set: (xray) => store.setView({ xray }),
      }),
    ),
  );
  const refreshRight = (): void => {
    if (!right.querySelector('input:active'))
      showRight([store.look, store.wireframe, store.ghost, store.grid, store.xray]);
  };
  store.on('tool', refresh);
  store.on('selection', refresh);
  store.on('doc', refresh);
  store.on('view', refreshRight);
  refresh();
  refreshRight();
  return h('div.options', null, left, right);
}
