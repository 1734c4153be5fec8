// The handles panel: the main handle, and how the soft surface between handles follows.
import { useState } from 'preact/hooks';
import { action, perform } from '../../actions';
import { run, store } from '../../app';
import type { HandleInfo, Vec3 } from '../../net/protocol';
import { AXES, button, lengthField, note, row, slider, textField } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { section } from '../../ui/section';
import { h, part, useTopics, type View } from '../../ui/view';
import { renameHandle, reshape } from './commands';
import { methodSection } from './method';

const act = (id: string, label = action(id).label): View => button(`prop-${id}`, label, () => perform(id));

export function HandlePanel(): View {
  useTopics(store, 'doc', 'selection', 'prefs', 'welcome');
  return h('div.properties', { 'data-testid': 'properties' }, handleSection(), methodSection());
}

function handleSection(): View {
  const handle = store.handle(store.main);
  if (!handle)
    return section(
      'Handle',
      note('Click a handle on the surface or in the list. Shift-click selects secondary handles, which move with it.'),
    );
  return section(
    'Handle',
    row(
      'Name',
      textField({ id: 'prop-name', label: 'Name', value: handle.name, set: (to) => renameHandle(handle.name, to) }),
    ),
    row('Vertices', h('span', null, formatCount(handle.vertices)), act('handle-shrink', '−'), act('handle-grow', '+')),
    row('Centre', ...AXES.map(([axis, name]) => centreField(handle, axis, name))),
    row('', act('handle-centre')),
    part(WeightRow, { key: 'weight' }),
    row(
      'Secondary handles',
      h(
        'span',
        { 'data-testid': 'prop-secondary' },
        handle.secondary.length === 0 ? 'none' : String(handle.secondary.length),
      ),
      act('handle-store', 'Store selected'),
    ),
  );
}

function centreField({ name, center }: HandleInfo, axis: 0 | 1 | 2, label: string): View {
  return lengthField({
    id: `prop-centre-${label.toLowerCase()}`,
    label: `Centre ${label}`,
    value: center[axis],
    set: (value) => {
      const to: Vec3 = [...center];
      to[axis] = value;
      return run({ set_center: { name, center: to } });
    },
  });
}

function WeightRow(): View {
  const [weight, setWeight] = useState(1);
  return row(
    'All weights',
    slider({
      id: 'prop-weight',
      label: 'Weight of all vertices of the handle',
      min: 0,
      max: 1,
      step: 0.05,
      value: weight,
      set: setWeight,
    }),
    h('output', null, weight.toFixed(2)),
    button('prop-weight-set', 'Set', () => reshape({ grow: 0 }, weight)),
  );
}
