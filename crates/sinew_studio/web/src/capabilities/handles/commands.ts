// Handle commands: making, mirroring, hiding, storing sets.
import type { Action } from '../../actions';
import { ask, run, store } from '../../app';
import type { Region } from '../../net/protocol';
import { askText, confirmLoss } from '../../ui/dialog';
import { openAutoHandles } from './auto';
import { newHandleName } from './state';

const chosen = (): boolean => store.main !== null;

/** Grow or shrink the main handle, or with `{grow: 0}` give all of it a weight. */
export function reshape(region: Region, weight = 1): void {
  if (store.main !== null) void ask({ type: 'paint', handle: store.main, op: 'replace', region, weight });
}

export async function renameHandle(name: string, to: string): Promise<void> {
  if (to === name || to.trim() === '') return;
  const wasMain = store.main === name;
  const others = [...store.secondary];
  if ((await run({ rename_handle: { name, to } })) === undefined || !wasMain) return;
  store.selectMain(to, true);
  for (const other of others) store.secondary.add(other);
  store.emit('selection', null);
}

export const handleCommands = (): Action[] => [...listCommands(), ...shapeCommands()];

/** Handles that come and go, and which are seen. */
function listCommands(): Action[] {
  return [
    {
      id: 'handle-new',
      label: 'New handle',
      group: 'Handles',
      run: () => {
        const name = newHandleName();
        void run({ add_handle: { name } }).then((ok) => {
          if (ok !== undefined) store.selectMain(name, true);
        });
      },
    },
    {
      id: 'handle-rename',
      label: 'Rename handle…',
      group: 'Handles',
      keys: { all: ['F2'] },
      enabled: chosen,
      run: () => askText('rename', 'Rename handle', 'Name', store.main!, (to) => void renameHandle(store.main!, to)),
    },
    {
      id: 'handle-delete',
      label: 'Delete handle',
      group: 'Handles',
      keys: { all: ['Delete'], blender: ['X'] },
      enabled: chosen,
      run: () => void run({ remove_handle: { name: store.main! } }),
    },
    {
      id: 'handle-hide',
      label: 'Hide highlight',
      group: 'Handles',
      keys: { all: ['H'] },
      enabled: chosen,
      run: () => {
        for (const name of store.selected()) store.hidden.add(name);
        store.emit('selection', null);
      },
    },
    {
      id: 'handle-show-all',
      label: 'Show all highlights',
      group: 'Handles',
      keys: { all: ['Alt+H'] },
      run: () => {
        store.hidden.clear();
        store.solo = null;
        store.emit('selection', null);
      },
    },
    { id: 'handle-auto', label: 'Automatic handles…', group: 'Handles', run: openAutoHandles },
    {
      id: 'handle-clear',
      label: 'Delete all handles',
      group: 'Handles',
      enabled: () => (store.doc?.handles.length ?? 0) > 0,
      run: () =>
        confirmLoss(
          'Delete all handles',
          'All handles and the current pose are deleted. Undo restores them.',
          'Delete',
          () => void run({ clear_handles: {} }),
        ),
    },
  ];
}

/** What a handle consists of. */
function shapeCommands(): Action[] {
  return [
    {
      id: 'handle-mirror',
      label: 'Mirror handle',
      group: 'Handles',
      keys: { all: ['Ctrl+M'] },
      enabled: chosen,
      run: () =>
        void ask<{ handle: string }>({ type: 'mirror_handle', handle: store.main! }).then((twin) => {
          if (twin) store.selectMain(twin.handle, true);
        }),
    },
    {
      id: 'handle-grow',
      label: 'Grow handle',
      group: 'Handles',
      keys: { all: ['NumpadAdd', '='] },
      enabled: chosen,
      run: () => reshape({ grow: 1 }),
    },
    {
      id: 'handle-shrink',
      label: 'Shrink handle',
      group: 'Handles',
      keys: { all: ['NumpadSubtract', '-'] },
      enabled: chosen,
      run: () => reshape({ shrink: 1 }),
    },
    {
      id: 'handle-store',
      label: 'Store secondary set',
      group: 'Handles',
      keys: { all: ['Ctrl+G'] },
      enabled: chosen,
      run: () => void run({ set_secondary: { name: store.main!, secondary: [...store.secondary] } }),
    },
    {
      id: 'handle-centre',
      label: 'Reset rotation centre',
      group: 'Handles',
      enabled: chosen,
      run: () => void ask({ type: 'default_center', handle: store.main! }),
    },
  ];
}
