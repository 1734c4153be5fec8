// View commands: where one looks from, and how the surface is drawn.
import type { Action } from '../actions';
import { ask, store } from '../app';
import type { Context } from '../capability';
import type { Look } from '../store';
import type { ViewName } from '../view/camera';
import { isBrush } from './tools';

const LOOKS: [Look, string][] = [
  ['shaded', 'Shaded'],
  ['matcap', 'Matcap'],
  ['handles', 'Handles'],
  ['textured', 'Textured'],
  ['stress', 'Stress'],
];

export function setLook(look: Look): void {
  const stress = look === 'stress';
  if (store.doc && store.doc.stress !== stress) void ask({ type: 'stress', on: stress });
  store.setView({ look });
}

export const viewCommands = (context: Context): Action[] => [...cameraCommands(context), ...lookCommands()];

function cameraCommands({ viewport }: Context): Action[] {
  const view = (name: ViewName, label: string, keys: string[]): Action => ({
    id: `view-${name}`,
    label,
    group: 'View',
    keys: { all: keys },
    run: () => viewport.rig.view(name),
  });
  return [
    {
      id: 'frame-selected',
      label: 'Frame selected',
      group: 'View',
      keys: { all: ['F', 'NumpadDecimal'] },
      enabled: () => !isBrush(),
      run: () => viewport.frameSelected(),
    },
    {
      id: 'frame-all',
      label: 'Frame all',
      group: 'View',
      keys: { all: ['Home'], industry: ['A'] },
      run: () => viewport.frameAll(),
    },
    view('front', 'Front', ['Numpad1', '1']),
    view('back', 'Back', ['Ctrl+Numpad1', 'Alt+1']),
    view('right', 'Right', ['Numpad3', '3']),
    view('left', 'Left', ['Ctrl+Numpad3', 'Alt+3']),
    view('top', 'Top', ['Numpad7', '7']),
    view('bottom', 'Bottom', ['Ctrl+Numpad7', 'Alt+7']),
    {
      id: 'orthographic',
      label: 'Orthographic',
      group: 'View',
      keys: { all: ['Numpad5', '5'] },
      checked: () => viewport.rig.isOrthographic,
      run: () => {
        viewport.rig.toggleOrthographic();
        store.emit('view', null);
      },
    },
  ];
}

function lookCommands(): Action[] {
  return [
    ...LOOKS.map(
      ([look, label]): Action => ({
        id: `look-${look}`,
        label: `${label} look`,
        group: 'Look',
        checked: () => store.look === look,
        run: () => setLook(look),
      }),
    ),
    {
      id: 'look-next',
      label: 'Next look',
      group: 'Look',
      keys: { all: ['Z'] },
      run: () => setLook(LOOKS[(LOOKS.findIndex(([look]) => look === store.look) + 1) % LOOKS.length][0]),
    },
    {
      id: 'wireframe',
      label: 'Wireframe',
      group: 'Look',
      keys: { all: ['Shift+Z'] },
      checked: () => store.wireframe,
      run: () => store.setView({ wireframe: !store.wireframe }),
    },
    {
      id: 'xray',
      label: 'See through',
      group: 'Look',
      keys: { all: ['Alt+Z'] },
      checked: () => store.xray < 1,
      run: () => store.setView({ xray: store.xray < 1 ? 1 : 0.45 }),
    },
    {
      id: 'ghost',
      label: 'Compare with rest',
      group: 'Look',
      keys: { all: ['C'] },
      checked: () => store.ghost,
      run: () => store.setView({ ghost: !store.ghost }),
    },
    {
      id: 'grid',
      label: 'Grid',
      group: 'Look',
      checked: () => store.grid,
      run: () => store.setView({ grid: !store.grid }),
    },
    {
      id: 'centres',
      label: 'Rotation centres',
      group: 'Look',
      checked: () => store.centres,
      run: () => store.setView({ centres: !store.centres }),
    },
    {
      id: 'theme',
      label: 'Switch theme',
      group: 'Look',
      run: () => store.setPrefs({ theme: document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark' }),
    },
  ];
}
