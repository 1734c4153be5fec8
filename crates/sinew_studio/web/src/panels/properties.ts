// Properties: the main handle, moving by numbers, the edit method, the document.
import { Vector3 } from 'three';
import { action, perform } from '../actions';
import { ask, run, store } from '../app';
import { renameHandle, reshape } from '../commands/handles';
import type { Edit, Vec3 } from '../net/protocol';
import { PoseGesture } from '../tools/gesture';
import { formatCount, h, whenChanged } from '../ui/dom';
import { lengthField, numberField, row, selectField, slider } from '../ui/fields';
import { confirmLoss } from '../ui/dialog';

type Axis = 0 | 1 | 2;
const AXES: [Axis, string][] = [
  [0, 'X'],
  [1, 'Y'],
  [2, 'Z'],
];

const open = new Map<string, boolean>([['Move by numbers', false]]);

function section(title: string, ...content: Node[]): HTMLElement {
  const details = h(
    'details',
    { open: open.get(title) ?? true, 'data-testid': `section-${title.toLowerCase().replace(/ /g, '-')}` },
    h('summary', null, title),
    h('div.stack', null, ...content),
  );
  details.addEventListener('toggle', () => open.set(title, details.open));
  return details;
}

const button = (id: string, label = action(id).label): HTMLButtonElement =>
  h('button', { type: 'button', 'data-testid': `prop-${id}`, onclick: () => perform(id) }, label);

function handleSection(): HTMLElement {
  const handle = store.handle(store.main);
  if (!handle)
    return section(
      'Handle',
      h('p.note', null, 'Click a handle on the surface or in the list. Shift-click adds others that move along.'),
    );
  const name = h('input', { type: 'text', value: handle.name, 'aria-label': 'Name', 'data-testid': 'prop-name' });
  name.addEventListener('change', () => void renameHandle(handle.name, name.value.trim()));
  const centre = AXES.map(([i, axis]) =>
    lengthField({
      id: `prop-centre-${axis.toLowerCase()}`,
      label: `Centre ${axis}`,
      value: handle.center[i],
      set: (value) => {
        const center: Vec3 = [...handle.center];
        center[i] = value;
        void run({ set_center: { name: handle.name, center } });
      },
    }),
  );
  const weight = h('output', null, '1.00');
  return section(
    'Handle',
    row('Name', name),
    row(
      'Vertices',
      h('span', null, formatCount(handle.vertices)),
      button('handle-shrink', '−'),
      button('handle-grow', '+'),
    ),
    row('Centre', ...centre),
    row('', button('handle-centre')),
    row(
      'Weight of all',
      slider({
        id: 'prop-weight',
        label: 'Weight of all its vertices',
        min: 0,
        max: 1,
        step: 0.05,
        value: 1,
        set: (value) => {
          weight.textContent = value.toFixed(2);
        },
      }),
      weight,
      h(
        'button',
        {
          type: 'button',
          'data-testid': 'prop-weight-set',
          onclick: () => reshape({ grow: 0 }, Number(weight.textContent)),
        },
        'Set',
      ),
    ),
    row(
      'Takes along',
      h(
        'span',
        { 'data-testid': 'prop-secondary' },
        handle.secondary.length === 0 ? 'none' : `${handle.secondary.length}`,
      ),
      button('handle-store', 'Store selected'),
    ),
  );
}

/** One step of history from typed numbers. */
function moveSection(): HTMLElement {
  const values = { rotate: new Vector3(), translate: new Vector3() };
  const fields = (kind: 'rotate' | 'translate'): HTMLInputElement[] =>
    AXES.map(([i, axis]) =>
      (kind === 'rotate' ? numberField : lengthField)({
        id: `prop-${kind}-${axis.toLowerCase()}`,
        label: `${kind} ${axis}`,
        value: 0,
        set: (value) => {
          values[kind].setComponent(i, value);
        },
      }),
    );
  const apply = (kind: 'rotate' | 'translate'): void => {
    if (store.main === null) return;
    const gesture = new PoseGesture(store.main, store.selected());
    const size = values[kind].length();
    if (size === 0) return;
    if (kind === 'rotate') gesture.rotate(values.rotate.clone().divideScalar(size).toArray(), size, performance.now());
    else gesture.translate(values.translate.toArray(), performance.now());
    gesture.end();
  };
  const go = (kind: 'rotate' | 'translate'): HTMLButtonElement =>
    h(
      'button',
      {
        type: 'button',
        disabled: store.main === null,
        'data-testid': `prop-${kind}-apply`,
        onclick: () => apply(kind),
      },
      'Apply',
    );
  return section(
    'Move by numbers',
    row('Turn °', ...fields('rotate')),
    row('', go('rotate')),
    row(`Move ${store.prefs.units}`, ...fields('translate')),
    row('', go('translate')),
  );
}

const METHOD_LABELS: Record<string, string> = {
  guided: 'Guided (fast, smooth)',
  arap: 'As rigid as possible',
  lipman: 'Laplacian (thesis)',
};

function methodSection(): HTMLElement {
  const { doc, welcome } = store;
  if (!doc) return section('Method');
  const { edit } = doc;
  const set = (change: Partial<Edit>): void => void run({ set_edit: change });
  const choices = (values: string[] | undefined, current: string): { value: string; label: string }[] =>
    (values ?? [current]).map((value) => ({ value, label: METHOD_LABELS[value] ?? value.replace(/[-_]/g, ' ') }));
  const number = (
    key: 'band' | 'n_nodes' | 'iterations' | 'smoothness' | 'inside',
    label: string,
    min: number,
    max: number,
    step: number,
  ): HTMLElement =>
    row(
      label,
      numberField({
        id: `edit-${key}`,
        label,
        value: edit[key],
        min,
        max,
        step,
        set: (value) => set({ [key]: value }),
      }),
    );
  const parts: Node[] = [
    row(
      'Method',
      selectField('edit-method', 'Method', edit.method, choices(welcome?.methods, edit.method), (method) =>
        set({ method }),
      ),
    ),
  ];
  if (edit.method === 'guided') {
    parts.push(
      number('n_nodes', 'Nodes', 50, 20000, 50),
      number('iterations', 'Iterations', 1, 100, 1),
      number('smoothness', 'Smoothness', 0, 100, 0.5),
      number('inside', 'Stiffness inside', 0, 10, 0.1),
    );
  } else if (edit.method === 'arap') parts.push(number('iterations', 'Iterations', 1, 200, 1));
  else if (edit.method === 'lipman') {
    parts.push(
      row(
        'Laplacian',
        selectField(
          'edit-laplacian',
          'Laplacian',
          edit.laplacian,
          choices(welcome?.laplacians, edit.laplacian),
          (laplacian) => set({ laplacian }),
        ),
      ),
      row(
        'Frames',
        selectField('edit-frames', 'Frames', edit.frames, choices(welcome?.frames, edit.frames), (frames) =>
          set({ frames }),
        ),
      ),
      number('band', 'Band (rings)', 1, 10, 1),
    );
  }
  const refine = h('input', { type: 'checkbox', checked: doc.refine, 'data-testid': 'edit-refine' });
  refine.addEventListener('change', () => void ask({ type: 'refine', on: refine.checked }));
  parts.push(
    row('Polish', h('label.check', null, refine, 'while idle')),
    row('Prepared in', h('span', null, `${doc.prepare_ms.toFixed(0)} ms`)),
  );
  return section('Method', ...parts);
}

function documentSection(): HTMLElement {
  const { doc } = store;
  if (!doc) return section('Document');
  const unit = store.prefs.units === 'cm' ? 100 : 1;
  const size = doc.bounds[1].map((high, i) => ((high - doc.bounds[0][i]) * unit).toFixed(unit === 1 ? 2 : 0));
  let factor = 1;
  return section(
    'Document',
    row('Size', h('span', { 'data-testid': 'doc-size' }, `${size.join(' × ')} ${store.prefs.units}`)),
    row(
      'Scale by',
      numberField({
        id: 'doc-scale',
        label: 'Scale by',
        value: 1,
        min: 1e-6,
        max: 1e6,
        digits: 6,
        set: (value) => {
          factor = value;
        },
      }),
      h(
        'button',
        {
          type: 'button',
          'data-testid': 'doc-scale-apply',
          onclick: () => {
            if (factor !== 1) void run({ scale: { factor } });
          },
        },
        'Apply',
      ),
    ),
    row('Joints', h('span', null, String(doc.joints))),
    row(
      'Mesh',
      h(
        'button',
        {
          type: 'button',
          'data-testid': 'doc-repair',
          onclick: () =>
            confirmLoss(
              'Repair the mesh',
              'Joins doubled vertices, turns faces round and closes what is torn. Vertices may get new numbers. Undo brings it back.',
              'Repair',
              () => void run({ repair: {} }),
            ),
        },
        'Repair…',
      ),
    ),
    ...doc.warnings.map((text) => h('p.warning-line', { 'data-testid': 'doc-warning' }, text)),
  );
}

export function buildProperties(): HTMLElement {
  const element = h('div.properties', { 'data-testid': 'properties' });
  const slot = (build: () => HTMLElement): ((key: unknown) => void) => {
    const place = h('div');
    element.append(place);
    return whenChanged(() => place.replaceChildren(build()));
  };
  const showHandle = slot(handleSection);
  const showMove = slot(moveSection);
  const showMethod = slot(methodSection);
  const showDocument = slot(documentSection);
  const show = (): void => {
    const { doc, prefs } = store;
    showHandle([store.handle(store.main), prefs.units]);
    showMove([store.main === null, prefs.units]);
    showMethod([doc?.edit, doc?.refine, doc?.prepare_ms, store.welcome]);
    showDocument([doc?.bounds, doc?.joints, doc?.warnings, prefs.units]);
  };
  for (const topic of ['doc', 'selection', 'prefs', 'welcome'] as const) store.on(topic, show);
  show();
  return element;
}
