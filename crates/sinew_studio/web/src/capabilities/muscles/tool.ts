// The muscle tool: a click places the chosen template; dragging the skin fits the selected muscle until it follows.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Press } from '../../tools/press';
import { type HeldVertex, SkinDragTool } from '../../tools/skin_drag';
import type { Stage } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { type Colour, line, ring } from '../../view/draw';
import { isLive, setLive } from '../flesh/state';
import { muscles, muscleView, placeMuscle } from './state';

export class MuscleTool extends SkinDragTool {
  readonly cursor = 'crosshair';

  constructor(stage: Stage) {
    super(stage);
    muscleView.on('change', () => stage.overlay.show({}));
  }

  protected find(event: PointerEvent): null | Promise<HeldVertex | null> {
    this.to = null;
    if (muscleView.template) return null;
    return this.hold(event);
  }

  protected drag(press: Press<HeldVertex>, { vertex, from }: HeldVertex, event: PointerEvent): void {
    const { chosen } = muscleView;
    if (!chosen?.template) {
      this.forget();
      toast(
        'info',
        'Place a muscle on the body first: drag a template out of the Muscles panel, or choose one and click.',
      );
      return;
    }
    if (!isLive()) setLive(true);
    this.send(press, from, event, (to) => ({ flesh: { fit: { muscle: chosen.name, vertex, to } } }));
  }

  protected override click(_held: HeldVertex | null, event: PointerEvent): void {
    const { template } = muscleView;
    if (template) void placeMuscle(this.stage.viewport, template, this.stage.viewport.ndc(event));
  }

  /** Where templates are at rest, and how far the skin is pulled. */
  protected draw(g: CanvasRenderingContext2D, colour: Colour): void {
    if (store.tool !== 'muscle') return;
    const { viewport } = this.stage;
    for (const { name, center, reach } of muscles()?.muscles ?? []) {
      if (!center) continue;
      const middle = new Vector3(...center);
      const at = viewport.rig.project(middle);
      if (at.behind) continue;
      const isChosen = name === muscleView.chosen?.name;
      g.strokeStyle = colour(isChosen ? '--accent' : '--text-2');
      g.lineWidth = isChosen ? 2 : 1.25;
      g.setLineDash([4, 4]);
      ring(g, at, reach / viewport.rig.metresPerPixel(middle));
      g.setLineDash([]);
      g.font = '600 12px system-ui, sans-serif';
      g.fillStyle = colour('--text');
      g.fillText(name, at.x + 6, at.y - 6);
    }
    const found = this.press?.found;
    if (!this.to || !found) return;
    g.strokeStyle = colour('--accent');
    g.lineWidth = 2;
    line(g, [viewport.rig.project(viewport.mesh.position(found.vertex)), viewport.rig.project(this.to)]);
  }
}
