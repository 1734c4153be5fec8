// A round brush: painting, erasing, sculpting. Strokes go to the server in pieces, one at a time.
import { Vector3 } from 'three';
import { store } from '../app';
import type { Point } from '../net/protocol';
import { ensureDisplay, pick, type Stage, type Tool } from './tool';

/** Share of the radius between the points of a stroke. */
const SPACING = 0.3;

let nextStroke = 1 + Math.floor(Math.random() * 2 ** 30);

/** A part of a stroke: places on the screen, and how large the brush is on the surface. */
export interface Piece {
  view: number[];
  at: Point[];
  radius: number;
}

/** What is done with a stroke. */
export interface BrushWork {
  /** The shape it works on; null for any. */
  display: 'rest' | 'posed' | null;
  /** Whether the circle is drawn as one that takes away. */
  takes(event: PointerEvent): boolean;
  /** Single faces rather than a circle. */
  faces(): boolean;
  /** A press: how its pieces are sent, or null if there is nothing to work on. False if it failed. */
  begin(event: PointerEvent): ((piece: Piece, stroke: number) => Promise<boolean>) | null;
}

interface Stroke {
  number: number;
  send: (piece: Piece, stroke: number) => Promise<boolean>;
  view: number[];
  radius: number | null;
  waiting: Point[];
  last: { x: number; y: number };
  sending: boolean;
}

/** Places of a stroke that the server looks at in one message. */
const MOST_PLACES = 256;

export class BrushTool implements Tool {
  readonly cursor = 'none';
  private stroke: Stroke | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly work: BrushWork,
  ) {}

  down(event: PointerEvent): void {
    if (this.work.display !== null && !ensureDisplay(this.work.display)) return;
    const { options } = store;
    const send = this.work.begin(event);
    if (!send) return;
    const { viewport } = this.stage;
    const stroke: Stroke = {
      number: nextStroke++,
      send,
      view: viewport.rig.view16(),
      radius: this.work.faces() ? 0 : null,
      waiting: [viewport.ndc(event)],
      last: viewport.pixel(event),
      sending: false,
    };
    this.stroke = stroke;
    if (stroke.radius === 0) return this.send(stroke);
    // The circle is in pixels; how large that is on the surface depends on how far it is.
    void pick(this.stage, event).then((picked) => {
      const { bounds } = store.doc!;
      const at = picked
        ? new Vector3(...picked.position)
        : new Vector3(...bounds[0]).add(new Vector3(...bounds[1])).multiplyScalar(0.5);
      stroke.radius = options.brushPx * viewport.rig.metresPerPixel(at);
      this.send(stroke);
    });
  }

  move(event: PointerEvent): void {
    this.hover(event);
    const stroke = this.stroke;
    if (!stroke) return;
    // Between two events the browser may have seen more points; a fast stroke must have no gaps.
    for (const part of event.getCoalescedEvents?.() ?? [event]) this.extend(stroke, part);
    this.send(stroke);
  }

  up(event: PointerEvent): void {
    this.hover(event);
    if (this.stroke) this.send(this.stroke);
    this.stroke = null;
  }

  hover(event: PointerEvent): void {
    const { x, y } = this.stage.viewport.pixel(event);
    this.stage.overlay.show({
      circle: { x, y, r: this.work.faces() ? 3 : store.options.brushPx, erase: this.work.takes(event) },
    });
  }

  cancel(): void {
    // What has been sent is one step to undo; the rest is not sent.
    if (this.stroke) this.stroke.waiting.length = 0;
    this.stroke = null;
    this.stage.overlay.show({});
  }

  private extend(stroke: Stroke, event: PointerEvent): void {
    const { viewport } = this.stage;
    const to = viewport.pixel(event);
    const step = this.work.faces() ? 2 : Math.max(2, store.options.brushPx * SPACING);
    const length = Math.hypot(to.x - stroke.last.x, to.y - stroke.last.y);
    const { clientWidth, clientHeight } = viewport.canvas;
    for (let at = step; at <= length; at += step) {
      const x = stroke.last.x + ((to.x - stroke.last.x) * at) / length;
      const y = stroke.last.y + ((to.y - stroke.last.y) * at) / length;
      stroke.waiting.push([(x / clientWidth) * 2 - 1, 1 - (y / clientHeight) * 2]);
    }
    if (length >= step) stroke.last = to;
  }

  private send(stroke: Stroke): void {
    if (stroke.sending || stroke.radius === null || stroke.waiting.length === 0) return;
    const at = stroke.waiting.splice(0, MOST_PLACES);
    stroke.sending = true;
    void stroke.send({ view: stroke.view, at, radius: stroke.radius }, stroke.number).then((ok) => {
      stroke.sending = false;
      if (ok) this.send(stroke);
      else if (this.stroke === stroke) this.stroke = null;
    });
  }
}
