// A new document from one of the built-in characters.
import { useState } from 'preact/hooks';
import { ask, store } from '../app';
import { openDialog } from '../ui/dialog';
import { numberField, row, selectField } from '../ui/fields';
import { part, type View } from '../ui/view';

const DEFAULT_VERTICES = 20000;

interface Choice {
  name: string;
  vertices: number;
}

function SampleForm({ samples, choice }: { samples: string[]; choice: Choice }): View[] {
  const [, redraw] = useState(0);
  const set = (change: Partial<Choice>): void => {
    Object.assign(choice, change);
    redraw((n) => n + 1);
  };
  const choices = samples.map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }));
  return [
    row(
      'Sample',
      selectField('sample-name', 'Sample', choice.name, choices, (name) => set({ name })),
    ),
    row(
      'Vertices',
      numberField({
        id: 'sample-vertices',
        label: 'Vertices',
        value: choice.vertices,
        min: 500,
        max: 1000000,
        step: 500,
        set: (vertices) => set({ vertices: Math.round(vertices) }),
      }),
    ),
  ];
}

export function openSample(): void {
  const samples = store.welcome?.samples ?? ['biped'];
  const choice: Choice = { name: samples[0], vertices: DEFAULT_VERTICES };
  openDialog('sample', 'New from sample', () => part(SampleForm, { samples, choice }), [
    { label: 'Cancel' },
    { label: 'Create', primary: true, run: () => void ask({ type: 'sample', ...choice }) },
  ]);
}
