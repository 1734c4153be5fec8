// What tests and the curious may use from the console: `sinew` and `sinewStats`.
import { actions, perform } from './actions';
import { socket, stats, store } from './app';
import { CAPABILITIES } from './capabilities';
import type { Context } from './capability';
import type { Outgoing } from './net/protocol';
import type { Picture } from './view/viewport';

interface Place {
  /** Pixels of the page. */
  x: number;
  y: number;
  behind: boolean;
}

export interface Debugging {
  ask(message: Outgoing): Promise<unknown>;
  perform(action: string): void;
  actions(): string[];
  /** Every panel with its workspace. */
  panels(): Record<string, string>;
  state(): unknown;
  selection(): { main: string | null; secondary: string[] };
  ready(): boolean;
  vertex(index: number): { position: number[]; place: Place };
  handle(name: string): Place | null;
  owners(): number[];
  view(): number[];
  /** The surface alone as it is drawn, with the camera. */
  picture(): Picture;
  dropConnection(): void;
  /** Stop or go on drawing, to measure without rasterising. */
  draw(on: boolean): void;
  /** What capabilities add. */
  [name: string]: unknown;
}

declare global {
  interface Window {
    sinew: Debugging;
    sinewStats: typeof stats;
  }
}

export function exposeDebugging(context: Context): void {
  const { viewport, overlay, gizmo } = context;
  window.sinewStats = stats;
  window.sinew = {
    ask: (message) => socket.ask(message),
    perform,
    actions: () => actions().map(({ id }) => id),
    panels: () =>
      Object.fromEntries(
        CAPABILITIES.flatMap(({ panels }) => panels ?? []).map(({ id, workspace }) => [id, workspace]),
      ),
    state: () => store.doc,
    selection: () => ({ main: store.main, secondary: [...store.secondary] }),
    ready: () => store.doc !== null && viewport.mesh.nRender > 0 && viewport.isDressed,
    vertex: (index) => {
      const position = viewport.mesh.position(index);
      return { position: position.toArray(), place: viewport.place(position) };
    },
    handle: (name) => {
      const centre = overlay.centre(name);
      return centre && viewport.place(centre);
    },
    owners: () => [...viewport.mesh.owners],
    view: () => viewport.rig.view16(),
    picture: () => viewport.picture(() => gizmo.hide()),
    dropConnection: () => socket.drop(),
    draw: (on) => {
      viewport.drawing = on;
      viewport.request();
    },
  };
  for (const { debug } of CAPABILITIES) Object.assign(window.sinew, debug?.(context));
}
