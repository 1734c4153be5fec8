// How the soft surface follows: method and parameters.
import { ask, run, store } from '../../app';
import type { Edit } from '../../net/protocol';
import { type Choice, checkbox, numberField, row, selectField } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';

const METHOD_LABELS: Record<string, string> = {
  guided: 'Guided (fast, smooth)',
  arap: 'As rigid as possible',
  lipman: 'Laplacian (Hansen 2006)',
  skin: 'Skin (bones and weights, as exported)',
};

type NumberKey = 'band' | 'n_nodes' | 'iterations' | 'arap_iterations' | 'fine_iterations' | 'inside';
type ChoiceKey = 'method' | 'laplacian' | 'frames';

const set = (change: Partial<Edit>): Promise<unknown> => run({ set_edit: change });

function number(edit: Edit, key: NumberKey, label: string, [min, max, step]: [number, number, number]): View {
  const change = (value: number): Promise<unknown> => set({ [key]: value });
  return row(label, numberField({ id: `edit-${key}`, label, value: edit[key], min, max, step, set: change }));
}

function choice(edit: Edit, key: ChoiceKey, label: string, values: string[] | undefined): View {
  const named = (value: string): Choice => ({ value, label: METHOD_LABELS[value] ?? value.replace(/[-_]/g, ' ') });
  const choices = (values ?? [edit[key]]).map(named);
  return row(
    label,
    selectField(`edit-${key}`, label, edit[key], choices, (value) => set({ [key]: value })),
  );
}

function parameters(edit: Edit): View[] {
  const { welcome } = store;
  if (edit.method === 'guided')
    return [
      number(edit, 'n_nodes', 'Nodes', [50, 20000, 50]),
      number(edit, 'iterations', 'Iterations', [1, 100, 1]),
      number(edit, 'fine_iterations', 'Fine iterations', [0, 20, 1]),
      number(edit, 'inside', 'Inside', [0, 10, 0.1]),
    ];
  if (edit.method === 'arap') return [number(edit, 'arap_iterations', 'Iterations', [1, 200, 1])];
  if (edit.method !== 'lipman') return [];
  return [
    choice(edit, 'laplacian', 'Laplacian', welcome?.laplacians),
    choice(edit, 'frames', 'Frames', welcome?.frames),
    number(edit, 'band', 'Band (rings)', [1, 10, 1]),
  ];
}

export function methodSection(): View {
  const { doc, welcome } = store;
  if (!doc) return section('Method');
  const { edit } = doc;
  return section(
    'Method',
    choice(edit, 'method', 'Method', welcome?.methods),
    ...parameters(edit),
    edit.method !== 'skin' &&
      row(
        'Refine',
        checkbox('edit-refine', 'while idle', doc.refine, (on) => ask({ type: 'refine', on })),
      ),
    row('Prepared in', h('span', null, `${doc.prepare_ms.toFixed(0)} ms`)),
  );
}
