// Rules in the viewport: joints and markers are clicked to write a line, markers and planes are dragged, and what
// does not
// hold is drawn on the body.
import { Vector3 } from 'three';
import { socket, store } from '../../app';
import type { RulePlane, RulesChange, Vec3 } from '../../net/protocol';
import { PoseGesture } from '../../tools/gesture';
import { type Press, PressTool } from '../../tools/press';
import { pick, type Stage, screenVector } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { arrowHead, type Colour, dot, label, line } from '../../view/draw';
import { change, freeThingName, rules, ruleWriter } from './state';

/** Pixels within which the pointer hits a joint or a marker. */
const HIT_PX = 12;

type Part = 'joint' | 'marker' | 'plane' | 'tip';

interface Thing {
  part: Part;
  name: string;
  at: Vec3;
}

/** What a press hit; dragging a joint or nothing orbits. */
interface Hit {
  thing: Thing | null;
}

export class RulesTool extends PressTool<Hit> {
  readonly cursor = 'default';
  private hovered: Thing | null = null;

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    store.on('doc', () => stage.overlay.show({}));
    ruleWriter.on('change', () => stage.overlay.show({}));
  }

  protected override get orbits(): boolean {
    const thing = this.press?.found?.thing;
    return !thing || thing.part === 'joint';
  }

  protected find(event: PointerEvent): Hit {
    return { thing: this.thingAt(event) };
  }

  protected drag(press: Press<Hit>, { thing }: Hit, event: PointerEvent): void {
    if (!thing) return;
    const gesture = (press.gesture ??= new PoseGesture('', [])) as PoseGesture;
    gesture.update({ rules: this.moved(thing, press.start, event) }, event.timeStamp);
  }

  protected override click(hit: Hit | null, event: PointerEvent): void {
    this.choose(hit?.thing ?? null, event);
  }

  hover(event: PointerEvent): void {
    const before = this.hovered;
    this.hovered = this.thingAt(event);
    if (before?.name !== this.hovered?.name || before?.part !== this.hovered?.part) {
      this.stage.viewport.canvas.style.cursor = this.hovered ? 'pointer' : ruleWriter.slot ? 'crosshair' : 'default';
      this.stage.overlay.show({});
    }
  }

  override cancel(): void {
    super.cancel();
    ruleWriter.begin(null);
  }

  /** Where a marker, a plane, or the tip of its normal was dragged to. */
  private moved({ part, name, at }: Thing, from: PointerEvent, to: PointerEvent): RulesChange {
    const start = new Vector3(...at);
    const there = start
      .clone()
      .add(screenVector(this.stage, from, to, start))
      .toArray() as Vec3;
    if (part === 'marker') return { marker: { name, position: there } };
    const plane = rules().planes.find((other) => other.name === name)!;
    if (part === 'plane') return { plane: { name, point: there, normal: plane.normal } };
    const normal = new Vector3(...there).sub(new Vector3(...plane.point));
    return {
      plane: {
        name,
        point: plane.point,
        normal: normal.lengthSq() > 1e-9 ? (normal.normalize().toArray() as Vec3) : plane.normal,
      },
    };
  }

  private choose(thing: Thing | null, event: PointerEvent): void {
    const { slot } = ruleWriter;
    if (!slot) return;
    if (slot === 'plane') {
      if (thing && (thing.part === 'plane' || thing.part === 'tip')) ruleWriter.pick(thing.name);
      else if (rules().planes.length === 0) void toast('info', 'There is no plane yet; add one in the panel.');
      return;
    }
    if (thing && (thing.part === 'joint' || (thing.part === 'marker' && slot === 'point'))) ruleWriter.pick(thing.name);
    else if (!thing && slot === 'point') void this.putMarker(event);
  }

  /** A marker on the surface or on the ground under the pointer, and the rule continues with it. */
  private async putMarker(event: PointerEvent): Promise<void> {
    const { viewport } = this.stage;
    const hit = await pick(this.stage, event);
    let position = hit?.position ?? null;
    if (!position) {
      const ask = { type: 'pick_ground' as const, view: viewport.rig.view16(), at: viewport.ndc(event) };
      position = (await socket.ask<{ position: Vec3 } | null>(ask).catch(() => null))?.position ?? null;
    }
    if (!position) return void toast('info', 'Click on the body or on the ground.');
    const name = freeThingName('Marker');
    if ((await change({ marker: { name, position } })) !== undefined) ruleWriter.pick(name);
  }

  private thingAt(event: PointerEvent): Thing | null {
    const { x, y } = this.stage.viewport.pixel(event);
    let best: Thing | null = null;
    let least = HIT_PX;
    for (const thing of this.things()) {
      const p = this.stage.viewport.rig.project(new Vector3(...thing.at));
      // Markers lie on joints that are pinned to them, and are what is dragged; joints are what rules begin with.
      const favour = thing.part === 'joint' ? (ruleWriter.slot === 'joint' ? -4 : 0) : -3;
      const distance = Math.hypot(p.x - x, p.y - y) + favour;
      if (!p.behind && distance < least) [best, least] = [thing, distance];
    }
    return best;
  }

  private things(): Thing[] {
    const { ruled } = store.doc ?? {};
    const { markers, planes } = rules();
    const joint =
      ruleWriter.slot === 'plane'
        ? []
        : (ruled?.joints ?? []).map(({ name, position }): Thing => ({ part: 'joint', name, at: position }));
    const marker =
      ruleWriter.slot === 'joint' || ruleWriter.slot === 'plane'
        ? []
        : markers.map(({ name, position }): Thing => ({ part: 'marker', name, at: position }));
    return [
      ...joint,
      ...marker,
      ...planes.flatMap((plane): Thing[] => [
        { part: 'plane', name: plane.name, at: plane.point },
        { part: 'tip', name: plane.name, at: tip(plane) },
      ]),
    ];
  }

  private draw(g: CanvasRenderingContext2D, colour: Colour): void {
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

  private drawBones(g: CanvasRenderingContext2D, colour: Colour): void {
    const joints = store.doc?.ruled?.joints ?? [];
    const at = joints.map(({ position }) => this.project(position));
    g.globalAlpha = store.tool === 'rules' ? 0.85 : 0.4;
    g.strokeStyle = colour('--marker-edge');
    for (const [width, name] of [
      [4, '--marker-edge'],
      [1.75, '--text'],
    ] as const) {
      g.lineWidth = width;
      g.strokeStyle = colour(name);
      joints.forEach(({ parent }, i) => {
        if (parent !== null && !at[i].behind && !at[parent].behind) line(g, [at[parent], at[i]]);
      });
    }
    joints.forEach(({ name }, i) => {
      if (at[i].behind) return;
      const isPicked = ruleWriter.names.includes(name);
      const isHovered = this.hovered?.part === 'joint' && this.hovered.name === name;
      dot(g, at[i], isPicked || isHovered ? 6 : 3.2, colour(isPicked ? '--accent' : '--text'), colour('--marker-edge'));
    });
    g.globalAlpha = 1;
  }

  /** From where a joint is to where its rule requires it. */
  private drawMarks(g: CanvasRenderingContext2D, colour: Colour): void {
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
      this.label(
        g,
        colour,
        `line ${row}`,
        from.map((x, k) => 0.5 * (x + to[k])) as Vec3,
        conflicts.has(row) ? '--danger' : '--warning',
      );
    }
  }

  private drawMarkers(g: CanvasRenderingContext2D, colour: Colour): void {
    for (const { name, position } of rules().markers) {
      const p = this.project(position);
      if (p.behind) continue;
      const r = this.hovered?.part === 'marker' && this.hovered.name === name ? 9 : 7;
      g.beginPath();
      for (const [dx, dy] of [
        [0, -r],
        [r, 0],
        [0, r],
        [-r, 0],
      ])
        g.lineTo(p.x + dx, p.y + dy);
      g.closePath();
      g.fillStyle = colour('--accent-veil');
      g.strokeStyle = colour('--accent');
      g.lineWidth = 2;
      g.fill();
      g.stroke();
      this.label(g, colour, name, position, '--accent');
    }
  }

  private drawPlane(g: CanvasRenderingContext2D, colour: Colour, plane: RulePlane): void {
    const n = new Vector3(...plane.normal).normalize();
    const u = new Vector3(Math.abs(n.x) < 0.9 ? 1 : 0, Math.abs(n.x) < 0.9 ? 0 : 1, 0).cross(n).normalize();
    const v = n.clone().cross(u);
    const half = 0.35 * size();
    const at = (s: number, t: number): { x: number; y: number; behind: boolean } =>
      this.project(
        new Vector3(...plane.point)
          .addScaledVector(u, s * half)
          .addScaledVector(v, t * half)
          .toArray() as Vec3,
      );
    g.strokeStyle = colour('--good');
    g.lineWidth = 1;
    g.globalAlpha = 0.7;
    for (let i = -4; i <= 4; i++)
      for (const ends of [
        [at(i / 4, -1), at(i / 4, 1)],
        [at(-1, i / 4), at(1, i / 4)],
      ])
        if (!ends.some(({ behind }) => behind)) line(g, ends);
    g.globalAlpha = 1;
    const [base, top] = [this.project(plane.point), this.project(tip(plane))];
    if (base.behind || top.behind) return;
    g.lineWidth = 2;
    line(g, [base, top]);
    arrowHead(g, base, top);
    dot(g, base, 5, colour('--good'), colour('--marker-edge'));
    this.label(g, colour, plane.name, plane.point, '--good');
  }

  private label(g: CanvasRenderingContext2D, colour: Colour, text: string, at: Vec3, paint: string): void {
    const p = this.project(at);
    if (!p.behind) label(g, colour, text, p, paint);
  }
}

const size = (): number => (store.doc ? Math.max(store.doc.bounds[1][1] - store.doc.bounds[0][1], 1e-3) : 1.7);

/** End of the normal that is drawn and dragged. */
function tip({ point, normal }: RulePlane): Vec3 {
  const n = new Vector3(...normal).normalize().multiplyScalar(0.15 * size());
  return n.add(new Vector3(...point)).toArray() as Vec3;
}
