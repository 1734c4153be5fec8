// Commands that choose a tool, and the size of the brush.
import type { Action } from '../actions';
import { store } from '../app';
import type { Context } from '../capability';
import { allTools, toolSpec } from '../tools/registry';
import { clampBrush } from '../ui/brushes';

export const isBrush = (): boolean => toolSpec(store.tool)?.isBrush ?? false;

export function toolCommands({ tools }: Context): Action[] {
  const resize = (factor: number): void =>
    store.setOptions({ brushPx: clampBrush(store.options.brushPx * factor + Math.sign(factor - 1)) });
  return [
    ...allTools().map(
      ({ id, label, keys }): Action => ({
        id: `tool-${id}`,
        label,
        group: 'Tools',
        keys: { blender: keys.blender, industry: keys.industry ?? keys.blender },
        checked: () => store.tool === id,
        run: () => store.setTool(id),
      }),
    ),
    {
      id: 'brush-size',
      label: 'Brush size',
      group: 'Tools',
      keys: { all: ['F', 'S'] },
      enabled: isBrush,
      run: () => tools.sizeBrush(),
    },
    { id: 'brush-smaller', label: 'Smaller brush', group: 'Tools', keys: { all: ['['] }, run: () => resize(1 / 1.15) },
    { id: 'brush-larger', label: 'Larger brush', group: 'Tools', keys: { all: [']'] }, run: () => resize(1.15) },
  ];
}
