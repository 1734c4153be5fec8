// Drawing paths: a walk on the ground, or the path of a handle in space. Clicks add points, drags move them.
import { Vector3 } from 'three';
import { socket, store } from '../../app';
import type { Vec3 } from '../../net/protocol';
import { type Press, PressTool } from '../../tools/press';
import { type Stage, screenVector } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { type Colour, dot, line } from '../../view/draw';
import { guessFeet, pathOptions, points, removePoint, setPoints } from './state';

/** Pixels within which the pointer hits a point, or a line between two. */
const HIT_PX = 11;

let chosen: number | null = null;

export const chosenPoint = (): number | null => (chosen !== null && chosen < points().length ? chosen : null);

export function removeChosen(): void {
  if (chosenPoint() !== null) removePoint(chosen!);
  chosen = null;
}

const isWalk = (): boolean => pathOptions.value.path === 'walk';

export class PathTool extends PressTool<number> {
  readonly cursor = 'crosshair';
  /** Where a dragged point is at present, before the server has answered. */
  private draft: { index: number; at: Vec3 } | null = null;
  private asking = false;

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    store.on('doc', () => {
      if (!this.press) this.draft = null;
    });
  }

  protected find(event: PointerEvent): number | null {
    chosen = this.pointAt(event);
    this.stage.overlay.show({});
    return chosen;
  }

  protected drag(press: Press<number>, index: number, event: PointerEvent): void {
    const point = points()[index];
    if (!point) return;
    if (isWalk()) {
      if (!this.asking) void this.follow(index, event);
      return;
    }
    const from = new Vector3(...point);
    const at = from.clone().add(screenVector(this.stage, press.start, event, from));
    this.draft = { index, at: at.toArray() };
    this.stage.overlay.show({});
  }

  protected override drop({ found }: Press<number>, event: PointerEvent): void {
    if (found != null) void this.put(found, event);
  }

  protected override click(index: number | null, event: PointerEvent): void {
    if (index === null) void this.add(event);
  }

  override cancel(): void {
    this.draft = null;
    super.cancel();
  }

  private async put(index: number, event: PointerEvent): Promise<void> {
    const at = isWalk() ? await this.ground(event) : (this.draft?.at ?? null);
    if (at) setPoints(points().map((point, i) => (i === index ? at : point)));
    else this.draft = null;
  }

  private async follow(index: number, event: PointerEvent): Promise<void> {
    this.asking = true;
    const at = await this.ground(event);
    this.asking = false;
    if (!at || !this.press) return;
    this.draft = { index, at };
    this.stage.overlay.show({});
  }

  private async ground(event: PointerEvent): Promise<Vec3 | null> {
    const { viewport } = this.stage;
    try {
      const view = viewport.rig.view16();
      const hit = await socket.ask<{ position: Vec3 } | null>({ type: 'pick_ground', view, at: viewport.ndc(event) });
      return hit?.position ?? null;
    } catch {
      return null;
    }
  }

  private async add(event: PointerEvent): Promise<void> {
    const list = points();
    const between = this.segmentAt(event);
    if (isWalk()) {
      if (!guessFeet())
        return void toast('info', 'A walk needs two handles for feet: paint them, or find handles automatically.');
      const at = await this.ground(event);
      if (!at) return void toast('info', 'No ground there: look down on it and click again.');
      // The first click is the goal; the walk begins where the body is.
      const before = list.length === 0 ? [[0, 0, 0] as Vec3] : list;
      return setPoints(insert(before, between, at));
    }
    if (list.length === 0) return;
    const near = new Vector3(...list[between ?? list.length - 1]);
    const p = this.stage.viewport.rig.project(near);
    const pixel = this.stage.viewport.pixel(event);
    const scale = this.stage.viewport.rig.metresPerPixel(near);
    const shift = new Vector3((pixel.x - p.x) * scale, (p.y - pixel.y) * scale, 0);
    setPoints(insert(list, between, near.add(shift.applyQuaternion(this.stage.viewport.rig.quaternion)).toArray()));
  }

  private pointAt(event: PointerEvent): number | null {
    const { x, y } = this.stage.viewport.pixel(event);
    const index = this.screen(points()).findIndex((p) => !p.behind && Math.hypot(p.x - x, p.y - y) < HIT_PX);
    return index < 0 ? null : index;
  }

  /** The point after which a new one lies between two; null if at none. */
  private segmentAt(event: PointerEvent): number | null {
    const { x, y } = this.stage.viewport.pixel(event);
    const list = this.screen(points());
    for (let i = 0; i + 1 < list.length; i++) {
      const [a, b] = [list[i], list[i + 1]];
      const length = (b.x - a.x) ** 2 + (b.y - a.y) ** 2;
      const t = length > 0 ? ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / length : 0;
      const off = Math.hypot(a.x + t * (b.x - a.x) - x, a.y + t * (b.y - a.y) - y);
      if (t > 0 && t < 1 && off < HIT_PX) return i;
    }
    return null;
  }

  private screen(list: Vec3[]): { x: number; y: number; behind: boolean }[] {
    return list.map((point) => this.stage.viewport.rig.project(new Vector3(...point)));
  }

  private draw(g: CanvasRenderingContext2D, colour: Colour): void {
    const drawn = store.doc?.drawn;
    if (!drawn) return;
    const isMine = store.tool === 'path';
    g.lineWidth = 2;
    const curve = (list: Vec3[], name: string, alpha: number): void => {
      g.strokeStyle = colour(name);
      g.globalAlpha = alpha;
      const seen = this.screen(list).filter((p) => !p.behind);
      if (seen.length > 1) line(g, seen);
    };
    drawn.feet.forEach((foot, k) => curve(foot, k === 0 ? '--axis-x' : '--axis-z', isMine ? 0.6 : 0.25));
    curve(drawn.line, '--accent', isMine && isWalk() ? 1 : 0.45);
    drawn.curves.forEach((list, i) => curve(list, '--good', isMine && pathOptions.value.path === i ? 1 : 0.45));
    g.globalAlpha = 1;
    if (isMine) this.drawPoints(g, colour);
  }

  private drawPoints(g: CanvasRenderingContext2D, colour: Colour): void {
    const { draft } = this;
    const list = points().map((point, i) => (draft?.index === i ? draft.at : point));
    if (draft) {
      g.strokeStyle = colour('--text-3');
      g.setLineDash([3, 3]);
      line(g, this.screen(list));
      g.setLineDash([]);
    }
    this.screen(list).forEach((p, i) => {
      if (p.behind) return;
      dot(g, p, i === chosen ? 7 : 5, colour(i === chosen ? '--accent' : '--text'), colour('--marker-edge'), 1.5);
    });
  }
}

const insert = (list: Vec3[], after: number | null, at: Vec3): Vec3[] =>
  after === null ? [...list, at] : [...list.slice(0, after + 1), at, ...list.slice(after + 1)];
