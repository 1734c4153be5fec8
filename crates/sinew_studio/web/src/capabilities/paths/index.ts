// Paths: walks, paths of handles and keyframes become clips.
import { store } from '../../app';
import type { Capability } from '../../capability';
import { labelled } from '../../ui/brushes';
import { selectField } from '../../ui/fields';
import type { View } from '../../ui/view';
import { PathPanel } from './panel';
import { pathOptions } from './state';
import { chosenPoint, PathTool, removeChosen } from './tool';

function options(): View[] {
  const list = (store.doc?.paths?.paths ?? []).map(({ handle }, i) => ({ value: String(i), label: handle }));
  const choices = [{ value: 'walk', label: 'the walk' }, ...list];
  const choose = (value: string): void => pathOptions.set({ path: value === 'walk' ? 'walk' : Number(value) });
  return [
    labelled(
      'Draw',
      selectField('option-path', 'Which path is drawn', String(pathOptions.value.path), choices, choose),
    ),
  ];
}

export const paths: Capability = {
  id: 'paths',
  panels: [{ id: 'paths', title: 'Paths', icon: 'path', workspace: 'animate', withHandles: true, view: PathPanel }],
  commands: () => [
    {
      id: 'path-point-remove',
      label: 'Remove the point of the path',
      group: 'Examples',
      keys: { all: ['Delete'] },
      enabled: () => store.tool === 'path' && chosenPoint() !== null,
      run: removeChosen,
    },
  ],
  tools: [
    {
      id: 'path',
      label: 'Draw paths and walks',
      icon: 'path',
      group: 'examples',
      keys: { blender: ['J'] },
      hint: 'Click to add a point, on a line to insert one · drag moves it · Del removes it · drag elsewhere to orbit',
      shows: 'posed',
      panel: 'paths',
      create: (stage) => new PathTool(stage),
      options,
    },
  ],
};
