// The language of rules as the server describes it: which words are what, and what can follow.
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { StreamLanguage } from '@codemirror/language';
import { store } from '../../app';
import { BETWEEN, word } from './state';

const WORD = /"?[\p{L}_][\p{L}\p{N}_.:]*/u;
const between = new Set(BETWEEN);

interface Table {
  verbs: Set<string>;
  functions: Set<string>;
  others: Set<string>;
}

let table: { of: unknown; words: Table } | null = null;

/** The words of the server's table, looked up again only if another table has come. */
function words(): Table {
  const language = store.welcome?.language;
  if (table?.of !== language || !table) {
    const words = {
      verbs: new Set(language?.verbs.map(({ name }) => name)),
      functions: new Set(language?.functions),
      others: new Set([...(language?.suffixes ?? []), ...(language?.units ?? [])]),
    };
    table = { of: language, words };
  }
  return table.words;
}

export const rulesLanguage = StreamLanguage.define<{ isFirst: boolean }>({
  name: 'rules',
  startState: () => ({ isFirst: true }),
  token: (stream, state) => {
    if (stream.sol()) state.isFirst = true;
    if (stream.eatSpace()) return null;
    if (stream.peek() === '#') {
      stream.skipToEnd();
      return 'comment';
    }
    const isFirst = state.isFirst;
    state.isFirst = false;
    if (stream.match(/"[^"]*"?/)) return 'string';
    if (stream.match(/\d+(\.\d+)?([eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/[\p{L}_][\p{L}\p{N}_.:]*/u)) {
      const text = stream.current();
      const { verbs, functions, others } = words();
      if (isFirst && verbs.has(text)) return 'keyword';
      if (between.has(text)) return 'operatorKeyword';
      if (functions.has(text)) return 'typeName';
      return others.has(text) ? 'modifier' : 'variableName';
    }
    stream.next();
    return 'operator';
  },
});

/** Verbs at the start of a line, else names and functions. */
export function completeRules(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(WORD);
  if (!before && !context.explicit) return null;
  const from = before?.from ?? context.pos;
  const line = context.state.doc.lineAt(context.pos);
  const head = context.state.sliceDoc(line.from, from);
  const { language } = store.welcome ?? {};
  if (head.includes('#') || !language) return null;
  const joints = (store.doc?.ruled?.joints ?? []).map((joint) => ({ label: joint.word, type: 'variable' }));
  const things = [...(store.doc?.rules.markers ?? []), ...(store.doc?.rules.planes ?? [])];
  const names = [...things.map(({ name }) => ({ label: word(name), type: 'variable' })), ...joints];
  const verbs = language.verbs.map(({ name, meaning }) => ({ label: name, type: 'keyword', info: meaning, boost: 1 }));
  const rest = [...language.functions, ...language.suffixes].map((label) => ({ label, type: 'function' }));
  const options = head.trim() === '' ? [...verbs, ...names] : [...names, ...rest];
  return { from, options, validFor: /^"?[\p{L}\p{N}_.:]*$/u };
}
