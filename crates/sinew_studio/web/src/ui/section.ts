// A part of a panel that folds, and stays folded.
import { useState } from 'preact/hooks';
import { h, part, type View, type Views } from './view';

const open = new Map<string, boolean>([['Move by numbers', false]]);

function Section({ title, children }: { title: string; children?: Views }): View {
  const [isOpen, setOpen] = useState(open.get(title) ?? true);
  const toggle = (event: Event): void => {
    const now = (event.currentTarget as HTMLDetailsElement).open;
    open.set(title, now);
    setOpen(now);
  };
  return h(
    'details',
    { open: isOpen, ontoggle: toggle, 'data-testid': `section-${title.toLowerCase().replace(/ /g, '-')}` },
    h('summary', null, title),
    h('div.stack', null, children),
  );
}

export function section(title: string, ...children: Views[]): View {
  return part(Section, { title, key: title, children });
}
