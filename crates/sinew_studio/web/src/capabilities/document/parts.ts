// The parts of the surface (hair, eyes, clothes): shown, hidden and exported one by one.
import { run, store } from '../../app';
import type { PartInfo } from '../../net/protocol';
import { iconButton } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { section } from '../../ui/section';
import { h, type View, type Views } from '../../ui/view';
import { exportPart } from '../export/form';

export function partsSection(): Views {
  const parts = store.doc?.parts ?? [];
  if (parts.length < 2) return null;
  return section('Parts', h('div.list', { role: 'list', 'data-testid': 'parts' }, ...parts.map(partRow)));
}

function partRow({ name, faces, visible }: PartInfo): View {
  const toggle = (): void => void run({ show_parts: { parts: [name], visible: !visible } });
  return h(
    'div.row-item',
    { key: name, role: 'listitem', class: visible ? '' : 'muted', 'data-testid': `part-${name}` },
    h('span.name', { 'data-tip': name }, name),
    h('span.count', null, formatCount(faces)),
    iconButton(`part-show-${name}`, visible ? 'eye' : 'eyeOff', visible ? 'Hide this part' : 'Show this part', toggle, {
      pressed: visible,
    }),
    iconButton(`part-export-${name}`, 'export', 'Export this part as GLB', () => void exportPart(name)),
  );
}
