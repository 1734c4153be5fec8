// The flesh tool: hold the surface and pull it, or push it, while it is simulated.
import { ask } from '../../app';
import type { Press } from '../../tools/press';
import { type HeldVertex, SkinDragTool } from '../../tools/skin_drag';
import { screenAxis } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { type Colour, line, ring } from '../../view/draw';
import { fleshOptions, isLive, setLive } from './state';

export class FleshTool extends SkinDragTool {
  readonly cursor = 'grab';

  protected find(event: PointerEvent): undefined | Promise<HeldVertex | null> {
    this.to = null;
    if (!isLive()) {
      setLive(true);
      toast('info', 'The body is being filled with flesh; drag it as soon as it moves.');
      return undefined;
    }
    const pushes = (fleshOptions.value.op === 'push') !== event.shiftKey;
    return this.hold(event).then((held) => {
      if (!held || !pushes) return held;
      const direction = screenAxis(this.stage).negate().toArray();
      void ask({ type: 'flesh_push', vertex: held.vertex, direction });
      this.forget();
      return null;
    });
  }

  protected drag(press: Press<HeldVertex>, { vertex, from }: HeldVertex, event: PointerEvent): void {
    this.send(press, from, event, (to) => ({ flesh: { grab: { vertex, to } } }));
  }

  override cancel(): void {
    // The flesh springs back.
    this.press?.gesture?.end();
    this.forget();
    super.cancel();
  }

  protected draw(g: CanvasRenderingContext2D, colour: Colour): void {
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
