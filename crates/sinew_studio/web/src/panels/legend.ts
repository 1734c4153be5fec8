// The legend of the stress look, in the corner of the picture.
import { store } from '../app';
import { h } from '../ui/dom';

export function buildLegend(): HTMLElement {
  const element = h(
    'div.legend',
    { 'data-testid': 'legend', hidden: true },
    h('span', null, '½ pressed'),
    h('i'),
    h('span', null, 'stretched 2×'),
  );
  const show = (): void => {
    element.hidden = store.look !== 'stress';
  };
  store.on('view', show);
  show();
  return element;
}
