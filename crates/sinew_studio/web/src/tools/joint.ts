// Joints by hand: a click puts one half-way through the body, a drag moves it; in the pose, dragging one turns the bone above it.
import { Vector3 } from 'three';
import { ask, store } from '../app';
import { flesh, fleshing, joints, jointOf } from '../fleshing';
import type { FleshJoint, Vec3 } from '../net/protocol';
import { toast } from '../ui/toast';
import { SweptAngle } from './angle';
import { PoseGesture, toDegrees } from './gesture';
import { line } from './reach';
import { screenAxis, screenVector, strayed, type Stage, type Tool } from './tool';

/** Pixels within which a joint is meant. */
const REACH = 12;

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  joint: FleshJoint | undefined;
  moved: boolean;
  gesture?: PoseGesture;
  apply?: (event: PointerEvent) => void;
}

export class JointTool implements Tool {
  readonly cursor = 'crosshair';
  private press: Press | null = null;
  private hovered: string | null = null;

  constructor(private readonly stage: Stage) {
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    fleshing.on('change', () => stage.overlay.show({}));
    store.on('doc', () => stage.overlay.show({}));
  }

  down(event: PointerEvent): void {
    const joint = this.jointAt(event);
    this.press = { start: event, last: event, joint, moved: false };
    if (joint) fleshing.set({ joint: joint.name });
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    press.moved ||= strayed(press.start, event);
    if (!press.moved) return;
    if (!press.joint) {
      this.stage.viewport.rig.orbit(event.clientX - before.clientX, event.clientY - before.clientY);
      return;
    }
    press.apply ??= fleshing.turns ? this.turning(press, press.joint) : this.moving(press, press.joint);
    press.apply(event);
  }

  up(event: PointerEvent): void {
    const { press } = this;
    this.press = null;
    this.stage.overlay.show({});
    if (!press) return;
    press.gesture?.end();
    if (!press.moved && !press.joint) void this.put(event);
  }

  hover(event: PointerEvent): void {
    this.hovered = this.jointAt(event)?.name ?? null;
    this.stage.overlay.show({});
  }

  cancel(): void {
    this.press?.gesture?.cancel();
    this.press = null;
    this.stage.overlay.show({});
  }

  /** A new joint under the pointer, which hangs on the one that is meant. */
  private async put(event: PointerEvent): Promise<void> {
    if (fleshing.turns) {
      if (flesh()?.own_skeleton) toast('info', 'This character has a skeleton of its own; drag a joint to turn the bone above it.');
      else fleshing.set({ joint: null });
      return;
    }
    const { viewport } = this.stage;
    const made = await ask<{ name: string } | null>({
      type: 'put_joint',
      view: viewport.rig.view16(),
      at: viewport.ndc(event),
      parent: fleshing.joint,
    });
    fleshing.set({ joint: made?.name ?? null });
  }

  private moving(press: Press, joint: FleshJoint): (event: PointerEvent) => void {
    const from = new Vector3(...joint.position);
    const site = flesh()?.sites.find(({ name }) => name === joint.name);
    return (event) => {
      const position = from.clone().add(screenVector(this.stage, press.start, event, from)).toArray() as Vec3;
      press.gesture ??= new PoseGesture('', []);
      press.gesture.update({ flesh: { joint: { joint: { name: joint.name, parent: site?.parent ?? null, position } } } }, event.timeStamp);
    };
  }

  /** Dragging a joint turns the one above it; a root turns itself. */
  private turning(press: Press, joint: FleshJoint): (event: PointerEvent) => void {
    const turned = joint.parent === null ? joint : joints()[joint.parent];
    const axis = screenAxis(this.stage).toArray() as Vec3;
    const { viewport } = this.stage;
    const centre = viewport.rig.project(new Vector3(...turned.position));
    const angle = new SweptAngle(centre.x, centre.y);
    const sweep = (event: PointerEvent): number => {
      const { x, y } = viewport.pixel(event);
      return toDegrees(angle.to(x, y));
    };
    sweep(press.start);
    return (event) => {
      const degrees = sweep(event);
      press.gesture ??= new PoseGesture('', []);
      press.gesture.update({ flesh: { turn: { joint: turned.name, from: turned.turn, axis, degrees } } }, event.timeStamp);
    };
  }

  private jointAt(event: PointerEvent): FleshJoint | undefined {
    const { x, y } = this.stage.viewport.pixel(event);
    let [best, least]: [FleshJoint | undefined, number] = [undefined, REACH];
    for (const joint of joints()) {
      const p = this.stage.viewport.rig.project(new Vector3(...joint.position));
      const distance = Math.hypot(p.x - x, p.y - y);
      if (!p.behind && distance < least) [best, least] = [joint, distance];
    }
    return best;
  }

  private draw(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    if (store.tool !== 'joint') return;
    const all = joints();
    const at = all.map(({ position }) => this.stage.viewport.rig.project(new Vector3(...position)));
    for (const [width, name] of [[4.5, '--marker-edge'], [2, '--accent']] as const) {
      g.lineWidth = width;
      g.strokeStyle = colour(name);
      all.forEach(({ parent }, i) => {
        if (parent !== null && !at[i].behind && !at[parent].behind) line(g, [at[parent], at[i]]);
      });
    }
    all.forEach(({ name }, i) => {
      if (at[i].behind) return;
      const isMeant = name === fleshing.joint;
      g.beginPath();
      g.arc(at[i].x, at[i].y, isMeant || name === this.hovered ? 7 : 4.5, 0, 2 * Math.PI);
      g.fillStyle = colour(isMeant ? '--accent' : '--text');
      g.fill();
      g.lineWidth = 1.5;
      g.strokeStyle = colour('--marker-edge');
      g.stroke();
      if (isMeant || name === this.hovered) {
        g.font = '600 12px system-ui, sans-serif';
        g.lineWidth = 3.5;
        g.strokeText(name, at[i].x + 10, at[i].y - 8);
        g.fillStyle = colour('--text');
        g.fillText(name, at[i].x + 10, at[i].y - 8);
      }
    });
  }
}

/** Where a joint is, for tests. */
export const jointPlace = (name: string): Vec3 | null => jointOf(name)?.position ?? null;
