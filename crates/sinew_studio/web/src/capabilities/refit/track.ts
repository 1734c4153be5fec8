// The contact track above the timeline: a row for each heel and ball, bars to add, drag, lengthen and remove.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Contact } from '../../net/protocol';
import { h, useTopics, type View } from '../../ui/view';
import { footContacts } from './state';

/** Pixels at the ends of a bar that lengthen it. */
const EDGE_PX = 6;

type Grip = 'start' | 'end' | 'whole';

interface Press {
  index: number;
  grip: Grip;
  x: number;
  before: Contact;
}

const rowsOf = (feet: string[]): { foot: string; heel: boolean }[] =>
  feet.flatMap((foot) => [true, false].map((heel) => ({ foot, heel })));

const partName = ({ foot, heel }: { foot: string; heel: boolean }): string => `${foot} ${heel ? 'heel' : 'ball'}`;

export function ContactTrackView(): View {
  useTopics(footContacts, 'change');
  const rows = useRef<HTMLElement>(null);
  const press = useRef<Press | null>(null);
  const [draft, setDraft] = useState<Contact[] | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  useLayoutEffect(() => {
    // So that Del removes it.
    if (focused !== null) (rows.current?.children[focused] as HTMLElement | undefined)?.focus();
    setFocused(null);
  }, [focused]);
  const { track, chosen } = footContacts;
  const hidden = track === null || track.feet.length === 0;
  if (!track || hidden) return h('div.contacts', { hidden: true });
  const parts = rowsOf(track.feet);
  const list = draft ?? track.contacts;
  const frameAt = (x: number): number => {
    const { left, width } = rows.current!.getBoundingClientRect();
    return Math.min(track.frames - 1, Math.max(0, Math.floor(((x - left) / width) * track.frames)));
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    rows.current!.setPointerCapture(event.pointerId);
    const bar = (event.target as HTMLElement).closest<HTMLElement>('.contact');
    if (bar) {
      const index = [...rows.current!.children].indexOf(bar);
      const { left, right } = bar.getBoundingClientRect();
      const end = event.clientX > right - EDGE_PX ? 'end' : 'whole';
      const grip: Grip = event.clientX < left + EDGE_PX ? 'start' : end;
      press.current = { index, grip, x: event.clientX, before: list[index] };
    } else {
      // Empty track: a new contact begins here.
      const { top, height } = rows.current!.getBoundingClientRect();
      const row = parts[Math.min(parts.length - 1, Math.floor(((event.clientY - top) / height) * parts.length))];
      const frame = frameAt(event.clientX);
      const fresh: Contact = { ...row, frames: [frame, frame] };
      setDraft([...list, fresh]);
      press.current = { index: list.length, grip: 'end', x: event.clientX, before: fresh };
    }
    footContacts.choose(press.current.index);
  };
  const move = (event: PointerEvent): void => {
    const { current } = press;
    if (!current) return;
    const frames = moved(current, frameAt(event.clientX) - frameAt(current.x), track.frames);
    setDraft(list.map((contact, i) => (i === current.index ? { ...contact, frames } : contact)));
  };
  const up = (): void => {
    const { current } = press;
    press.current = null;
    setDraft(null);
    if (!current) return;
    const isNew = current.index >= track.contacts.length;
    const [from, to] = list[current.index]?.frames ?? current.before.frames;
    const isMoved = from !== current.before.frames[0] || to !== current.before.frames[1];
    if (draft && (isNew || isMoved)) void footContacts.set(draft);
    setFocused(current.index);
  };
  return h(
    'div.contacts',
    { 'aria-label': 'Contacts' },
    h('div.contact-names', null, ...parts.map((part) => h('span', { key: partName(part) }, partName(part)))),
    h(
      'div.contact-rows',
      {
        ref: rows,
        style: { '--rows': String(parts.length) },
        'data-testid': 'contacts',
        onpointerdown: down,
        onpointermove: move,
        onpointerup: up,
      },
      ...list.map((contact, i) =>
        bar(
          contact,
          i,
          parts.findIndex((p) => partName(p) === partName(contact)),
          track.frames,
          chosen === i,
        ),
      ),
    ),
  );
}

function bar(contact: Contact, i: number, row: number, n: number, isChosen: boolean): View {
  const [from, to] = contact.frames;
  const name = partName(contact);
  return h('button.contact', {
    key: i,
    type: 'button',
    class: `${isChosen ? 'chosen ' : ''}${contact.heel ? 'heel' : 'ball'}`,
    style: { '--row': String(row), left: `${(100 * from) / n}%`, width: `${(100 * (to - from + 1)) / n}%` },
    'data-testid': `contact-${i}`,
    'aria-label': `${name} is planted in frames ${from} to ${to}`,
    'data-tip': `${name}, frames ${from} to ${to} · drag its ends · Del removes`,
    onkeydown: (event: KeyboardEvent) => {
      if (event.key !== 'Delete' && event.key !== 'Backspace') return;
      event.preventDefault();
      event.stopPropagation();
      footContacts.remove(i);
    },
  });
}

function moved({ grip, before }: Press, by: number, n: number): [number, number] {
  const [from, to] = before.frames;
  const clamp = (frame: number): number => Math.min(n - 1, Math.max(0, frame));
  if (grip === 'start') return [Math.min(to, clamp(from + by)), to];
  if (grip === 'end') return by < 0 && from === to ? [clamp(from + by), to] : [from, Math.max(from, clamp(to + by))];
  const shift = Math.min(n - 1 - to, Math.max(-from, by));
  return [from + shift, to + shift];
}
