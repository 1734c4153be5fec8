// The page put together.
import './style/tokens.css';
import './style/base.css';
import './style/layout.css';
import './style/controls.css';
import './style/panels.css';
import './style/dialogs.css';
import './style/examples.css';
import './style/notices.css';
import './style/picture.css';
import './style/fit.css';
import './style/rules.css';
import './style/puppet.css';
import './style/flesh.css';
import { socket, store } from './app';
import { defineEdit } from './commands/edit';
import { defineExamples } from './commands/examples';
import { defineFile } from './commands/file';
import { defineHandles } from './commands/handles';
import { defineHelp } from './commands/help';
import { capturePose, definePose } from './commands/pose';
import { defineView } from './commands/view';
import { exposeDebugging } from './debug';
import { listenToDrops } from './dialogs/drop';
import { applyPrefs } from './dialogs/preferences';
import { listenToKeys } from './keys';
import { buildBanner } from './panels/banner';
import { buildJobs } from './panels/jobs';
import { buildLegend } from './panels/legend';
import { buildOptions } from './panels/options';
import { buildSidebar } from './panels/sidebar';
import { buildStatus } from './panels/status';
import { buildTimeline } from './panels/timeline';
import { buildToolbar } from './panels/toolbar';
import { buildTopbar } from './panels/topbar';
import { Player } from './player';
import { receive } from './receive';
import { listenToTemplates } from './rigging';
import { ToolManager } from './tools/manager';
import { Tour } from './tour';
import { h } from './ui/dom';
import { mountToasts } from './ui/toast';
import { mountTooltips } from './ui/tooltip';
import { buildActorView } from './view/actor';
import { Axes } from './view/axes';
import { drawUncovered, showCells } from './view/cells';
import { buildCompare } from './view/compare';
import { Gizmo } from './view/gizmo';
import { showGround } from './view/ground';
import { Overlay } from './view/overlay';
import { Viewport } from './view/viewport';

function start(root: HTMLElement): void {
  applyPrefs(store.prefs);
  store.on('prefs', applyPrefs);
  const viewport = new Viewport();
  const overlay = new Overlay(viewport);
  const gizmo = new Gizmo(viewport, overlay);
  const tools = new ToolManager({ viewport, overlay }, gizmo);
  const player = new Player();
  const context = { viewport, overlay, gizmo, tools, player };
  new Axes(viewport);
  showGround(viewport);
  showCells(viewport);
  listenToTemplates(viewport);
  overlay.layers.push((g, colour) => drawUncovered(viewport, g, colour));
  const tour = new Tour();
  defineFile();
  defineExamples();
  defineEdit();
  defineView(context);
  defineHandles();
  definePose(context);
  defineHelp(tour);

  viewport.element.append(tools.modal.element, buildCompare(viewport), buildJobs(), buildLegend());
  root.append(
    buildTopbar(),
    buildToolbar(),
    h('main.stage', null, buildOptions(), h('div.views', null, buildActorView(viewport), viewport.element)),
    buildSidebar(() => capturePose(context), player),
    buildTimeline(player),
    buildStatus(),
    buildBanner(),
  );
  mountToasts(root);
  mountTooltips();
  listenToKeys(tools);
  listenToDrops();
  exposeDebugging(context);

  receive(viewport);
  const stop = store.on('doc', () => {
    stop();
    tour.startOnce();
  });
  addEventListener('beforeunload', (event) => {
    if (store.doc?.dirty) event.preventDefault();
  });
  socket.connect();
}

try {
  start(document.getElementById('app')!);
} catch (error) {
  // Without WebGL there is no picture; say so instead of a blank page.
  const why = error instanceof Error ? error.message : String(error);
  document
    .getElementById('app')!
    .replaceChildren(
      h(
        'div.fatal',
        { role: 'alert' },
        h('h1', null, 'The studio cannot draw here'),
        h('p', null, why),
        h(
          'p',
          null,
          'It needs WebGL 2. Turn on hardware acceleration in the browser’s settings, or use a current Chrome, Edge, Firefox or Safari.',
        ),
      ),
    );
}
