// A part of the properties that folds, and stays folded when it is built anew.
import { h } from '../ui/dom';

const open = new Map<string, boolean>([['Move by numbers', false]]);

export function section(title: string, ...content: Node[]): HTMLElement {
  const details = h(
    'details',
    { open: open.get(title) ?? true, 'data-testid': `section-${title.toLowerCase().replace(/ /g, '-')}` },
    h('summary', null, title),
    h('div.stack', null, ...content),
  );
  details.addEventListener('toggle', () => open.set(title, details.open));
  return details;
}
