// Automatic handles: how many, and from what.
import { ask, store } from '../../app';
import { openDialog } from '../../ui/dialog';
import { checkbox, row } from '../../ui/fields';
import { h } from '../../ui/view';

export function openAutoHandles(): void {
  const hasBones = (store.doc?.joints ?? 0) > 0;
  let count: number | undefined;
  let fromShape = !hasBones;
  openDialog(
    'auto',
    'Automatic handles',
    () => [
      h('p', null, 'Finds handles on the limbs. All existing handles are replaced; undo restores them.'),
      row(
        'Number of handles',
        h('input', {
          type: 'number',
          min: 2,
          max: 1000,
          placeholder: 'from the shape',
          'aria-label': 'Number of handles',
          'data-testid': 'auto-count',
          oninput: ({ currentTarget }: Event) => {
            const { valueAsNumber } = currentTarget as HTMLInputElement;
            count = Number.isFinite(valueAsNumber) ? valueAsNumber : undefined;
          },
        }),
      ),
      hasBones &&
        row(
          '',
          checkbox('auto-shape', 'From the shape only, not from the bones', fromShape, (on) => {
            fromShape = on;
          }),
        ),
    ],
    [
      { label: 'Cancel' },
      {
        label: 'Find handles',
        primary: true,
        run: () => void ask({ type: 'auto_handles', count, from_shape: fromShape }),
      },
    ],
  );
}
