// Colours of the rules editor, out of the page's own tokens.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-verb)', fontWeight: '600' },
  { tag: tags.operatorKeyword, color: 'var(--text-2)' },
  { tag: tags.typeName, color: 'var(--code-function)' },
  { tag: tags.modifier, color: 'var(--code-unit)' },
  { tag: tags.number, color: 'var(--code-unit)' },
  { tag: tags.string, color: 'var(--code-name)' },
  { tag: tags.variableName, color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--text-3)', fontStyle: 'italic' },
]);

const wavy = (colour: string): Record<string, string> => ({
  backgroundImage: 'none',
  paddingBottom: '0',
  textDecoration: `underline wavy var(${colour})`,
  textDecorationSkipInk: 'none',
  textUnderlineOffset: '3px',
  backgroundColor: `color-mix(in srgb, var(${colour}) 14%, transparent)`,
});

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'transparent', fontSize: '0.95rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.35rem 0' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '.cm-gutters': { backgroundColor: 'var(--panel-2)', color: 'var(--text-3)', borderRight: '1px solid var(--line)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '1.5rem', padding: '0 0.35rem 0 0.2rem' },
  '.cm-states': { width: '4px' },
  '.cm-states .cm-gutterElement': { display: 'flex' },
  '.cm-states span': { flex: '1' },
  '.cm-states .good': { backgroundColor: 'var(--good)' },
  '.cm-states .warning': { backgroundColor: 'var(--warning)' },
  '.cm-states .error, .cm-states .conflict': { backgroundColor: 'var(--danger)' },
  '.cm-lintRange-error': wavy('--danger'),
  '.cm-lintRange-warning': wavy('--warning'),
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
    color: 'var(--text)',
    maxWidth: '22rem',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14em' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-veil)', color: 'var(--text)' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)' },
  '.cm-completionInfo': { padding: '0.3rem 0.5rem' },
  '.cm-diagnostic': { padding: '0.3rem 0.5rem' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': { backgroundColor: 'var(--accent-veil)' },
});

export const editorTheme = [look, syntaxHighlighting(colours)];
