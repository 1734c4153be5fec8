// The document panel: size, scale, repair and warnings of the mesh.
import { useState } from 'preact/hooks';
import { run, store } from '../../app';
import { confirmLoss } from '../../ui/dialog';
import { button, numberField, row } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { section } from '../../ui/section';
import { addSkeletonRow, needsSkeleton } from '../../ui/skeleton';
import { h, part, useTopics, type View } from '../../ui/view';
import { partsSection } from './parts';
import { PlacementSection } from './placement';

export function DocumentPanel(): View {
  useTopics(store, 'doc', 'prefs');
  const { doc } = store;
  if (!doc) return h('div.properties');
  const unit = store.prefs.units === 'cm' ? 100 : 1;
  const size = doc.bounds[1].map((high, i) => ((high - doc.bounds[0][i]) * unit).toFixed(unit === 1 ? 2 : 0));
  return h(
    'div.properties',
    { 'data-testid': 'document' },
    section(
      'Document',
      row('Size', h('span', { 'data-testid': 'doc-size' }, `${size.join(' × ')} ${store.prefs.units}`)),
      part(ScaleRow, { key: `scale ${doc.document}` }),
      row('Joints', h('span', null, formatCount(doc.joints))),
      needsSkeleton() && addSkeletonRow('doc-add-skeleton'),
    ),
    part(PlacementSection, { key: `placement ${doc.document}` }),
    partsSection(),
    section(
      'Mesh',
      row('Vertices', h('span', null, formatCount(doc.vertices))),
      row('Faces', h('span', null, formatCount(doc.faces))),
      row('', button('doc-repair', 'Repair…', repair)),
      ...doc.warnings.map((text) => h('p.warning-line', { key: text, 'data-testid': 'doc-warning' }, text)),
    ),
  );
}

function ScaleRow(): View {
  const [factor, setFactor] = useState(1);
  const apply = (): void => {
    if (factor !== 1) void run({ scale: { factor } });
    setFactor(1);
  };
  return row(
    'Scale by',
    numberField({ id: 'doc-scale', label: 'Scale by', value: factor, min: 1e-6, max: 1e6, digits: 6, set: setFactor }),
    button('doc-scale-apply', 'Apply', apply),
  );
}

function repair(): void {
  confirmLoss(
    'Repair the mesh',
    'Merges duplicate vertices, orients faces consistently and closes cracks. Vertices may be renumbered. ' +
      'Undo restores the mesh.',
    'Repair',
    () => void run({ repair: {} }),
  );
}
