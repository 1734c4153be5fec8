// Properties of the document: size, scale, repair, warnings.
import { run, store } from '../app';
import { confirmLoss } from '../ui/dialog';
import { h } from '../ui/dom';
import { numberField, row } from '../ui/fields';
import { section } from './section';

export function documentSection(): HTMLElement {
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
