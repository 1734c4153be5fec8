// Unit, up and facing: what seems to be wrong with them is asked on opening, and changed here.
import { useState } from 'preact/hooks';
import { run, store } from '../../app';
import { button, row, selectField } from '../../ui/fields';
import { section } from '../../ui/section';
import { type Toast, toast } from '../../ui/toast';
import { h, type View } from '../../ui/view';

const UNITS: [string, number][] = [
  ['Metres', 1],
  ['Centimetres', 0.01],
  ['Millimetres', 0.001],
  ['Inches', 0.0254],
  ['Feet', 0.3048],
];
const AXES = ['x', '-x', 'y', '-y', 'z', '-z'];
const names = (own: string): { value: string; label: string }[] =>
  AXES.map((axis) => ({ value: axis, label: axis === own ? `${axis} (as it is)` : axis }));

const scaleBy = (factor: number): Promise<unknown> => run({ scale: { factor } });
const turn = (up: string, facing?: string): Promise<unknown> => run({ turn: { up, facing } });

/** Largest extent of the document. */
function extent(): number {
  const [low, high] = store.doc?.bounds ?? [
    [0, 0, 0],
    [0, 0, 0],
  ];
  return Math.max(...high.map((x, i) => x - low[i]));
}

export function PlacementSection(): View {
  const [unit, setUnit] = useState('1');
  const [up, setUp] = useState('y');
  const [facing, setFacing] = useState('z');
  const isSame = unit === '1' && up === 'y' && facing === 'z';
  const apply = async (): Promise<void> => {
    // Facing is given only where it is changed: what is upright stays as it faces otherwise.
    if (up !== 'y' || facing !== 'z') await turn(up, facing === 'z' ? undefined : facing);
    if (unit !== '1') await scaleBy(Number(unit));
    setUnit('1');
    setUp('y');
    setFacing('z');
  };
  const units = UNITS.map(([label, metres]) => ({
    value: String(metres),
    label: metres === 1 ? `${label} (as it is)` : `${label}: ${(extent() * metres).toPrecision(3)} m large`,
  }));
  const doubts = store.doc?.doubts;
  return section(
    'Unit and axes',
    doubts != null && h('p.warning-line', { 'data-testid': 'doc-doubts' }, doubts.text),
    row('Unit of the file', selectField('doc-unit', 'Unit of the file', unit, units, setUnit)),
    row('Its up axis', selectField('doc-up', 'Its up axis', up, names('y'), setUp)),
    row('It faces', selectField('doc-facing', 'It faces', facing, names('z'), setFacing)),
    row(
      '',
      button('doc-place', 'Convert', () => void apply(), { disabled: isSame }),
    ),
  );
}

let asked = 0;
let question: Toast | null = null;

/** Ask about a document that was opened, once; withdraw the question when it is answered. */
export function askAboutPlacement(): void {
  const { doc } = store;
  if (!doc) return;
  const { doubts } = doc;
  if (doubts == null) question?.close();
  if (doubts == null || asked === doc.document) return;
  asked = doc.document;
  const { scale, up, facing } = doubts;
  const answers = [
    ...(scale == null
      ? []
      : [{ label: `Make it ${(extent() * scale).toPrecision(3)} m`, run: () => void scaleBy(scale) }]),
    ...(up == null ? [] : [{ label: 'Turn upright', run: () => void turn(up) }]),
    ...(facing == null ? [] : [{ label: 'Turn to the front', run: () => void turn('y', facing) }]),
    { label: 'Leave it', run: () => {} },
  ];
  question = toast('warning', doubts.text, answers);
}
