// Reaching with the mouse: press a handle and drag, or drag an existing target; a click adds one.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { ReachTarget } from '../../net/protocol';
import { type Press, PressTool } from '../../tools/press';
import { ensureDisplay, pick, type Stage, screenVector } from '../../tools/tool';
import { type Colour, line, ring } from '../../view/draw';
import { ReachGesture, reach, request, targetOf, withTarget } from './state';

/** Pixels within which the pointer hits a target. */
const HIT_PX = 13;

interface Found {
  handle: string;
  from: Vector3 | null;
  /** Whether the press adds a target. */
  isNew: boolean;
}

export class ReachTool extends PressTool<Found> {
  readonly cursor = 'default';

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    store.on('reach', () => stage.overlay.show({}));
  }

  protected find(event: PointerEvent): Found | undefined | Promise<Found | null> {
    if (!ensureDisplay('posed')) return undefined;
    const target = this.targetAt(event);
    if (target) {
      store.selectMain(target.handle, true);
      return { handle: target.handle, from: new Vector3(...target.position), isNew: false };
    }
    return pick(this.stage, event).then((picked) => {
      const handle = picked?.handle ?? null;
      return handle === null ? null : { handle, from: this.middle(handle), isNew: !targetOf(handle) };
    });
  }

  protected drag(press: Press<Found>, { handle, from, isNew }: Found, event: PointerEvent): void {
    if (!from) return;
    if (!press.gesture) {
      store.selectMain(handle, true);
      press.gesture = this.begin(handle, from, isNew);
    }
    const to = from.clone().add(screenVector(this.stage, press.start, event, from));
    (press.gesture as ReachGesture).update({ targets: withTarget(handle, to.toArray()) }, event.timeStamp);
  }

  protected override click(found: Found | null): void {
    if (!found) return;
    store.selectMain(found.handle, true);
    if (!targetOf(found.handle)) reach({ targets: withTarget(found.handle, null) });
  }

  private begin(handle: string, from: Vector3, isNew: boolean): ReachGesture {
    const gesture = new ReachGesture();
    const cancel = (): void => {
      const others = request().targets.filter((target) => target.handle !== handle);
      gesture.update({ targets: isNew ? others : withTarget(handle, from.toArray()) }, performance.now());
      gesture.end();
    };
    return Object.assign(gesture, { cancel });
  }

  private targetAt(event: PointerEvent): ReachTarget | undefined {
    const { x, y } = this.stage.viewport.pixel(event);
    return store.doc?.reach?.targets.find(({ position }) => {
      const p = this.stage.viewport.rig.project(new Vector3(...position));
      return !p.behind && Math.hypot(p.x - x, p.y - y) < HIT_PX;
    });
  }

  /** Middle of a handle's vertices as displayed: what is moved to a target. */
  private middle(handle: string): Vector3 | null {
    const { mesh } = this.stage.viewport;
    const index = store.doc?.handles.findIndex(({ name }) => name === handle) ?? -1;
    const [sum, point] = [new Vector3(), new Vector3()];
    let n = 0;
    for (let v = 0; v < mesh.n; v++) {
      if (mesh.owners[v] !== index) continue;
      sum.add(mesh.position(v, point));
      n++;
    }
    return n > 0 ? sum.divideScalar(n) : null;
  }

  private draw(g: CanvasRenderingContext2D, colour: Colour): void {
    if (store.doc?.display.what !== 'posed') return;
    for (const target of store.doc.reach?.targets ?? []) {
      const to = this.stage.viewport.rig.project(new Vector3(...target.position));
      const at = this.stage.viewport.rig.project(new Vector3(...target.at));
      if (to.behind) continue;
      const isMain = target.handle === store.main;
      g.strokeStyle = g.fillStyle = colour(target.pin ? '--warning' : '--accent');
      g.lineWidth = 1.25;
      g.setLineDash([3, 3]);
      line(g, [at, to]);
      g.setLineDash([]);
      g.lineWidth = isMain ? 2.5 : 1.75;
      const r = isMain ? 8 : 6.5;
      if (target.pin) g.strokeRect(to.x - r, to.y - r, 2 * r, 2 * r);
      else ring(g, to, r);
      line(g, [
        { x: to.x - r - 4, y: to.y },
        { x: to.x + r + 4, y: to.y },
      ]);
      line(g, [
        { x: to.x, y: to.y - r - 4 },
        { x: to.x, y: to.y + r + 4 },
      ]);
    }
  }
}
