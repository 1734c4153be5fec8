// What the tools of flesh and muscles share: a vertex of the skin is held and dragged in the plane of the screen.
import type { Vector3 } from 'three';
import type { Gestured, Vec3 } from '../net/protocol';
import type { Colour } from '../view/draw';
import { PoseGesture } from './gesture';
import { type Press, PressTool } from './press';
import { pick, type Stage, screenVector } from './tool';

/** A vertex that is held, and where it was. */
export interface HeldVertex {
  vertex: number;
  from: Vector3;
}

export abstract class SkinDragTool extends PressTool<HeldVertex> {
  /** Where the vertex is dragged to. */
  protected to: Vector3 | null = null;

  constructor(stage: Stage) {
    super(stage);
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
  }

  protected abstract draw(g: CanvasRenderingContext2D, colour: Colour): void;

  /** The vertex under the pointer. */
  protected async hold(event: PointerEvent): Promise<HeldVertex | null> {
    const picked = await pick(this.stage, event);
    return picked && { vertex: picked.vertex, from: this.stage.viewport.mesh.position(picked.vertex) };
  }

  /** Send where the vertex is dragged to, as one gesture per press. */
  protected send(press: Press<HeldVertex>, from: Vector3, event: PointerEvent, step: (to: Vec3) => Gestured): void {
    this.to = from.clone().add(screenVector(this.stage, press.start, event, from));
    const gesture = (press.gesture ??= new PoseGesture('', [])) as PoseGesture;
    gesture.update(step(this.to.toArray() as Vec3), event.timeStamp);
    this.stage.overlay.show({});
  }
}
