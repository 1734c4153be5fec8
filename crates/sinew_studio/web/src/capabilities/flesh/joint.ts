// Joints: a click places one half-way through the body, a drag moves it; in the pose, dragging one turns the bone
// above it.
import { Vector3 } from 'three';
import { ask, store } from '../../app';
import type { FleshJoint, Vec3 } from '../../net/protocol';
import { SweptAngle } from '../../tools/angle';
import { PoseGesture, toDegrees } from '../../tools/gesture';
import { type Press, PressTool } from '../../tools/press';
import { type Stage, screenAxis, screenVector } from '../../tools/tool';
import { toast } from '../../ui/toast';
import { type Colour, dot, label, line } from '../../view/draw';
import { flesh, fleshView, jointOf, joints } from './state';

/** Pixels within which the pointer hits a joint. */
const HIT_PX = 12;

export class JointTool extends PressTool<FleshJoint> {
  readonly cursor = 'crosshair';
  private hovered: string | null = null;
  private apply: ((event: PointerEvent) => void) | null = null;

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    fleshView.on('change', () => stage.overlay.show({}));
    store.on('doc', () => stage.overlay.show({}));
  }

  protected find(event: PointerEvent): FleshJoint | null {
    const joint = this.jointAt(event);
    if (joint) fleshView.set({ joint: joint.name });
    return joint ?? null;
  }

  protected drag(press: Press<FleshJoint>, joint: FleshJoint, event: PointerEvent): void {
    if (!press.gesture) {
      const gesture = new PoseGesture('', []);
      press.gesture = gesture;
      this.apply = (fleshView.turns ? this.turning : this.moving).call(this, gesture, press.start, joint);
    }
    this.apply?.(event);
  }

  protected override click(joint: FleshJoint | null, event: PointerEvent): void {
    if (!joint) void this.place(event);
  }

  hover(event: PointerEvent): void {
    this.hovered = this.jointAt(event)?.name ?? null;
    this.stage.overlay.show({});
  }

  /** A new joint under the pointer, as a child of the selected one. */
  private async place(event: PointerEvent): Promise<void> {
    if (fleshView.turns) {
      if (flesh()?.own_skeleton)
        toast('info', 'This character has its own skeleton; drag a joint to turn the bone above it.');
      else fleshView.set({ joint: null });
      return;
    }
    const { viewport } = this.stage;
    const made = await ask<{ name: string } | null>({
      type: 'put_joint',
      view: viewport.rig.view16(),
      at: viewport.ndc(event),
      parent: fleshView.joint,
    });
    fleshView.set({ joint: made?.name ?? null });
  }

  private moving(gesture: PoseGesture, start: PointerEvent, joint: FleshJoint): (event: PointerEvent) => void {
    const from = new Vector3(...joint.position);
    const parent = flesh()?.sites.find(({ name }) => name === joint.name)?.parent ?? null;
    return (event) => {
      const position = from
        .clone()
        .add(screenVector(this.stage, start, event, from))
        .toArray() as Vec3;
      gesture.update({ flesh: { joint: { joint: { name: joint.name, parent, position } } } }, event.timeStamp);
    };
  }

  /** Dragging a joint turns the one above it; a root turns itself. */
  private turning(gesture: PoseGesture, start: PointerEvent, joint: FleshJoint): (event: PointerEvent) => void {
    const turned = joint.parent === null ? joint : joints()[joint.parent];
    const axis = screenAxis(this.stage).toArray() as Vec3;
    const { viewport } = this.stage;
    const centre = viewport.rig.project(new Vector3(...turned.position));
    const angle = new SweptAngle(centre.x, centre.y);
    const sweep = (event: PointerEvent): number => {
      const { x, y } = viewport.pixel(event);
      return toDegrees(angle.to(x, y));
    };
    sweep(start);
    return (event) => {
      const turn = { joint: turned.name, from: turned.turn, axis, degrees: sweep(event) };
      gesture.update({ flesh: { turn } }, event.timeStamp);
    };
  }

  private jointAt(event: PointerEvent): FleshJoint | undefined {
    const { x, y } = this.stage.viewport.pixel(event);
    let [best, least]: [FleshJoint | undefined, number] = [undefined, HIT_PX];
    for (const joint of joints()) {
      const p = this.stage.viewport.rig.project(new Vector3(...joint.position));
      const distance = Math.hypot(p.x - x, p.y - y);
      if (!p.behind && distance < least) [best, least] = [joint, distance];
    }
    return best;
  }

  private draw(g: CanvasRenderingContext2D, colour: Colour): void {
    if (store.tool !== 'joint') return;
    const all = joints();
    const at = all.map(({ position }) => this.stage.viewport.rig.project(new Vector3(...position)));
    const strokes: [number, string][] = [
      [4.5, '--marker-edge'],
      [2, '--accent'],
    ];
    for (const [width, name] of strokes) {
      g.lineWidth = width;
      g.strokeStyle = colour(name);
      all.forEach(({ parent }, i) => {
        if (parent !== null && !at[i].behind && !at[parent].behind) line(g, [at[parent], at[i]]);
      });
    }
    all.forEach(({ name }, i) => {
      if (at[i].behind) return;
      const isChosen = name === fleshView.joint;
      const isNamed = isChosen || name === this.hovered;
      dot(g, at[i], isNamed ? 7 : 4.5, colour(isChosen ? '--accent' : '--text'), colour('--marker-edge'), 1.5);
      if (isNamed) label(g, colour, name, at[i], '--text');
    });
  }
}

/** Where a joint is, for tests. */
export const jointPlace = (name: string): Vec3 | null => jointOf(name)?.position ?? null;
