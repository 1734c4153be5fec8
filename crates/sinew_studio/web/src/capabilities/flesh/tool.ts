// The flesh tool: hold the surface and pull it, or push it, while it is simulated.
import type { Vector3 } from 'three';
import { ask } from '../../app';
import { PoseGesture } from '../../tools/gesture';
import { type Press, PressTool } from '../../tools/press';
import { pick, type Stage, screenAxis, screenVector } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { type Colour, line, ring } from '../../view/draw';
import { fleshOptions, isLive, setLive } from './state';

interface Held {
  vertex: number;
  from: Vector3;
}

export class FleshTool extends PressTool<Held> {
  readonly cursor = 'grab';
  private to: Vector3 | null = null;

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
  }

  protected find(event: PointerEvent): undefined | Promise<Held | null> {
    this.to = null;
    if (!isLive()) {
      setLive(true);
      toast('info', 'The body is being filled with flesh; drag it as soon as it moves.');
      return undefined;
    }
    const pushes = (fleshOptions.value.op === 'push') !== event.shiftKey;
    return pick(this.stage, event).then((picked) => {
      if (!picked) return null;
      if (pushes) {
        const direction = screenAxis(this.stage).negate().toArray();
        void ask({ type: 'flesh_push', vertex: picked.vertex, direction });
        this.forget();
        return null;
      }
      return { vertex: picked.vertex, from: this.stage.viewport.mesh.position(picked.vertex) };
    });
  }

  protected drag(press: Press<Held>, { vertex, from }: Held, event: PointerEvent): void {
    this.to = from.clone().add(screenVector(this.stage, press.start, event, from));
    const gesture = (press.gesture ??= new PoseGesture('', [])) as PoseGesture;
    gesture.update({ flesh: { grab: { vertex, to: this.to.toArray() } } }, event.timeStamp);
    this.stage.overlay.show({});
  }

  override cancel(): void {
    // The flesh springs back.
    this.press?.gesture?.end();
    this.forget();
    super.cancel();
  }

  private draw(g: CanvasRenderingContext2D, colour: Colour): void {
    const found = this.press?.found;
    if (!this.to || !found) return;
    const { rig, mesh } = this.stage.viewport;
    const to = rig.project(this.to);
    g.strokeStyle = colour('--accent');
    g.lineWidth = 2;
    line(g, [rig.project(mesh.position(found.vertex)), to]);
    ring(g, to, 6);
  }
}
