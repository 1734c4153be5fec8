// The flesh panel: simulation, material, obstacles, painted stiffness, joints and baking.
import { ask, store } from '../../app';
import type { Context } from '../../capability';
import type { Fleshed } from '../../net/protocol';
import { button, checkbox, iconButton, note } from '../../ui/fields';
import { formatCount } from '../../ui/format';
import { section } from '../../ui/section';
import { h, part, useTopics, type View } from '../../ui/view';
import { bakeSection } from './bake';
import { jointSection } from './joints';
import { materialSection } from './material';
import { obstacleSection } from './obstacles';
import { changeFlesh, flesh, fleshView, isLive, setLive } from './state';

/** Share of real time below which the simulation counts as slow. */
const SLOW = 0.9;

export function FleshPanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'prefs');
  useTopics(fleshView, 'change');
  const data = flesh();
  return h(
    'div.properties.flesh',
    { 'data-testid': 'flesh' },
    part(Running, { key: 'running' }),
    ...(data
      ? [
          materialSection(data),
          obstacleSection(data.settings),
          paintSection(data.painted),
          jointSection(data),
          bakeSection(player),
        ]
      : []),
  );
}

/** The button, and how the simulation is doing. */
function Running(): View {
  useTopics(store, 'fleshed', 'doc');
  const { fleshed, cells = false } = store.doc ?? {};
  const on = fleshed?.on ?? false;
  const paused = fleshed?.paused ?? false;
  return h(
    'div.run',
    null,
    h(
      'div.actions',
      null,
      button('flesh-live', on ? 'Stop' : 'Flesh', () => setLive(!isLive()), {
        class: 'primary',
        icon: 'flesh',
        pressed: on,
      }),
      iconButton('flesh-pause', 'pause', 'Pause or continue', () => void ask({ type: 'flesh_pause', on: !paused }), {
        pressed: paused,
        disabled: !on,
      }),
      iconButton('flesh-reset', 'reset', 'Restart from rest', () => void ask({ type: 'flesh_reset' }), {
        disabled: !on,
      }),
    ),
    h(
      'p.note',
      { class: fleshed?.fault ? 'stale' : '', 'data-testid': 'flesh-note', role: 'status' },
      statusText(fleshed),
    ),
    checkbox('flesh-cells', 'show cells', cells, (show) => ask({ type: 'flesh_cells', on: show })),
  );
}

function statusText(fleshed: Fleshed | undefined): string {
  if (fleshed?.fault) return fleshed.fault;
  if (!fleshed?.on)
    return (
      'Fills the body with elastic cells attached to its bones. Play a clip, or pull the surface with ' +
      'the flesh tool.'
    );
  const { status } = fleshed;
  if (!status) return 'Filling the body with cells…';
  const parts = [`${formatCount(status.cells)} cells, ${status.step_ms.toFixed(1)} ms per step`];
  if (status.speed < SLOW)
    parts.push(`Slow motion: ${(100 * status.speed).toFixed(0)} % of real time; fewer cells are faster`);
  if (status.n_uncovered > 0)
    parts.push(
      `${formatCount(status.n_uncovered)} vertices are in no cell and follow the nearest one ` +
        '(red dots with “show cells”); more cells may reach them',
    );
  if (status.unsolved > 0) parts.push(`${formatCount(status.unsolved)} steps were not solved exactly`);
  return `${parts.join('. ')}.`;
}

function paintSection(painted: boolean): View {
  const paint = (): void => {
    fleshView.set({ colours: true });
    store.setTool('stiffen');
  };
  return section(
    'Painted stiffness',
    h(
      'div.actions',
      null,
      button('flesh-paint', 'Paint', paint, { icon: 'stiffen' }),
      button('flesh-clear-paint', 'Clear', () => void changeFlesh({ clear_paint: {} }), { disabled: !painted }),
    ),
    h(
      'div.actions',
      null,
      checkbox('flesh-colours', 'show as colours', fleshView.colours, (colours) => fleshView.set({ colours })),
    ),
    note('Blue is softer, red is stiffer. Choose the factor above the viewport; Ctrl erases.'),
  );
}
