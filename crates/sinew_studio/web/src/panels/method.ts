// How the soft surface follows: method and parameters.
import { ask, run, store } from '../app';
import type { Edit } from '../net/protocol';
import { h } from '../ui/dom';
import { numberField, row, selectField } from '../ui/fields';
import { section } from './section';

const METHOD_LABELS: Record<string, string> = {
  guided: 'Guided (fast, smooth)',
  arap: 'As rigid as possible',
  lipman: 'Laplacian (thesis)',
};

export function methodSection(): HTMLElement {
  const { doc, welcome } = store;
  if (!doc) return section('Method');
  const { edit } = doc;
  const set = (change: Partial<Edit>): void => void run({ set_edit: change });
  const choices = (values: string[] | undefined, current: string): { value: string; label: string }[] =>
    (values ?? [current]).map((value) => ({ value, label: METHOD_LABELS[value] ?? value.replace(/[-_]/g, ' ') }));
  const number = (
    key: 'band' | 'n_nodes' | 'iterations' | 'arap_iterations' | 'smoothness' | 'inside',
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
      number('inside', 'Inside', 0, 10, 0.1),
    );
  } else if (edit.method === 'arap') parts.push(number('arap_iterations', 'Iterations', 1, 200, 1));
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
