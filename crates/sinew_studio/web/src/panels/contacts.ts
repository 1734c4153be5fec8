// The contact track above the timeline: a row for each heel and ball, bars to add, drag, lengthen and remove.
import { contacting } from '../contacting';
import type { Contact } from '../net/protocol';
import type { Player } from '../player';
import { h, whenChanged } from '../ui/dom';

/** Pixels at the ends of a bar that lengthen it. */
const EDGE = 6;

type Grip = 'start' | 'end' | 'whole';

interface Press {
  index: number;
  grip: Grip;
  x: number;
  before: Contact;
}

export function buildContacts(player: Player): HTMLElement {
  const names = h('div.contact-names');
  const rows = h('div.contact-rows', { 'data-testid': 'contacts' });
  const element = h('div.contacts', { 'aria-label': 'Contacts', hidden: true }, names, rows);
  let press: Press | null = null;
  let draft: Contact[] | null = null;
  const list = (): Contact[] => draft ?? contacting.track?.contacts ?? [];
  const show = whenChanged(() => {
    const { track } = contacting;
    element.hidden = track === null || track.feet.length === 0;
    if (!track || element.hidden) return;
    const parts = rowsOf(track.feet);
    names.replaceChildren(...parts.map(({ foot, heel }) => h('span', null, `${foot} ${heel ? 'heel' : 'ball'}`)));
    rows.style.setProperty('--rows', String(parts.length));
    rows.replaceChildren(
      ...list().map((contact, i) => {
        const at = parts.findIndex(({ foot, heel }) => foot === contact.foot && heel === contact.heel);
        const [from, to] = contact.frames;
        const bar = h('button', {
          type: 'button',
          class: `contact ${contacting.chosen === i ? 'chosen ' : ''}${contact.heel ? 'heel' : 'ball'}`,
          'data-testid': `contact-${i}`,
          'aria-label': `${contact.foot} ${contact.heel ? 'heel' : 'ball'} stands in frames ${from} to ${to}`,
          'data-tip': `${contact.foot} ${contact.heel ? 'heel' : 'ball'}, frames ${from} to ${to} · drag its ends · Del removes`,
        });
        bar.style.setProperty('--row', String(at));
        bar.style.left = `${(100 * from) / track.frames}%`;
        bar.style.width = `${(100 * (to - from + 1)) / track.frames}%`;
        bar.addEventListener('keydown', (event) => {
          if (event.key !== 'Delete' && event.key !== 'Backspace') return;
          event.preventDefault();
          event.stopPropagation();
          contacting.remove(i);
        });
        return bar;
      }),
    );
  });
  const refresh = (): void => show([contacting.track, contacting.chosen, draft]);
  const frameAt = (x: number): number => {
    const { left, width } = rows.getBoundingClientRect();
    const n = contacting.track?.frames ?? 1;
    return Math.min(n - 1, Math.max(0, Math.floor(((x - left) / width) * n)));
  };
  rows.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !contacting.track) return;
    rows.setPointerCapture(event.pointerId);
    const bar = (event.target as HTMLElement).closest<HTMLElement>('.contact');
    if (bar) {
      const index = [...rows.children].indexOf(bar);
      const { left, right } = bar.getBoundingClientRect();
      const grip: Grip = event.clientX < left + EDGE ? 'start' : event.clientX > right - EDGE ? 'end' : 'whole';
      press = { index, grip, x: event.clientX, before: list()[index] };
      contacting.chosen = index;
    } else {
      // Empty track: a new contact begins here.
      const { top, height } = rows.getBoundingClientRect();
      const parts = rowsOf(contacting.track.feet);
      const row = parts[Math.min(parts.length - 1, Math.floor(((event.clientY - top) / height) * parts.length))];
      const frame = frameAt(event.clientX);
      const fresh: Contact = { ...row, frames: [frame, frame] };
      draft = [...list(), fresh];
      press = { index: draft.length - 1, grip: 'end', x: event.clientX, before: fresh };
      contacting.chosen = press.index;
    }
    refresh();
  });
  rows.addEventListener('pointermove', (event) => {
    if (!press || !contacting.track) return;
    const frames = moved(press, frameAt(event.clientX) - frameAt(press.x), contacting.track.frames);
    const { index } = press;
    draft = list().map((contact, i) => (i === index ? { ...contact, frames } : contact));
    refresh();
  });
  rows.addEventListener('pointerup', () => {
    const done = draft;
    const index = press?.index;
    press = null;
    draft = null;
    if (done && JSON.stringify(done) !== JSON.stringify(contacting.track?.contacts)) void contacting.set(done);
    refresh();
    // So that Del removes it.
    if (index !== undefined) (rows.children[index] as HTMLElement | undefined)?.focus();
  });
  contacting.on('change', refresh);
  contacting.watch(player);
  return element;
}

const rowsOf = (feet: string[]): { foot: string; heel: boolean }[] => feet.flatMap((foot) => [true, false].map((heel) => ({ foot, heel })));

function moved({ grip, before }: Press, by: number, n: number): [number, number] {
  const [from, to] = before.frames;
  const clamp = (frame: number): number => Math.min(n - 1, Math.max(0, frame));
  if (grip === 'start') return [Math.min(to, clamp(from + by)), to];
  if (grip === 'end') return by < 0 && from === to ? [clamp(from + by), to] : [from, Math.max(from, clamp(to + by))];
  const shift = Math.min(n - 1 - to, Math.max(-from, by));
  return [from + shift, to + shift];
}
