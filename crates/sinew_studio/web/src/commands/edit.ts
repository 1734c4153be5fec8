// History and selection commands.
import type { Action } from '../actions';
import { ask, store } from '../app';

export function editCommands(): Action[] {
  const at = (): number => store.doc?.history.at ?? 0;
  return [
    {
      id: 'undo',
      label: 'Undo',
      group: 'Edit',
      keys: { all: ['Ctrl+Z'] },
      enabled: () => at() > 0,
      run: () => void ask({ type: 'undo' }),
    },
    {
      id: 'redo',
      label: 'Redo',
      group: 'Edit',
      keys: { all: ['Ctrl+Shift+Z', 'Ctrl+Y'] },
      enabled: () => at() < (store.doc?.history.steps.length ?? 1) - 1,
      run: () => void ask({ type: 'redo' }),
    },
    {
      id: 'select-all',
      label: 'Select all handles',
      group: 'Edit',
      keys: { blender: ['A'], industry: ['Ctrl+A'] },
      enabled: () => (store.doc?.handles.length ?? 0) > 0,
      run: () => {
        const names = store.doc!.handles.map((handle) => handle.name);
        store.selectMain(store.main ?? names[0], true);
        for (const name of names) if (name !== store.main) store.secondary.add(name);
        store.emit('selection', null);
      },
    },
    {
      id: 'select-none',
      label: 'Deselect all',
      group: 'Edit',
      keys: { all: ['Alt+A', 'Escape'] },
      enabled: () => store.main !== null,
      run: () => store.selectMain(null),
    },
  ];
}
