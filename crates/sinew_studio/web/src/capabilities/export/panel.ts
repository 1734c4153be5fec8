// The export panel.
import { store } from '../../app';
import { button } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, useTopics, type View } from '../../ui/view';
import { exportForm, exportState, runExport } from './form';

/** Choices of the panel, for the document and the clips they were made for. */
let choices: { of: string; state: ReturnType<typeof exportState> } | null = null;

export function ExportPanel(): View {
  useTopics(store, 'doc');
  const of = `${store.doc?.document} ${store.doc?.clips.map(({ name }) => name).join('\n')}`;
  if (choices?.of !== of) choices = { of, state: exportState() };
  const { state } = choices;
  return h(
    'div.properties',
    { 'data-testid': 'export-panel' },
    section(
      'Export',
      h('div', { key: of }, exportForm(state)),
      h(
        'div.actions',
        null,
        button('export-run', 'Export', () => void runExport(state), { class: 'primary', icon: 'export' }),
      ),
    ),
  );
}
