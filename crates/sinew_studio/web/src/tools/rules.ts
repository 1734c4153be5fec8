// Rules in the picture: joints and markers are clicked to write a line, markers and planes are dragged, and what is off
// is drawn on the body.
import { Vector3 } from 'three';
import { socket, store } from '../app';
import type { RulesChange, RulePlane, Vec3 } from '../net/protocol';
import { change, freeName, rules, writing } from '../ruling';
import { toast } from '../ui/toast';
import { PoseGesture } from './gesture';
import { line } from './reach';
import { pick, screenVector, strayed, type Stage, type Tool } from './tool';

/** Pixels within which a joint or a marker is meant. */
const REACH = 12;

type Part = 'joint' | 'marker' | 'plane' | 'tip';

interface Thing {
  part: Part;
  name: string;
  at: Vec3;
}

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  thing: Thing | null;
  moved: boolean;
  gesture?: PoseGesture;
}

export class RulesTool implements Tool {
  readonly cursor = 'default';
  private press: Press | null = null;
  private hovered: Thing | null = null;

  constructor(private readonly stage: Stage) {
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    store.on('doc', () => stage.overlay.show({}));
    writing.on('change', () => stage.overlay.show({}));
  }

  down(event: PointerEvent): void {
    this.press = { start: event, last: event, thing: this.thingAt(event), moved: false };
  }

  hover(event: PointerEvent): void {
    const before = this.hovered;
    this.hovered = this.thingAt(event);
    if (before?.name !== this.hovered?.name || before?.part !== this.hovered?.part) {
      this.stage.viewport.canvas.style.cursor = this.hovered ? 'pointer' : writing.slot ? 'crosshair' : 'default';
      this.stage.overlay.show({});
    }
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    press.moved ||= strayed(press.start, event);
    if (!press.moved) return;
    if (!press.thing || press.thing.part === 'joint') {
      this.stage.viewport.rig.orbit(event.clientX - before.clientX, event.clientY - before.clientY);
      return;
    }
    press.gesture ??= new PoseGesture('', []);
    press.gesture.update({ rules: this.moved(press.thing, press.start, event) }, event.timeStamp);
  }

  up(event: PointerEvent): void {
    const { press } = this;
    this.press = null;
    if (!press) return;
    press.gesture?.end();
    if (!press.moved) this.click(press.thing, event);
  }

  cancel(): void {
    this.press?.gesture?.cancel();
    this.press = null;
    writing.begin(null);
  }

  /** Where a hand has brought a marker, a plane, or the tip of its normal. */
  private moved({ part, name, at }: Thing, from: PointerEvent, to: PointerEvent): RulesChange {
    const start = new Vector3(...at);
    const there = start.clone().add(screenVector(this.stage, from, to, start)).toArray() as Vec3;
    if (part === 'marker') return { marker: { name, position: there } };
    const plane = rules().planes.find((other) => other.name === name)!;
    if (part === 'plane') return { plane: { name, point: there, normal: plane.normal } };
    const normal = new Vector3(...there).sub(new Vector3(...plane.point));
    return { plane: { name, point: plane.point, normal: normal.lengthSq() > 1e-9 ? (normal.normalize().toArray() as Vec3) : plane.normal } };
  }

  private click(thing: Thing | null, event: PointerEvent): void {
    const { slot } = writing;
    if (!slot) return;
    if (slot === 'plane') {
      if (thing && (thing.part === 'plane' || thing.part === 'tip')) writing.pick(thing.name);
      else if (rules().planes.length === 0) void toast('info', 'There is no plane yet: add one in the panel.');
      return;
    }
    if (thing && (thing.part === 'joint' || (thing.part === 'marker' && slot === 'point'))) writing.pick(thing.name);
    else if (!thing && slot === 'point') void this.putMarker(event);
  }

  /** A marker on the surface or on the ground under the pointer, and the rule goes on with it. */
  private async putMarker(event: PointerEvent): Promise<void> {
    const { viewport } = this.stage;
    const hit = await pick(this.stage, event);
    let position = hit?.position ?? null;
    if (!position) {
      const ask = { type: 'pick_ground' as const, view: viewport.rig.view16(), at: viewport.ndc(event) };
      position = (await socket.ask<{ position: Vec3 } | null>(ask).catch(() => null))?.position ?? null;
    }
    if (!position) return void toast('info', 'There is neither body nor ground: click elsewhere.');
    const name = freeName('Marker');
    if ((await change({ marker: { name, position } })) !== undefined) writing.pick(name);
  }

  private thingAt(event: PointerEvent): Thing | null {
    const { x, y } = this.stage.viewport.pixel(event);
    let best: Thing | null = null;
    let least = REACH;
    for (const thing of this.things()) {
      const p = this.stage.viewport.rig.project(new Vector3(...thing.at));
      // Markers lie upon joints that are pinned to them, and are what is dragged; joints are what rules begin with.
      const favour = thing.part === 'joint' ? (writing.slot === 'joint' ? -4 : 0) : -3;
      const distance = Math.hypot(p.x - x, p.y - y) + favour;
      if (!p.behind && distance < least) [best, least] = [thing, distance];
    }
    return best;
  }

  private things(): Thing[] {
    const { ruled } = store.doc ?? {};
    const { markers, planes } = rules();
    const joint = writing.slot === 'plane' ? [] : (ruled?.joints ?? []).map(({ name, position }): Thing => ({ part: 'joint', name, at: position }));
    const marker = writing.slot === 'joint' || writing.slot === 'plane' ? [] : markers.map(({ name, position }): Thing => ({ part: 'marker', name, at: position }));
    return [
      ...joint,
      ...marker,
      ...planes.flatMap((plane): Thing[] => [
        { part: 'plane', name: plane.name, at: plane.point },
        { part: 'tip', name: plane.name, at: tip(plane) },
      ]),
    ];
  }

  private draw(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    if (store.doc?.display.what !== 'ruled') return;
    for (const plane of rules().planes) this.drawPlane(g, colour, plane);
    this.drawBones(g, colour);
    this.drawMarks(g, colour);
    this.drawMarkers(g, colour);
    const { hovered } = this;
    if (hovered?.part === 'joint' && store.tool === 'rules') this.label(g, colour, hovered.name, hovered.at, '--text');
  }

  private project(at: Vec3): { x: number; y: number; behind: boolean } {
    return this.stage.viewport.rig.project(new Vector3(...at));
  }

  private drawBones(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    const joints = store.doc?.ruled?.joints ?? [];
    const at = joints.map(({ position }) => this.project(position));
    g.globalAlpha = store.tool === 'rules' ? 0.85 : 0.4;
    g.strokeStyle = colour('--marker-edge');
    for (const [width, name] of [[4, '--marker-edge'], [1.75, '--text']] as const) {
      g.lineWidth = width;
      g.strokeStyle = colour(name);
      joints.forEach(({ parent }, i) => {
        if (parent !== null && !at[i].behind && !at[parent].behind) line(g, [at[parent], at[i]]);
      });
    }
    joints.forEach(({ name }, i) => {
      if (at[i].behind) return;
      const isPicked = writing.names.includes(name);
      const isHovered = this.hovered?.part === 'joint' && this.hovered.name === name;
      dot(g, at[i], isPicked || isHovered ? 6 : 3.2, colour(isPicked ? '--accent' : '--text'), colour('--marker-edge'));
    });
    g.globalAlpha = 1;
  }

  /** From where a joint is to where its rule wants it. */
  private drawMarks(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    const { ruled } = store.doc!;
    const conflicts = new Set(ruled?.solved?.conflicts.flatMap(({ lines }) => lines));
    for (const { line: row, holds, from, to } of ruled?.marks ?? []) {
      const [a, b] = [this.project(from), this.project(to)];
      if (a.behind || b.behind) continue;
      const paint = colour(holds ? '--good' : conflicts.has(row) ? '--danger' : '--warning');
      dot(g, a, holds ? 4.5 : 6, paint, colour('--marker-edge'));
      if (holds || Math.hypot(a.x - b.x, a.y - b.y) < 2) continue;
      g.strokeStyle = paint;
      g.lineWidth = 2.5;
      line(g, [a, b]);
      arrowHead(g, a, b);
      this.label(g, colour, `line ${row}`, from.map((x, k) => 0.5 * (x + to[k])) as Vec3, conflicts.has(row) ? '--danger' : '--warning');
    }
  }

  private drawMarkers(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    for (const { name, position } of rules().markers) {
      const p = this.project(position);
      if (p.behind) continue;
      const r = this.hovered?.part === 'marker' && this.hovered.name === name ? 9 : 7;
      g.beginPath();
      for (const [dx, dy] of [[0, -r], [r, 0], [0, r], [-r, 0]]) g.lineTo(p.x + dx, p.y + dy);
      g.closePath();
      g.fillStyle = colour('--accent-veil');
      g.strokeStyle = colour('--accent');
      g.lineWidth = 2;
      g.fill();
      g.stroke();
      this.label(g, colour, name, position, '--accent');
    }
  }

  private drawPlane(g: CanvasRenderingContext2D, colour: (name: string) => string, plane: RulePlane): void {
    const n = new Vector3(...plane.normal).normalize();
    const u = new Vector3(Math.abs(n.x) < 0.9 ? 1 : 0, Math.abs(n.x) < 0.9 ? 0 : 1, 0).cross(n).normalize();
    const v = n.clone().cross(u);
    const half = 0.35 * size();
    const at = (s: number, t: number): { x: number; y: number; behind: boolean } =>
      this.project(new Vector3(...plane.point).addScaledVector(u, s * half).addScaledVector(v, t * half).toArray() as Vec3);
    g.strokeStyle = colour('--good');
    g.lineWidth = 1;
    g.globalAlpha = 0.7;
    for (let i = -4; i <= 4; i++)
      for (const ends of [[at(i / 4, -1), at(i / 4, 1)], [at(-1, i / 4), at(1, i / 4)]]) if (!ends.some(({ behind }) => behind)) line(g, ends);
    g.globalAlpha = 1;
    const [base, top] = [this.project(plane.point), this.project(tip(plane))];
    if (base.behind || top.behind) return;
    g.lineWidth = 2;
    line(g, [base, top]);
    arrowHead(g, base, top);
    dot(g, base, 5, colour('--good'), colour('--marker-edge'));
    this.label(g, colour, plane.name, plane.point, '--good');
  }

  private label(g: CanvasRenderingContext2D, colour: (name: string) => string, text: string, at: Vec3, paint: string): void {
    const p = this.project(at);
    if (p.behind) return;
    g.font = '600 12px system-ui, sans-serif';
    g.lineWidth = 3.5;
    g.lineJoin = 'round';
    g.strokeStyle = colour('--marker-edge');
    g.strokeText(text, p.x + 11, p.y - 7);
    g.fillStyle = colour(paint);
    g.fillText(text, p.x + 11, p.y - 7);
  }
}

const size = (): number => (store.doc ? Math.max(store.doc.bounds[1][1] - store.doc.bounds[0][1], 1e-3) : 1.7);

/** End of the normal that is drawn and dragged. */
function tip({ point, normal }: RulePlane): Vec3 {
  const n = new Vector3(...normal).normalize().multiplyScalar(0.15 * size());
  return n.add(new Vector3(...point)).toArray() as Vec3;
}

function dot(g: CanvasRenderingContext2D, { x, y }: { x: number; y: number }, r: number, fill: string, edge: string): void {
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.fillStyle = fill;
  g.strokeStyle = edge;
  g.lineWidth = 1.25;
  g.fill();
  g.stroke();
}

function arrowHead(g: CanvasRenderingContext2D, from: { x: number; y: number }, to: { x: number; y: number }): void {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  for (const turn of [2.6, -2.6]) line(g, [to, { x: to.x + 9 * Math.cos(angle + turn), y: to.y + 9 * Math.sin(angle + turn) }]);
}
