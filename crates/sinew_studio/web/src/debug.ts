// What tests and the curious may use from the console: `sinew` and `sinewStats`.
import { Vector3 } from 'three';
import { actions, perform } from './actions';
import { socket, stats, store } from './app';
import type { Context } from './commands/context';
import { fitView } from './fitview';
import type { Outgoing } from './net/protocol';
import { jointPlace } from './tools/joint';
import { ruledPlace } from './ruling';
import { puppeteering } from './puppeteering';

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
  state(): unknown;
  selection(): { main: string | null; secondary: string[] };
  ready(): boolean;
  vertex(index: number): { position: number[]; place: Place };
  handle(name: string): Place | null;
  owners(): number[];
  view(): number[];
  dropConnection(): void;
  /** Where a joint, a marker or a plane of the rules is drawn. */
  ruled(name: string): Place | null;
  /** Where a joint of the joint tool is drawn. */
  joint(name: string): Place | null;
  /** What of flesh is in the buffers: painted vertices, edges of cells. */
  flesh(): { painted: number; edges: number; nodes: number };
  /** How a fit is seen, and where its vertices are. */
  fit(): {
    maps: boolean;
    map: string;
    bone: number;
    shown: boolean;
    vertex(index: number): number[];
    place(index: number): Place;
  };
  /** The actor: where it comes from, and how fast it is followed. */
  puppet(): { source: string; camera: string; rate: number; ms: number; frame: number };
  /** Stop or go on drawing, to measure without rasterising. */
  draw(on: boolean): void;
}

declare global {
  interface Window {
    sinew: Debugging;
    sinewStats: typeof stats;
  }
}

export function exposeDebugging({ viewport, overlay }: Context): void {
  const place = (point: Parameters<typeof viewport.rig.project>[0]): Place => {
    const at = viewport.rig.project(point);
    const rect = viewport.canvas.getBoundingClientRect();
    return { x: at.x + rect.left, y: at.y + rect.top, behind: at.behind };
  };
  window.sinewStats = stats;
  window.sinew = {
    ask: (message) => socket.ask(message),
    perform,
    actions: () => actions().map(({ id }) => id),
    state: () => store.doc,
    selection: () => ({ main: store.main, secondary: [...store.secondary] }),
    ready: () => store.doc !== null && viewport.mesh.nRender > 0,
    vertex: (index) => {
      const position = viewport.mesh.position(index);
      return { position: position.toArray(), place: place(position) };
    },
    handle: (name) => {
      const centre = overlay.centre(name);
      return centre && place(centre);
    },
    ruled: (name) => {
      const at = ruledPlace(name);
      return at && place(new Vector3(...at));
    },
    joint: (name) => {
      const at = jointPlace(name);
      return at && place(new Vector3(...at));
    },
    flesh: () => ({
      painted: viewport.mesh.stiffness.filter((value) => value !== 128).length,
      edges: (viewport.mesh.cellEdges?.length ?? 0) / 2,
      nodes: (viewport.mesh.cellNodes?.length ?? 0) / 3,
    }),
    owners: () => [...viewport.mesh.owners],
    view: () => viewport.rig.view16(),
    fit: () => ({
      maps: fitView.maps !== null,
      map: fitView.map,
      bone: fitView.bone,
      shown: viewport.shows !== 'original',
      vertex: (index) => viewport.mesh.twinPosition(index).toArray(),
      place: (index) => {
        const at = place(viewport.mesh.twinPosition(index));
        return { ...at, x: at.x + (viewport.shows === 'both' ? viewport.canvas.clientWidth / 2 : 0) };
      },
    }),
    puppet: () => {
      const { source, camera, frame } = puppeteering;
      return { source, camera: camera.state, rate: camera.rate, ms: camera.ms, frame };
    },
    dropConnection: () => socket.drop(),
    draw: (on) => {
      viewport.drawing = on;
      viewport.request();
    },
  };
}
