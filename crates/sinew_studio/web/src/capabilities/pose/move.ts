// Moving the selected handles by typed numbers: one step of history.

import { useState } from 'preact/hooks';
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Vec3 } from '../../net/protocol';
import { PoseGesture } from '../../tools/gesture';
import { AXES, button, lengthField, numberField, row } from '../../ui/fields';
import { section } from '../../ui/section';
import { part, useTopics, type View } from '../../ui/view';

type Kind = 'rotate' | 'translate';

function apply(kind: Kind, values: Vec3): void {
  const vector = new Vector3(...values);
  const size = vector.length();
  if (store.main === null || size === 0) return;
  const gesture = new PoseGesture(store.main, store.selected());
  if (kind === 'rotate') gesture.rotate(vector.divideScalar(size).toArray(), size, performance.now());
  else gesture.translate(values, performance.now());
  gesture.end();
}

function Move({ kind }: { kind: Kind }): View[] {
  const [values, setValues] = useState<Vec3>([0, 0, 0]);
  const fields = AXES.map(([axis, name]) =>
    (kind === 'rotate' ? numberField : lengthField)({
      id: `prop-${kind}-${name.toLowerCase()}`,
      label: `${kind} ${name}`,
      value: values[axis],
      set: (value) => setValues((now) => now.map((x, i) => (i === axis ? value : x)) as Vec3),
    }),
  );
  const disabled = store.main === null;
  return [
    row(kind === 'rotate' ? 'Rotate °' : `Move ${store.prefs.units}`, ...fields),
    row(
      '',
      button(`prop-${kind}-apply`, 'Apply', () => apply(kind, values), { disabled }),
    ),
  ];
}

function MoveSection(): View {
  useTopics(store, 'selection', 'prefs');
  return section(
    'Move by numbers',
    part(Move, { kind: 'rotate', key: 'rotate' }),
    part(Move, { kind: 'translate', key: 'translate' }),
  );
}

export const moveSection = (): View => part(MoveSection, { key: 'move' });
