// The text of the rules: CodeMirror with the language's words, faults underlined where they are, and a mark per line.
import { acceptCompletion, autocompletion, closeCompletion, completionStatus } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState, RangeSet, StateEffect, StateField } from '@codemirror/state';
import { EditorView, GutterMarker, gutter, keymap, lineNumbers, placeholder } from '@codemirror/view';
import type { Fault } from '../../net/protocol';
import { el } from '../../ui/dom';
import { completeRules, rulesLanguage } from './language';
import { editorTheme } from './theme';

export type LineState = 'good' | 'warning' | 'error' | 'conflict';
export type LineStates = Map<number, { state: LineState; tip: string }>;

const EXAMPLE = 'pin hand.L to Marker1\nput foot.R on Floor\nmaximize head.y';

/** A change that came from the document, not from the keyboard. */
const fromDocument = Annotation.define<boolean>();
const setStates = StateEffect.define<LineStates>();

class LineMark extends GutterMarker {
  constructor(
    private readonly line: number,
    private readonly state: LineState,
    private readonly tip: string,
  ) {
    super();
  }

  override eq(other: LineMark): boolean {
    return other.line === this.line && other.state === this.state && other.tip === this.tip;
  }

  override toDOM(): Node {
    return el('span', { class: this.state, 'data-tip': this.tip, 'data-testid': `rules-line-${this.line}` });
  }
}

/** What each line came to, at the left of its number. */
const lineMarks = StateField.define<RangeSet<LineMark>>({
  create: () => RangeSet.empty,
  update: (marks, transaction) => {
    const { doc } = transaction.state;
    for (const effect of transaction.effects) {
      if (!effect.is(setStates)) continue;
      const known = [...effect.value].filter(([line]) => line <= doc.lines).sort((a, b) => a[0] - b[0]);
      return RangeSet.of(
        known.map(([line, { state, tip }]) => new LineMark(line, state, tip).range(doc.line(line).from)),
      );
    }
    return marks.map(transaction.changes);
  },
});

export class RulesEditor {
  /** Its styles live in a shadow tree: the page allows none but those it came with. */
  readonly element = el('div.code', { 'data-testid': 'rules-text' });
  private readonly view: EditorView;

  constructor(changed: () => void) {
    const root = this.element.attachShadow({ mode: 'open' });
    const listen = EditorView.updateListener.of((update) => {
      if (update.docChanged && !update.transactions.some((t) => t.annotation(fromDocument))) changed();
    });
    const leave = (view: EditorView): boolean => {
      if (completionStatus(view.state) !== null) return closeCompletion(view);
      view.contentDOM.blur();
      return true;
    };
    const extensions = [
      lineMarks,
      gutter({ class: 'cm-states', markers: (view) => view.state.field(lineMarks) }),
      lineNumbers(),
      history(),
      rulesLanguage,
      autocompletion({ override: [completeRules], icons: false, maxRenderedOptions: 12 }),
      keymap.of([
        { key: 'Tab', run: acceptCompletion },
        { key: 'Escape', run: leave },
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      placeholder(EXAMPLE),
      EditorView.contentAttributes.of({ 'aria-label': 'Rules', spellcheck: 'false', autocapitalize: 'off' }),
      editorTheme,
      listen,
    ];
    this.view = new EditorView({ state: EditorState.create({ extensions }), root, parent: root });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Take another text; what is the same at both ends stays, and with it the caret. */
  set text(text: string) {
    const old = this.text;
    if (text === old) return;
    const most = Math.min(old.length, text.length);
    let from = 0;
    while (from < most && old[from] === text[from]) from++;
    let tail = 0;
    while (tail < most - from && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
    const changes = { from, to: old.length - tail, insert: text.slice(from, text.length - tail) };
    this.view.dispatch({ changes, annotations: fromDocument.of(true) });
  }

  get selected(): string {
    const { from, to } = this.view.state.selection.main;
    return this.view.state.sliceDoc(from, to);
  }

  /** Faults by character, and what each line came to. */
  mark(faults: Fault[], states: LineStates): void {
    const { length } = this.view.state.doc;
    const within = (at: number): number => Math.min(Math.max(0, at), length);
    const diagnostics = faults
      .filter(({ severity }) => severity !== 'note')
      .map(
        ({ from, to, severity, message }): Diagnostic => ({
          from: within(from),
          to: within(Math.max(to, from + 1)),
          severity: severity === 'error' ? 'error' : 'warning',
          message,
        }),
      );
    this.view.dispatch({ effects: setStates.of(states) });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** Select a part of the text. */
  go(from: number, to: number): void {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: from, head: Math.max(from, to) }, scrollIntoView: true });
  }

  /** Select a line. */
  goToLine(line: number): void {
    const { doc } = this.view.state;
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
    this.go(from, to);
  }

  lineText(line: number): string {
    const { doc } = this.view.state;
    return line >= 1 && line <= doc.lines ? doc.line(line).text.trim() : '';
  }
}
