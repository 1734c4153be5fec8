// Rules: text that poses the skeleton.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Capability } from '../../capability';
import { showShape } from '../../display';
import { hasSkeleton } from '../../ui/skeleton';
import { RulesPanel } from './panel';
import { ruledPlace, ruleWriter } from './state';
import { ruleText } from './text';
import { RulesTool } from './tool';

/** The rules tool comes with the panel, and goes with it. */
function followPanel(): void {
  let before = store.tool;
  store.on('panel', (panel) => {
    if (panel === 'rules' && hasSkeleton() && store.tool !== 'rules') {
      before = store.tool;
      store.setTool('rules');
    } else if (panel !== 'rules' && store.tool === 'rules') store.setTool(before === 'rules' ? 'drag' : before);
  });
}

export const rules: Capability = {
  id: 'rules',
  panels: [{ id: 'rules', title: 'Rules', icon: 'rules', workspace: 'pose', view: RulesPanel }],
  start: () => {
    ruleWriter.on('line', (line) => void ruleText.append(line));
    store.on('opened', () => {
      ruleWriter.begin(null);
      if (store.tool === 'rules' && hasSkeleton()) void showShape('ruled');
    });
    followPanel();
  },
  mouse: [
    'Rules with the mouse',
    [
      ['Choose what a rule is about', 'Click joints, markers, planes'],
      ['Add a marker there', 'Click elsewhere'],
      ['Move a marker or a plane', 'Drag'],
      ['Tilt a plane', 'Drag the tip of its normal'],
      ['Complete a word', 'Tab'],
    ],
  ],
  debug: ({ viewport }) => ({
    /** Where a joint, a marker or a plane of the rules is drawn. */
    ruled: (name: string) => {
      const at = ruledPlace(name);
      return at && viewport.place(new Vector3(...at));
    },
    /** The text in the editor, and what is selected in it. */
    rules: () => ({ text: ruleText.editor.text, selected: ruleText.editor.selected }),
  }),
  tools: [
    {
      id: 'rules',
      label: 'Rules: pick joints, drag markers',
      icon: 'rules',
      group: 'examples',
      keys: { blender: ['U'] },
      hint:
        'Drag markers and planes · choose a verb, then click joints and markers to write a rule · drag ' +
        'elsewhere to orbit',
      shows: 'ruled',
      panel: 'rules',
      create: (stage) => new RulesTool(stage),
    },
  ],
};
