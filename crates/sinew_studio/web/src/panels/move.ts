// Moving the selected handles by typed numbers.
import { Vector3 } from 'three';
import { store } from '../app';
import { PoseGesture } from '../tools/gesture';
import { h } from '../ui/dom';
import { AXES, lengthField, numberField, row } from '../ui/fields';
import { section } from './section';

/** One step of history from typed numbers. */
export function moveSection(): HTMLElement {
  const values = { rotate: new Vector3(), translate: new Vector3() };
  const fields = (kind: 'rotate' | 'translate'): HTMLInputElement[] =>
    AXES.map(([i, axis]) =>
      (kind === 'rotate' ? numberField : lengthField)({
        id: `prop-${kind}-${axis.toLowerCase()}`,
        label: `${kind} ${axis}`,
        value: 0,
        set: (value) => {
          values[kind].setComponent(i, value);
        },
      }),
    );
  const apply = (kind: 'rotate' | 'translate'): void => {
    if (store.main === null) return;
    const gesture = new PoseGesture(store.main, store.selected());
    const size = values[kind].length();
    if (size === 0) return;
    if (kind === 'rotate') gesture.rotate(values.rotate.clone().divideScalar(size).toArray(), size, performance.now());
    else gesture.translate(values.translate.toArray(), performance.now());
    gesture.end();
  };
  const go = (kind: 'rotate' | 'translate'): HTMLButtonElement =>
    h(
      'button',
      {
        type: 'button',
        disabled: store.main === null,
        'data-testid': `prop-${kind}-apply`,
        onclick: () => apply(kind),
      },
      'Apply',
    );
  return section(
    'Move by numbers',
    row('Turn °', ...fields('rotate')),
    row('', go('rotate')),
    row(`Move ${store.prefs.units}`, ...fields('translate')),
    row('', go('translate')),
  );
}
