// Rigs by hand: a click puts the chosen template; dragging the surface fits the rig that is meant until it follows.
import { Vector3 } from 'three';
import { store } from '../app';
import { isLive, setLive } from '../fleshing';
import { placeRig, rigging, rigs } from '../rigging';
import { toast } from '../ui/toast';
import { PoseGesture } from './gesture';
import { line } from './reach';
import { pick, screenVector, strayed, type Stage, type Tool } from './tool';

interface Press {
  start: PointerEvent;
  last: PointerEvent;
  /** Undefined until the server has said what is under the pointer. */
  vertex: number | null | undefined;
  from: Vector3 | null;
  to: Vector3 | null;
  released: boolean;
  gesture?: PoseGesture;
}

export class RigTool implements Tool {
  readonly cursor = 'crosshair';
  private press: Press | null = null;

  constructor(private readonly stage: Stage) {
    stage.overlay.layers.push((g, colour) => this.draw(g, colour));
    rigging.on('change', () => stage.overlay.show({}));
  }

  down(event: PointerEvent): void {
    const press: Press = { start: event, last: event, vertex: undefined, from: null, to: null, released: false };
    this.press = press;
    if (rigging.template) return;
    void pick(this.stage, event).then((picked) => {
      press.vertex = picked?.vertex ?? null;
      if (picked) press.from = this.stage.viewport.mesh.position(picked.vertex);
      if (this.press === press) this.move(press.last);
      else if (press.released && picked) this.catchUp(press);
    });
  }

  move(event: PointerEvent): void {
    const { press } = this;
    if (!press) return;
    const before = press.last;
    press.last = event;
    if (!press.gesture && !strayed(press.start, event)) return;
    const { chosen } = rigging;
    if (rigging.template || press.vertex === null) {
      this.stage.viewport.rig.orbit(event.clientX - before.clientX, event.clientY - before.clientY);
      return;
    }
    if (press.vertex === undefined || !press.from) return;
    if (!chosen?.template) {
      this.press = null;
      toast('info', 'Put a template on the body first: drag one out of the Rigs panel, or choose one and click.');
      return;
    }
    if (!isLive()) setLive(true);
    press.to = press.from.clone().add(screenVector(this.stage, press.start, event, press.from));
    press.gesture ??= new PoseGesture('', []);
    press.gesture.update({ flesh: { fit: { rig: chosen.name, vertex: press.vertex, to: press.to.toArray() } } }, event.timeStamp);
    this.stage.overlay.show({});
  }

  up(event: PointerEvent): void {
    const { press } = this;
    this.press = null;
    if (press) Object.assign(press, { released: true, last: event });
    press?.gesture?.end();
    this.stage.overlay.show({});
    if (press && rigging.template && !strayed(press.start, event)) void placeRig(this.stage.viewport, rigging.template, this.stage.viewport.ndc(event));
  }

  /** The server said what was pressed after the hand had let go: what it did is done now. */
  private catchUp(press: Press): void {
    const other = this.press;
    this.press = press;
    this.move(press.last);
    this.press = other;
    press.gesture?.end();
  }

  cancel(): void {
    this.press?.gesture?.cancel();
    this.press = null;
    this.stage.overlay.show({});
  }

  /** Where templates are at rest, and the way of the hand. */
  private draw(g: CanvasRenderingContext2D, colour: (name: string) => string): void {
    if (store.tool !== 'rig') return;
    const { viewport } = this.stage;
    for (const { name, center, reach } of rigs()?.rigs ?? []) {
      if (!center) continue;
      const middle = new Vector3(...center);
      const at = viewport.rig.project(middle);
      if (at.behind) continue;
      const isMeant = name === rigging.chosen?.name;
      g.strokeStyle = colour(isMeant ? '--accent' : '--text-2');
      g.lineWidth = isMeant ? 2 : 1.25;
      g.setLineDash([4, 4]);
      g.beginPath();
      g.arc(at.x, at.y, reach / viewport.rig.metresPerPixel(middle), 0, 2 * Math.PI);
      g.stroke();
      g.setLineDash([]);
      g.font = '600 12px system-ui, sans-serif';
      g.fillStyle = colour('--text');
      g.fillText(name, at.x + 6, at.y - 6);
    }
    const { press } = this;
    if (!press?.to || press.vertex == null) return;
    g.strokeStyle = colour('--accent');
    g.lineWidth = 2;
    line(g, [viewport.rig.project(viewport.mesh.position(press.vertex)), viewport.rig.project(press.to)]);
  }
}
