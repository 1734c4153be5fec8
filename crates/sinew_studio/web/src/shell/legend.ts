// The legend of the stress look, in the corner of the viewport.
import { store } from '../app';
import { el } from '../ui/dom';

export function buildLegend(): HTMLElement {
  const element = el(
    'div.legend',
    { 'data-testid': 'legend', hidden: true },
    el('span', null, '½ compressed'),
    el('i'),
    el('span', null, 'stretched 2×'),
  );
  const show = (): void => {
    element.hidden = store.look !== 'stress';
  };
  store.on('view', show);
  show();
  return element;
}
