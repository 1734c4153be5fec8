// Hands on the flesh: hold the surface and pull, or push it; it is simulated meanwhile.
import { Vector3 } from 'three';
import { ask, store } from '../app';
import { isLive, setLive } from '../fleshing';
import { toast } from '../ui/toast';
import { PoseGesture } from './gesture';
import { line } from './reach';
import { pick, screenAxis, screenVector, strayed, type Stage, type Tool } from './tool';

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  /** Undefined until the server has said what is under the pointer. */
  vertex: number | null | undefined;
  from: Vector3 | null;
  to: Vector3 | null;
  gesture?: PoseGesture;
}

export class FleshTool implements Tool {
  readonly cursor = 'grab';
  private press: Press | null = null;

  constructor(private readonly stage: Stage) {
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
  }

  down(event: PointerEvent): void {
    if (!isLive()) {
      setLive(true);
      toast('info', 'The body is filled with flesh; take hold of it when it moves.');
      return;
    }
    const pushes = (store.options.fleshOp === 'push') !== event.shiftKey;
    const press: Press = { start: event, last: event, vertex: undefined, from: null, to: null };
    this.press = press;
    void pick(this.stage, event).then((picked) => {
      press.vertex = picked?.vertex ?? null;
      if (!picked) return;
      if (pushes) {
        if (this.press === press) this.press = null;
        const direction = screenAxis(this.stage).negate().toArray();
        void ask({ type: 'flesh_push', vertex: picked.vertex, direction });
        return;
      }
      press.from = this.stage.viewport.mesh.position(picked.vertex);
      if (this.press === press) this.move(press.last);
    });
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    if (press.vertex === undefined || (!press.gesture && !strayed(press.start, event))) return;
    if (press.vertex === null || !press.from) {
      this.stage.viewport.rig.orbit(event.clientX - before.clientX, event.clientY - before.clientY);
      return;
    }
    press.to = press.from.clone().add(screenVector(this.stage, press.start, event, press.from));
    press.gesture ??= new PoseGesture('', []);
    press.gesture.update({ flesh: { grab: { vertex: press.vertex, to: press.to.toArray() } } }, event.timeStamp);
    this.stage.overlay.show({});
  }

  up(): void {
    this.press?.gesture?.end();
    this.press = null;
    this.stage.overlay.show({});
  }

  cancel(): void {
    this.up();
  }

  private draw(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    const { press } = this;
    if (!press?.to || press.vertex === null || press.vertex === undefined) return;
    const at = this.stage.viewport.rig.project(this.stage.viewport.mesh.position(press.vertex));
    const to = this.stage.viewport.rig.project(press.to);
    g.strokeStyle = colour('--accent');
    g.lineWidth = 2;
    line(g, [at, to]);
    g.beginPath();
    g.arc(to.x, to.y, 6, 0, 2 * Math.PI);
    g.stroke();
  }
}
