// Box and lasso: a frame drawn on the screen becomes part of a handle.
import type { Point } from '../../net/protocol';
import { clickSelect, ensureDisplay, pick, type Stage, strayed, type Tool } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { handleOptions } from './state';
import { paint, regionTarget } from './target';

/** Pixels between the points of a lasso. */
const SPACING = 4;

export class RegionTool implements Tool {
  readonly cursor = 'crosshair';
  private start: PointerEvent | null = null;
  /** A lasso ends where it began, so that its end does not matter. */
  private moved = false;
  private path: { x: number; y: number; at: Point }[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly kind: 'box' | 'lasso',
  ) {}

  down(event: PointerEvent): void {
    if (!ensureDisplay('rest')) return;
    this.start = event;
    this.moved = false;
    this.path = [this.point(event)];
  }

  move(event: PointerEvent): void {
    if (!this.start) return;
    this.moved ||= strayed(this.start, event);
    const next = this.point(event);
    const last = this.path[this.path.length - 1];
    if (this.kind === 'box') this.path = [this.path[0], next];
    else if (Math.hypot(next.x - last.x, next.y - last.y) >= SPACING) this.path.push(next);
    this.stage.overlay.show(this.kind === 'box' ? { rect: this.rect(next) } : { path: this.path });
  }

  up(event: PointerEvent): void {
    const start = this.start;
    if (!start) return;
    const path = this.path;
    this.cancel();
    if (!this.moved) {
      void pick(this.stage, event).then((picked) => clickSelect(picked?.handle ?? null, start));
      return;
    }
    const target = regionTarget(start);
    if (!target) {
      toast('info', 'Select the handle to subtract from first.');
      return;
    }
    const view = this.stage.viewport.rig.view16();
    const { mode } = handleOptions.value;
    const region =
      this.kind === 'box'
        ? { box: { view, from: path[0].at, to: this.point(event).at, mode } }
        : { lasso: { view, points: path.map((p) => p.at), mode } };
    void paint(target, region);
  }

  cancel(): void {
    this.start = null;
    this.path = [];
    this.stage.overlay.show({});
  }

  private point(event: PointerEvent): { x: number; y: number; at: Point } {
    return { ...this.stage.viewport.pixel(event), at: this.stage.viewport.ndc(event) };
  }

  private rect(to: { x: number; y: number }): [number, number, number, number] {
    const from = this.path[0];
    return [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
  }
}
