// The editor and the text of the document, which others may change.
import { ask, store } from '../../app';
import { type LineStates, RulesEditor } from './editor';
import { addLine, change, rules } from './state';

/** Milliseconds without a key after which the text is sent. */
const REST_MS = 150;

class RuleText {
  private timer = 0;
  /** The text that was sent and is not in the document yet. */
  private sent: string | null = null;
  private made: RulesEditor | null = null;
  private marked: unknown = null;

  get editor(): RulesEditor {
    this.made ??= new RulesEditor(() => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.send(), REST_MS);
    });
    return this.made;
  }

  /** Take over the text of the document, unless something else is being typed. */
  show(): void {
    const { editor } = this;
    if (this.sent === rules().text) this.sent = null;
    if (this.timer === 0 && this.sent === null) editor.text = rules().text;
    const { ruled } = store.doc ?? {};
    if (!ruled || ruled === this.marked || editor.text !== rules().text) return;
    this.marked = ruled;
    editor.mark(ruled.diagnostics, lineStates());
  }

  async append(line: string): Promise<void> {
    await this.send();
    await addLine(line);
  }

  async format(): Promise<void> {
    const done = await ask<{ text: string }>({ type: 'format_rules', text: this.editor.text });
    if (!done) return;
    this.editor.text = done.text;
    await this.send();
  }

  private async send(): Promise<void> {
    clearTimeout(this.timer);
    const { text } = this.editor;
    if (text !== rules().text) {
      this.sent = text;
      // A refused text is replaced by that of the document.
      if ((await change({ text: { text } })) === undefined) this.sent = null;
    }
    if (this.editor.text === text) this.timer = 0;
    this.marked = null;
    this.show();
  }
}

export const ruleText = new RuleText();

/** What each line came to, for the marks at the left. */
function lineStates(): LineStates {
  const states: LineStates = new Map();
  const { ruled } = store.doc ?? {};
  if (!ruled) return states;
  if (!ruled.stale) {
    for (const rule of ruled.solved?.rules ?? [])
      states.set(rule.line, { state: rule.holds || rule.objective ? 'good' : 'warning', tip: amount(rule) });
    for (const { lines, message } of ruled.solved?.conflicts ?? [])
      for (const line of lines) states.set(line, { state: 'conflict', tip: message });
  }
  for (const { line, severity, message } of ruled.diagnostics)
    if (severity !== 'note') states.set(line, { state: severity, tip: message });
  return states;
}

interface Held {
  residual: number;
  unit: string;
  holds: boolean;
  objective: boolean;
}

/** How far a rule is from holding, in its unit. */
export function amount({ residual, unit, holds, objective }: Held): string {
  if (holds && !objective) return `0 ${unit}`.trim();
  return `${objective ? '' : 'off by '}${residual.toFixed(Math.abs(residual) < 10 ? 2 : 1)} ${unit}`.trim();
}
