// The tools at the left edge.
import { action, firstKeys } from '../actions';
import { store } from '../app';
import { TOOLS } from '../commands/pose';
import { h } from '../ui/dom';
import { icon, type IconName } from '../ui/icons';

/** A line is drawn after these: looking, posing, working with examples, flesh. */
const LAST_OF_GROUP = new Set(['select', 'centre', 'rules', 'rig']);

export function buildToolbar(): HTMLElement {
  const bar = h('div.toolbar', {
    role: 'toolbar',
    'aria-label': 'Tools',
    'aria-orientation': 'vertical',
    'data-testid': 'toolbar',
  });
  const buttons = TOOLS.map(({ id, label }) => {
    const item = action(`tool-${id}`);
    const button = h(
      'button.tool',
      {
        type: 'button',
        'data-testid': `tool-${id}`,
        'aria-label': label,
        'data-tip': label,
        'data-keys': firstKeys(item),
        onclick: () => item.run(),
      },
      icon(id as IconName),
    );
    bar.append(button);
    if (LAST_OF_GROUP.has(id)) bar.append(h('hr'));
    return { id, button, item };
  });
  const mark = (): void => {
    for (const { id, button } of buttons) button.setAttribute('aria-pressed', String(id === store.tool));
  };
  store.on('tool', mark);
  store.on('prefs', () => {
    for (const { button, item } of buttons) button.dataset.keys = firstKeys(item);
  });
  mark();
  return bar;
}
