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
import { define } from './actions';
import { socket, store } from './app';
import { CAPABILITIES } from './capabilities';
import type { Context } from './capability';
import { editCommands } from './commands/edit';
import { fileCommands } from './commands/file';
import { helpCommands } from './commands/help';
import { toolCommands } from './commands/tools';
import { viewCommands } from './commands/view';
import { exposeDebugging } from './debug';
import { listenToDrops } from './dialogs/drop';
import { applyPrefs } from './dialogs/preferences';
import { listenToKeys } from './keys';
import { Player } from './player';
import { receive } from './receive';
import { buildBanner } from './shell/banner';
import { buildJobs } from './shell/jobs';
import { buildLegend } from './shell/legend';
import { buildOptions } from './shell/options';
import { buildSidebar } from './shell/sidebar';
import { buildStatus } from './shell/status';
import { buildTimeline } from './shell/timeline';
import { buildToolbar } from './shell/toolbar';
import { buildTopbar } from './shell/topbar';
import { followTools, showPanel } from './shell/workspaces';
import { ToolManager } from './tools/manager';
import { toolSpec } from './tools/registry';
import { Tour } from './tour';
import { el } from './ui/dom';
import { mountToasts } from './ui/toast';
import { mountTooltips } from './ui/tooltip';
import { Axes } from './view/axes';
import { Gizmo } from './view/gizmo';
import { showGround } from './view/ground';
import { Overlay } from './view/overlay';
import { Viewport } from './view/viewport';

function buildContext(): Context {
  const viewport = new Viewport();
  const overlay = new Overlay(viewport);
  const gizmo = new Gizmo(viewport, overlay);
  return { viewport, overlay, gizmo, tools: new ToolManager({ viewport, overlay }, gizmo), player: new Player() };
}

/** Of two commands with the same key the first that is enabled runs: those of capabilities come first. */
function defineCommands(context: Context, tour: Tour): void {
  define(
    ...fileCommands(),
    ...toolCommands(context),
    ...CAPABILITIES.flatMap(({ commands }) => commands?.(context) ?? []),
    ...editCommands(),
    ...viewCommands(context),
    ...helpCommands(tour),
  );
}

function start(root: HTMLElement): void {
  applyPrefs(store.prefs);
  store.on('prefs', applyPrefs);
  const context = buildContext();
  const { viewport, tools, player } = context;
  new Axes(viewport);
  showGround(viewport);
  const tour = new Tour();
  defineCommands(context, tour);
  viewport.element.append(tools.modal.element, buildJobs(), buildLegend());
  root.append(
    buildTopbar(),
    buildToolbar(),
    el('main.stage', null, buildOptions(), el('div.views', null, viewport.element)),
    buildSidebar(context),
    buildTimeline(player),
    buildStatus(),
    buildBanner(),
  );
  for (const capability of CAPABILITIES) capability.start?.(context);
  followTools((tool) => toolSpec(tool)?.panel);
  showPanel('poses');
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
  // Without WebGL nothing can be drawn; explain it instead of leaving the page blank.
  const why = error instanceof Error ? error.message : String(error);
  document
    .getElementById('app')!
    .replaceChildren(
      el(
        'div.fatal',
        { role: 'alert' },
        el('h1', null, 'The studio cannot draw here'),
        el('p', null, why),
        el(
          'p',
          null,
          'It needs WebGL 2. Turn on hardware acceleration in the browser’s settings, or use a ' +
            'current Chrome, Edge, Firefox or Safari.',
        ),
      ),
    );
}
