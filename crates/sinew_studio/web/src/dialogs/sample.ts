// A new document from one of the built-in characters.
import { ask, store } from '../app';
import { openDialog } from '../ui/dialog';
import { numberField, row, selectField } from '../ui/fields';

const DEFAULT_VERTICES = 20000;

export function openSample(): void {
  const samples = store.welcome?.samples ?? ['biped'];
  let name = samples[0];
  let vertices = DEFAULT_VERTICES;
  const title = (sample: string): string => sample.charAt(0).toUpperCase() + sample.slice(1);
  openDialog(
    'sample',
    'New from sample',
    [
      row(
        'Sample',
        selectField(
          'sample-name',
          'Sample',
          name,
          samples.map((sample) => ({ value: sample, label: title(sample) })),
          (value) => {
            name = value;
          },
        ),
      ),
      row(
        'Vertices',
        numberField({
          id: 'sample-vertices',
          label: 'Vertices',
          value: vertices,
          min: 500,
          max: 1000000,
          step: 500,
          set: (value) => {
            vertices = Math.round(value);
          },
        }),
      ),
    ],
    [{ label: 'Cancel' }, { label: 'Create', primary: true, run: () => void ask({ type: 'sample', name, vertices }) }],
  );
}
