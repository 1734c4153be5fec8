// Reaching with the mouse: press a handle and drag, or drag a target that is there; a click puts one.
import { Vector3 } from 'three';
import { store } from '../app';
import type { ReachTarget } from '../net/protocol';
import { ReachGesture, hasTarget, reach, wish, withTarget } from '../reaching';
import { ensureDisplay, pick, screenVector, strayed, type Stage, type Tool } from './tool';

/** Pixels within which a target is meant. */
const REACH = 13;

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  /** Undefined until the server has said what is under the pointer. */
  handle: string | null | undefined;
  from: Vector3 | null;
  /** Whether the press puts a target that was not there. */
  isNew: boolean;
  moved: boolean;
  released: boolean;
  gesture?: ReachGesture;
}

export class ReachTool implements Tool {
  readonly cursor = 'default';
  private press: Press | null = null;

  constructor(private readonly stage: Stage) {
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    store.on('reach', () => stage.overlay.show({}));
  }

  down(event: PointerEvent): void {
    if (!ensureDisplay('posed')) return;
    const target = this.targetAt(event);
    const press: Press = {
      start: event,
      last: event,
      handle: target?.handle,
      from: target ? new Vector3(...target.position) : null,
      isNew: false,
      moved: false,
      released: false,
    };
    this.press = press;
    if (target) return store.selectMain(target.handle, true);
    void pick(this.stage, event).then((picked) => {
      press.handle = picked?.handle ?? null;
      if (press.handle !== null) press.from = this.middle(press.handle);
      press.isNew = !hasTarget(press.handle);
      if (press.released) this.catchUp(press);
      else if (press.moved) this.move(press.last);
    });
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    press.moved ||= strayed(press.start, event);
    if (!press.moved || press.handle === undefined) return;
    if (press.handle === null || press.from === null) {
      this.stage.viewport.rig.orbit(event.clientX - before.clientX, event.clientY - before.clientY);
      return;
    }
    if (!press.gesture) {
      press.gesture = new ReachGesture();
      store.selectMain(press.handle, true);
    }
    const to = press.from.clone().add(screenVector(this.stage, press.start, event, press.from));
    press.gesture.update({ targets: withTarget(press.handle, to.toArray()) }, event.timeStamp);
  }

  up(): void {
    const { press } = this;
    this.press = null;
    if (!press) return;
    press.released = true;
    press.gesture?.end();
    if (!press.moved && press.handle !== undefined) this.click(press);
  }

  /** The server said what was pressed after the hand had let go: what it did is done now. */
  private catchUp(press: Press): void {
    if (!press.moved) return this.click(press);
    if (press.handle === null) return;
    const other = this.press;
    this.press = press;
    this.move(press.last);
    this.press = other;
    press.gesture?.end();
  }

  cancel(): void {
    const { press } = this;
    this.press = null;
    if (!press?.gesture || !press.handle || !press.from) return;
    const { handle, from } = press;
    const targets = press.isNew
      ? wish().targets.filter((target) => target.handle !== handle)
      : withTarget(handle, from.toArray());
    press.gesture.update({ targets }, performance.now());
    press.gesture.end();
  }

  private click({ handle, moved }: Press): void {
    if (moved || !handle) return;
    store.selectMain(handle, true);
    if (!hasTarget(handle)) reach({ targets: withTarget(handle, null) });
  }

  private targetAt(event: PointerEvent): ReachTarget | undefined {
    const { x, y } = this.stage.viewport.pixel(event);
    return store.doc?.reach?.targets.find(({ position }) => {
      const p = this.stage.viewport.rig.project(new Vector3(...position));
      return !p.behind && Math.hypot(p.x - x, p.y - y) < REACH;
    });
  }

  /** Middle of a handle's vertices as displayed: what is brought to a target. */
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

  private draw(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    if (store.doc?.display.what !== 'posed') return;
    for (const target of store.doc.reach?.targets ?? []) {
      const to = this.stage.viewport.rig.project(new Vector3(...target.position));
      const at = this.stage.viewport.rig.project(new Vector3(...target.at));
      if (to.behind) continue;
      g.strokeStyle = g.fillStyle = colour(target.pin ? '--warning' : '--accent');
      g.lineWidth = 1.25;
      g.setLineDash([3, 3]);
      line(g, [at, to]);
      g.setLineDash([]);
      g.lineWidth = target.handle === store.main ? 2.5 : 1.75;
      const r = target.handle === store.main ? 8 : 6.5;
      g.beginPath();
      if (target.pin) g.rect(to.x - r, to.y - r, 2 * r, 2 * r);
      else g.arc(to.x, to.y, r, 0, 2 * Math.PI);
      g.stroke();
      line(g, [{ x: to.x - r - 4, y: to.y }, { x: to.x + r + 4, y: to.y }]);
      line(g, [{ x: to.x, y: to.y - r - 4 }, { x: to.x, y: to.y + r + 4 }]);
    }
  }
}

export function line(g: CanvasRenderingContext2D, points: { x: number; y: number }[]): void {
  g.beginPath();
  for (const { x, y } of points) g.lineTo(x, y);
  g.stroke();
}
