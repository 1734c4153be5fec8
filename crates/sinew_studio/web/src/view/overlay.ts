// What lies above the picture in pixels: rotation centres, frames of selection, the brush's circle.
import { Vector3 } from 'three';
import { store } from '../app';
import { el } from '../ui/dom';
import type { Viewport } from './viewport';

export interface Shape {
  rect?: [number, number, number, number];
  path?: { x: number; y: number }[];
  circle?: { x: number; y: number; r: number; erase: boolean };
  /** From a rotation centre to the pointer. */
  spoke?: { x: number; y: number; toX: number; toY: number };
}

/** Radius of a dot in pixels where text is 13 px high; it grows with the text. */
const DOT = 3.5;
/** Pointer distance in pixels within which the pointer hits a centre. */
const REACH = 11;

export class Overlay {
  /** What else is drawn: targets, paths. Colours are by the names of the style. */
  readonly layers: ((g: CanvasRenderingContext2D, colour: (name: string) => string) => void)[] = [];
  private readonly canvas = el('canvas.overlay', { 'aria-hidden': 'true' });
  private shape: Shape = {};
  private textPx = 13;
  private queued = 0;

  constructor(private readonly viewport: Viewport) {
    viewport.element.append(this.canvas);
    viewport.afterDraw.push(() => this.draw());
    store.on('selection', () => viewport.request());
    store.on('tool', () => viewport.request());
  }

  /** Show what a tool is doing, without redrawing the surface below. */
  show(shape: Shape): void {
    this.shape = shape;
    if (this.queued === 0) this.queued = requestAnimationFrame(() => this.draw());
  }

  /** The handle whose rotation centre is under the pointer. */
  centreAt(x: number, y: number): string | null {
    let best: string | null = null;
    let least = REACH;
    for (const { name, point } of this.centres()) {
      const p = this.viewport.rig.project(point);
      const distance = Math.hypot(p.x - x, p.y - y);
      if (!p.behind && distance < least) [best, least] = [name, distance];
    }
    return best;
  }

  /** Rotation centre of a handle as displayed. */
  centre(name: string): Vector3 | null {
    const index = store.doc?.handles.findIndex((handle) => handle.name === name) ?? -1;
    if (index < 0) return null;
    return this.viewport.mesh.handleCentre(index) ?? new Vector3(...store.doc!.handles[index].center);
  }

  private centres(): { name: string; color: string; point: Vector3 }[] {
    return (store.doc?.handles ?? []).flatMap((handle) => {
      const point = store.hidden.has(handle.name) ? null : this.centre(handle.name);
      return point ? [{ name: handle.name, color: handle.color, point }] : [];
    });
  }

  private draw(): void {
    cancelAnimationFrame(this.queued);
    this.queued = 0;
    const { clientWidth, clientHeight } = this.viewport.element;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.canvas.width !== clientWidth * ratio || this.canvas.height !== clientHeight * ratio) {
      this.canvas.width = clientWidth * ratio;
      this.canvas.height = clientHeight * ratio;
    }
    const g = this.canvas.getContext('2d')!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, clientWidth, clientHeight);
    const style = getComputedStyle(this.canvas);
    this.textPx = Number.parseFloat(style.fontSize);
    // A clip moves the surface, and so do rules and flesh; handles stay.
    const what = store.doc?.display.what;
    const isClip = what === 'clip' || what === 'ruled' || what === 'jointed';
    const isOther = isClip || (store.doc?.fleshed?.on ?? false);
    if (store.centres && !isOther)
      this.drawCentres(g, style.getPropertyValue('--marker-edge'), style.getPropertyValue('--accent'));
    for (const layer of this.layers) layer(g, (name) => style.getPropertyValue(name));
    this.drawShape(g, style.getPropertyValue('--accent'), style.getPropertyValue('--accent-veil'));
  }

  private drawCentres(g: CanvasRenderingContext2D, edge: string, accent: string): void {
    const all = store.tool === 'centre';
    const dot = (DOT * this.textPx) / 13;
    for (const { name, color, point } of this.centres()) {
      const isMain = name === store.main;
      const isSecondary = store.secondary.has(name);
      const p = this.viewport.rig.project(point);
      if (p.behind) continue;
      g.globalAlpha = isMain || isSecondary || all ? 1 : 0.55;
      g.beginPath();
      g.arc(p.x, p.y, dot * (all || isMain ? 1.4 : 1), 0, 2 * Math.PI);
      g.fillStyle = color;
      g.fill();
      g.lineWidth = 1.5;
      g.strokeStyle = edge;
      g.stroke();
      if (!isMain) continue;
      g.beginPath();
      g.arc(p.x, p.y, dot * 2.4, 0, 2 * Math.PI);
      g.strokeStyle = accent;
      g.lineWidth = 2;
      g.stroke();
    }
    g.globalAlpha = 1;
  }

  private drawShape(g: CanvasRenderingContext2D, accent: string, veil: string): void {
    const { rect, path, circle, spoke } = this.shape;
    g.strokeStyle = accent;
    g.fillStyle = veil;
    g.lineWidth = 1.25;
    if (rect) {
      g.fillRect(...rect);
      g.strokeRect(...rect);
    }
    if (path && path.length > 1) {
      g.beginPath();
      for (const { x, y } of path) g.lineTo(x, y);
      g.closePath();
      g.fill();
      g.stroke();
    }
    if (circle) {
      g.beginPath();
      g.arc(circle.x, circle.y, circle.r, 0, 2 * Math.PI);
      g.setLineDash(circle.erase ? [4, 4] : []);
      g.stroke();
      g.setLineDash([]);
    }
    if (spoke) {
      g.setLineDash([3, 4]);
      g.beginPath();
      g.moveTo(spoke.x, spoke.y);
      g.lineTo(spoke.toX, spoke.toY);
      g.stroke();
      g.setLineDash([]);
    }
  }
}
