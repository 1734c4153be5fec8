// Pose and tool commands.
import { define, type Action } from '../actions';
import { ask, run, store } from '../app';
import { showShape } from '../display';
import type { ToolId } from '../store';
import { clampBrush, type ToolManager } from '../tools/manager';
import type { ModalKind } from '../tools/modal';
import { askText } from '../ui/dialog';
import type { Context } from './context';
import { isBrush } from './view';

interface ToolAction {
  id: ToolId;
  label: string;
  blender: string[];
  industry?: string[];
}

export const TOOLS: ToolAction[] = [
  { id: 'select', label: 'Select and orbit', blender: ['W'], industry: ['Q'] },
  { id: 'drag', label: 'Drag: turn a handle about its centre', blender: ['D'] },
  { id: 'rotate', label: 'Rotate with rings', blender: ['Shift+R'], industry: ['E'] },
  { id: 'translate', label: 'Move with arrows', blender: ['Shift+G'], industry: ['W'] },
  { id: 'twist', label: 'Twist along the limb', blender: ['T'] },
  { id: 'centre', label: 'Drag rotation centres', blender: ['O'] },
  { id: 'reach', label: 'Reach: drag targets, the body follows the examples', blender: ['I'] },
  { id: 'sculpt', label: 'Sculpt detail of a pose', blender: ['V'] },
  { id: 'path', label: 'Draw paths and walks', blender: ['J'] },
  { id: 'rules', label: 'Rules: pick joints, drag markers', blender: ['U'] },
  { id: 'flesh', label: 'Flesh: take hold of it and pull, or push', blender: ['Y'] },
  { id: 'stiffen', label: 'Paint stiffness of flesh', blender: ['Shift+Y'] },
  { id: 'joint', label: 'Joints: put them into the body, turn them', blender: ['N'] },
  { id: 'rig', label: 'Rigs: put templates, pull the skin to shape them', blender: ['Shift+N'] },
  { id: 'box', label: 'Box: vertices for a handle', blender: ['B'] },
  { id: 'lasso', label: 'Lasso: vertices for a handle', blender: ['L'] },
  { id: 'paint', label: 'Paint a handle', blender: ['P'] },
  { id: 'erase', label: 'Erase from a handle', blender: ['Shift+P'] },
];

export const capturePose = ({ viewport, gizmo }: Context): string => viewport.capture(() => gizmo.hide());

export function savePose(context: Context, name: string): void {
  void run({ save_example: { name, thumbnail: capturePose(context) } });
}

function freePoseName(): string {
  const taken = new Set(store.doc?.examples.map((example) => example.name));
  for (let i = taken.size + 1; ; i++) if (!taken.has(`Pose ${i}`)) return `Pose ${i}`;
}

export function definePose(context: Context): void {
  const { tools, player } = context;
  const resize = (factor: number): void =>
    store.setOptions({ brushPx: clampBrush(store.options.brushPx * factor + Math.sign(factor - 1)) });
  define(
    ...TOOLS.map(({ id, label, blender, industry }): Action => ({
      id: `tool-${id}`,
      label,
      group: 'Tools',
      keys: { blender, industry: industry ?? blender },
      checked: () => store.tool === id,
      run: () => store.setTool(id),
    })),
    {
      id: 'brush-size',
      label: 'Size of the brush',
      group: 'Tools',
      keys: { all: ['F', 'S'] },
      enabled: isBrush,
      run: () => tools.sizeBrush(),
    },
    { id: 'brush-smaller', label: 'Smaller brush', group: 'Tools', keys: { all: ['['] }, run: () => resize(1 / 1.15) },
    { id: 'brush-larger', label: 'Larger brush', group: 'Tools', keys: { all: [']'] }, run: () => resize(1.15) },
    {
      id: 'move',
      label: 'Move selected (modal)',
      group: 'Pose',
      keys: { all: ['G'] },
      run: () => modal(tools, 'translate'),
    },
    {
      id: 'turn',
      label: 'Rotate selected (modal)',
      group: 'Pose',
      keys: { all: ['R'] },
      run: () => modal(tools, 'rotate'),
    },
    {
      id: 'pose-save',
      label: 'Save pose…',
      group: 'Pose',
      keys: { all: ['K'] },
      run: () =>
        posed(() => askText('save-pose', 'Save pose', 'Name', freePoseName(), (name) => savePose(context, name))),
    },
    {
      id: 'pose-reset',
      label: 'Reset pose',
      group: 'Pose',
      keys: { all: ['Alt+R'] },
      enabled: () => (store.doc?.n_moves ?? 0) > 0,
      run: () => void run({ set_pose: { moves: [] } }),
    },
    {
      id: 'refine',
      label: 'Polish while idle',
      group: 'Pose',
      checked: () => store.doc?.refine ?? false,
      run: () => void ask({ type: 'refine', on: !(store.doc?.refine ?? false) }),
    },
    {
      id: 'play',
      label: 'Play or pause',
      group: 'Play',
      keys: { all: ['Space'] },
      enabled: () => player.clip !== undefined,
      run: () => player.toggle(),
    },
    {
      id: 'frame-next',
      label: 'Next frame',
      group: 'Play',
      keys: { all: ['ArrowRight'] },
      enabled: () => player.clip !== undefined,
      run: () => player.step(1),
    },
    {
      id: 'frame-previous',
      label: 'Previous frame',
      group: 'Play',
      keys: { all: ['ArrowLeft'] },
      enabled: () => player.clip !== undefined,
      run: () => player.step(-1),
    },
    {
      id: 'clip-start',
      label: 'To the start',
      group: 'Play',
      keys: { all: ['Shift+ArrowLeft'] },
      enabled: () => player.clip !== undefined,
      run: () => player.seek(0),
    },
    { id: 'show-rest', label: 'Show rest', group: 'Play', run: () => void showShape('rest') },
    { id: 'show-posed', label: 'Show pose', group: 'Play', run: () => void showShape('posed') },
  );
}

/** Hands type faster than displays change: keys are kept until the move begins. */
function modal(tools: ToolManager, kind: ModalKind): void {
  if (store.doc?.display.what === 'posed') return tools.modal.begin(kind);
  tools.modal.await();
  posed(() => {
    if (tools.modal.awaited) tools.modal.begin(kind);
  });
}

/** Moves need the posed surface in view; ask for it first if it is not. */
function posed(then: () => void): void {
  if (store.doc?.display.what === 'posed') return then();
  if (store.tool !== 'select') store.setTool('drag');
  const stop = store.on('doc', (doc) => {
    if (doc.display.what !== 'posed') return;
    stop();
    then();
  });
  void showShape('posed');
}
