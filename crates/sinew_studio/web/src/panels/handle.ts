// Properties of the main handle.
import { action, perform } from '../actions';
import { run, store } from '../app';
import { renameHandle, reshape } from '../commands/handles';
import type { Vec3 } from '../net/protocol';
import { formatCount, h } from '../ui/dom';
import { AXES, lengthField, row, slider } from '../ui/fields';
import { section } from './section';

const button = (id: string, label = action(id).label): HTMLButtonElement =>
  h('button', { type: 'button', 'data-testid': `prop-${id}`, onclick: () => perform(id) }, label);

export function handleSection(): HTMLElement {
  const handle = store.handle(store.main);
  if (!handle)
    return section(
      'Handle',
      h('p.note', null, 'Click a handle on the surface or in the list. Shift-click adds others that move along.'),
    );
  const name = h('input', { type: 'text', value: handle.name, 'aria-label': 'Name', 'data-testid': 'prop-name' });
  name.addEventListener('change', () => void renameHandle(handle.name, name.value.trim()));
  const centre = AXES.map(([i, axis]) =>
    lengthField({
      id: `prop-centre-${axis.toLowerCase()}`,
      label: `Centre ${axis}`,
      value: handle.center[i],
      set: (value) => {
        const center: Vec3 = [...handle.center];
        center[i] = value;
        void run({ set_center: { name: handle.name, center } });
      },
    }),
  );
  const weight = h('output', null, '1.00');
  return section(
    'Handle',
    row('Name', name),
    row(
      'Vertices',
      h('span', null, formatCount(handle.vertices)),
      button('handle-shrink', '−'),
      button('handle-grow', '+'),
    ),
    row('Centre', ...centre),
    row('', button('handle-centre')),
    row(
      'Weight of all',
      slider({
        id: 'prop-weight',
        label: 'Weight of all its vertices',
        min: 0,
        max: 1,
        step: 0.05,
        value: 1,
        set: (value) => {
          weight.textContent = value.toFixed(2);
        },
      }),
      weight,
      h(
        'button',
        {
          type: 'button',
          'data-testid': 'prop-weight-set',
          onclick: () => reshape({ grow: 0 }, Number(weight.textContent)),
        },
        'Set',
      ),
    ),
    row(
      'Takes along',
      h(
        'span',
        { 'data-testid': 'prop-secondary' },
        handle.secondary.length === 0 ? 'none' : `${handle.secondary.length}`,
      ),
      button('handle-store', 'Store selected'),
    ),
  );
}
