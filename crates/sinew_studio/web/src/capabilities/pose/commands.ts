// Pose, brush and playback commands.
import type { Action } from '../../actions';
import { ask, run, store } from '../../app';
import type { Context } from '../../capability';
import { showShape } from '../../display';
import { freeName } from '../../names';
import type { ToolManager } from '../../tools/manager';
import type { ModalKind } from '../../tools/modal';
import { askText } from '../../ui/dialog';

export const capturePose = ({ viewport, gizmo }: Context): string => viewport.capture(() => gizmo.hide());

export function savePose(context: Context, name: string): void {
  void run({ save_example: { name, thumbnail: capturePose(context) } });
}

function freePoseName(): string {
  const examples = store.doc?.examples ?? [];
  return freeName(examples, (n) => `Pose ${n}`, examples.length + 1);
}

export function poseCommands(context: Context): Action[] {
  const { tools, player } = context;
  return [
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
      label: 'Refine while idle',
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
      label: 'Go to start',
      group: 'Play',
      keys: { all: ['Shift+ArrowLeft'] },
      enabled: () => player.clip !== undefined,
      run: () => player.seek(0),
    },
    { id: 'show-rest', label: 'Show rest', group: 'Play', run: () => void showShape('rest') },
    { id: 'show-posed', label: 'Show pose', group: 'Play', run: () => void showShape('posed') },
  ];
}

/** Keys typed before the pose is shown are kept until the move begins. */
function modal(tools: ToolManager, kind: ModalKind): void {
  if (store.doc?.display.what === 'posed') return tools.modal.begin(kind);
  tools.modal.await();
  posed(() => {
    if (tools.modal.awaited) tools.modal.begin(kind);
  });
}

/** Moves need the posed surface in view; request it first if it is not shown. */
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
