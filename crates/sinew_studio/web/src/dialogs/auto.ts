// Automatic handles: how many, and from what.
import { ask, store } from '../app';
import { openDialog } from '../ui/dialog';
import { h } from '../ui/dom';
import { checkbox, row } from '../ui/fields';

export function openAutoHandles(): void {
  const hasBones = (store.doc?.joints ?? 0) > 0;
  const count = h('input', {
    type: 'number',
    min: 2,
    max: 1000,
    placeholder: 'as the shape suggests',
    'aria-label': 'Count',
    'data-testid': 'auto-count',
  });
  let fromShape = !hasBones;
  openDialog(
    'auto',
    'Automatic handles',
    [
      h('p', null, 'Finds limbs to hold the surface by. All present handles are replaced; undo brings them back.'),
      row('About how many', count),
      ...(hasBones
        ? [
            row(
              '',
              checkbox('auto-shape', 'From the shape alone, not from the bones', fromShape, (on) => {
                fromShape = on;
              }),
            ),
          ]
        : []),
    ],
    [
      { label: 'Cancel' },
      {
        label: 'Find handles',
        primary: true,
        run: () =>
          void ask({
            type: 'auto_handles',
            count: Number.isFinite(count.valueAsNumber) ? count.valueAsNumber : undefined,
            from_shape: fromShape,
          }),
      },
    ],
  );
}
