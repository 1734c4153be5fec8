// A text of rules: line numbers, faults underlined where they are, words completed.
import { store } from '../app';
import type { Fault } from '../net/protocol';
import { word } from '../ruling';
import { h } from '../ui/dom';

/** Completions that are offered at once. */
const MOST = 8;

export type LineState = 'good' | 'warning' | 'error' | 'conflict';

export class Editor {
  readonly area = h('textarea.code-area', {
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    wrap: 'off',
    'aria-label': 'Rules',
    'aria-describedby': 'rules-faults',
    'data-testid': 'rules-text',
    placeholder: 'pin hand.L to Marker1\nput foot.R on Floor\nmaximize head.y',
  });
  private readonly back = h('pre.code-back', { 'aria-hidden': 'true' });
  private readonly gutter = h('div.code-gutter', { 'aria-hidden': 'true', 'data-testid': 'rules-gutter' });
  private readonly list = h('ul.code-words', { role: 'listbox', 'data-testid': 'rules-words' });
  private readonly field = h('div.code-field', null, this.back, this.area, this.list);
  readonly element = h('div.code', null, this.gutter, this.field);
  private faults: Fault[] = [];
  private states = new Map<number, { state: LineState; tip: string }>();
  private chosen = 0;
  private words: string[] = [];

  constructor(changed: () => void) {
    this.list.hidden = true;
    this.area.addEventListener('input', () => {
      this.faults = [];
      this.draw();
      this.offer();
      changed();
    });
    this.area.addEventListener('scroll', () => this.align());
    this.area.addEventListener('keydown', (event) => this.key(event));
    this.area.addEventListener('blur', () => this.close());
    this.area.addEventListener('click', () => this.close());
    this.draw();
  }

  get text(): string {
    return this.area.value;
  }

  /** Exchange the text, keeping the caret where it is. */
  set text(text: string) {
    if (text === this.area.value) return;
    const { selectionStart, selectionEnd, scrollTop } = this.area;
    this.area.value = text;
    this.area.setSelectionRange(selectionStart, selectionEnd);
    this.area.scrollTop = scrollTop;
    this.draw();
  }

  /** Faults by letter, and what each line has come to. */
  mark(faults: Fault[], states: Map<number, { state: LineState; tip: string }>): void {
    this.faults = faults;
    this.states = states;
    this.draw();
  }

  /** The caret at a place of the text. */
  go(line: number, from: number, to: number): void {
    this.area.focus();
    this.area.setSelectionRange(from, Math.max(from, to));
    this.area.scrollTop = (line - 3) * this.lineHeight();
  }

  private lineHeight(): number {
    return Number.parseFloat(getComputedStyle(this.area).lineHeight);
  }

  private draw(): void {
    const { text } = this;
    const lines = text.split('\n').length;
    this.gutter.replaceChildren(
      h(
        'div.code-numbers',
        null,
        ...Array.from({ length: lines }, (_, i) => {
          const found = this.states.get(i + 1);
          return h('span', { class: found?.state ?? '', 'data-tip': found?.tip, 'data-testid': `rules-line-${i + 1}` }, String(i + 1));
        }),
      ),
    );
    const parts: Node[] = [];
    let at = 0;
    for (const { from, to, severity } of [...this.faults].sort((a, b) => a.from - b.from)) {
      if (severity === 'note' || from < at) continue;
      const end = Math.max(to, from + 1);
      parts.push(document.createTextNode(text.slice(at, from)), h('span', { class: `squiggle ${severity}` }, text.slice(from, end) || ' '));
      at = end;
    }
    // A line at the end of nothing would have no height.
    parts.push(document.createTextNode(`${text.slice(at)}\n `));
    this.back.replaceChildren(...parts);
    this.align();
  }

  private align(): void {
    const { scrollTop, scrollLeft } = this.area;
    this.back.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    (this.gutter.firstElementChild as HTMLElement).style.transform = `translateY(${-scrollTop}px)`;
  }

  /** The word before the caret, and whether it begins a line. */
  private before(): { start: number; typed: string; isFirst: boolean } {
    const end = this.area.selectionStart;
    const line = this.text.slice(this.text.lastIndexOf('\n', end - 1) + 1, end);
    const typed = /"?[\p{L}_][\p{L}\p{N}_.:]*$/u.exec(line)?.[0] ?? '';
    return { start: end - typed.length, typed, isFirst: line.trim() === typed };
  }

  private offer(): void {
    const { typed, isFirst, start } = this.before();
    const inComment = this.text.slice(this.text.lastIndexOf('\n', start - 1) + 1, start).includes('#');
    if (typed.length < 2 || inComment) return this.close();
    const plain = (text: string): string => text.replace(/^"/, '').toLowerCase();
    const fits = (text: string): boolean => plain(text).startsWith(plain(typed)) && text !== typed;
    this.words = candidates(isFirst).filter(fits).slice(0, MOST);
    this.chosen = 0;
    this.show(start);
  }

  private show(start: number): void {
    this.list.hidden = this.words.length === 0;
    if (this.list.hidden) return;
    this.list.replaceChildren(
      ...this.words.map((text, i) => {
        const item = h('li', { role: 'option', 'aria-selected': String(i === this.chosen) }, text);
        item.addEventListener('pointerdown', (event) => {
          event.preventDefault();
          this.chosen = i;
          this.accept();
        });
        return item;
      }),
    );
    const lines = this.text.slice(0, start).split('\n');
    const style = getComputedStyle(this.area);
    const letter = this.letterWidth(style.font);
    const pad = Number.parseFloat(style.paddingLeft);
    const left = pad + lines[lines.length - 1].length * letter - this.area.scrollLeft;
    const top = Number.parseFloat(style.paddingTop) + lines.length * this.lineHeight() - this.area.scrollTop;
    this.list.style.left = `${Math.max(0, Math.min(left, this.field.clientWidth - 130))}px`;
    this.list.style.top = `${top}px`;
  }

  private letterWidth(font: string): number {
    const g = document.createElement('canvas').getContext('2d')!;
    g.font = font;
    return g.measureText('0').width;
  }

  private close(): void {
    this.list.hidden = true;
    this.words = [];
  }

  private accept(): void {
    const text = this.words[this.chosen];
    const { start } = this.before();
    this.close();
    // So that the browser's own undo knows of it.
    this.area.setSelectionRange(start, this.area.selectionStart);
    document.execCommand('insertText', false, `${text} `);
  }

  private key(event: KeyboardEvent): void {
    if (this.list.hidden || event.ctrlKey || event.metaKey) {
      if (event.key === 'Escape') this.area.blur();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.chosen = (this.chosen + step + this.words.length) % this.words.length;
      this.show(this.before().start);
    } else if (event.key === 'Tab') this.accept();
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Words that may stand there: verbs at the start of a line, else names and functions. */
function candidates(isFirst: boolean): string[] {
  const { language } = store.welcome ?? {};
  if (!language) return [];
  const joints = (store.doc?.ruled?.joints ?? []).map((joint) => joint.word);
  const things = [...(store.doc?.rules.markers ?? []), ...(store.doc?.rules.planes ?? [])].map(({ name }) => word(name));
  const names = [...things, ...joints];
  const verbs = language.verbs.map(({ name }) => name);
  return isFirst ? [...verbs, ...names] : [...names, ...language.functions, ...language.suffixes];
}
