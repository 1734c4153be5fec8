// Markers and planes: what rules refer to besides joints.
import { store } from '../../app';
import type { Marker, RulePlane, Vec3 } from '../../net/protocol';
import { AXES, button, iconButton, lengthField, textField } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { change, freeThingName, rules } from './state';

export function thingsSection(): View {
  const { markers, planes } = rules();
  return section(
    'Markers and planes',
    ...markers.map(markerRow),
    ...planes.map(planeRow),
    h(
      'div.actions',
      { key: 'add' },
      button('marker-add', 'Add marker', addMarker),
      button('plane-add', 'Add plane', addPlane),
    ),
  );
}

function addMarker(): void {
  const bounds = store.doc?.bounds;
  const size = bounds ? bounds[1][1] - bounds[0][1] : 1.7;
  const front = bounds ? bounds[1][2] + 0.15 * size : 0.4;
  void change({ marker: { name: freeThingName('Marker'), position: [0.2 * size, 0.6 * size, front] } });
}

function addPlane(): void {
  const name = rules().planes.length === 0 ? 'Floor' : freeThingName('Plane');
  void change({ plane: { name, point: [0, 0, 0], normal: [0, 1, 0] } });
}

function nameField(name: string): View {
  return textField({
    id: `thing-name-${name}`,
    label: `Name of ${name}`,
    value: name,
    class: 'name',
    set: (to) => (to === '' || to === name ? undefined : change({ rename: { name, to } })),
  });
}

const removeButton = (name: string): View =>
  iconButton(`thing-remove-${name}`, 'trash', `Remove ${name}`, () => void change({ remove: { name } }));

function markerRow({ name, position }: Marker): View {
  const field = (axis: 0 | 1 | 2, label: string): View =>
    lengthField({
      id: `marker-${name}-${label.toLowerCase()}`,
      label: `${name} ${label}`,
      value: position[axis],
      set: (value) => change({ marker: { name, position: position.map((x, k) => (k === axis ? value : x)) as Vec3 } }),
    });
  return h(
    'div.thing',
    { key: `marker ${name}`, 'data-testid': `marker-${name}` },
    nameField(name),
    ...AXES.map(([axis, label]) => field(axis, label)),
    removeButton(name),
  );
}

function planeRow({ name, point, normal }: RulePlane): View {
  const tilt = (Math.acos(Math.min(1, Math.max(-1, normal[1] / Math.hypot(...normal)))) * 180) / Math.PI;
  return h(
    'div.thing',
    { key: `plane ${name}`, 'data-testid': `plane-${name}` },
    nameField(name),
    lengthField({
      id: `plane-${name}-height`,
      label: `Height of ${name}`,
      value: point[1],
      set: (y) => change({ plane: { name, point: [point[0], y, point[2]], normal } }),
    }),
    button(
      `plane-${name}-level`,
      `${tilt.toFixed(0)}°`,
      () => void change({ plane: { name, point, normal: [0, 1, 0] } }),
      { class: 'tilt', tip: 'Tilt; click to make it level' },
    ),
    removeButton(name),
  );
}
