// G and R as in Blender: the pointer moves without a button, X Y Z lock an axis, digits are typed.
import { Quaternion, Vector3 } from 'three';
import { store } from '../app';
import { el } from '../ui/dom';
import { toast } from '../ui/toast';
import { SweptAngle } from './angle';
import { PoseGesture, toDegrees } from './gesture';
import { type Stage, screenAxis, screenVector } from './tool';

const UNIT: Record<string, Vector3> = { X: new Vector3(1, 0, 0), Y: new Vector3(0, 1, 0), Z: new Vector3(0, 0, 1) };
const SNAP_DEGREES = 5;

export type ModalKind = 'rotate' | 'translate';

export class Modal {
  readonly element = el('div.modal-strip', { hidden: true, role: 'status', 'data-testid': 'modal-strip' });
  private gesture: PoseGesture | null = null;
  /** Keys typed before it could begin: they are meant for it, not for the page. */
  private waiting: KeyboardEvent[] | null = null;
  private kind: ModalKind = 'rotate';
  private axis: { name: string; local: boolean } | null = null;
  private typed = '';
  private start: PointerEvent | null = null;
  private last: PointerEvent | null = null;
  private swept: SweptAngle | null = null;
  private centre = new Vector3();
  private rotation = new Quaternion();

  constructor(
    private readonly stage: Stage,
    private lastPointer: () => PointerEvent | null,
  ) {}

  get active(): boolean {
    return this.gesture !== null;
  }

  /** Keep what is typed until it begins, unless Escape is. */
  await(): void {
    this.waiting = [];
  }

  get awaited(): boolean {
    return this.waiting !== null;
  }

  begin(kind: ModalKind): void {
    const typed = this.waiting ?? [];
    this.waiting = null;
    this.enter(kind);
    for (const event of typed) this.key(event);
  }

  private enter(kind: ModalKind): void {
    this.cancel();
    if (store.main === null) {
      toast('info', 'Select a handle first: click on the surface or in the outliner.');
      return;
    }
    if (store.doc?.display.what !== 'posed') {
      toast('info', 'Handles are moved in the pose. Choose a pose tool first.');
      return;
    }
    const { overlay, viewport } = this.stage;
    this.kind = kind;
    this.axis = null;
    this.typed = '';
    this.centre = overlay.centre(store.main) ?? new Vector3();
    this.rotation = this.handleRotation();
    const middle = viewport.rig.project(this.centre);
    this.swept = new SweptAngle(middle.x, middle.y);
    this.start = this.last = this.lastPointer();
    if (this.start) this.swept.to(viewport.pixel(this.start).x, viewport.pixel(this.start).y);
    this.gesture = new PoseGesture(store.main, store.selected());
    this.element.hidden = false;
    this.apply(performance.now(), false);
  }

  move(event: PointerEvent): void {
    if (!this.gesture) return;
    this.start ??= event;
    this.last = event;
    const { x, y } = this.stage.viewport.pixel(event);
    const middle = this.stage.viewport.rig.project(this.centre);
    this.stage.overlay.show({ spoke: { ...middle, toX: x, toY: y } });
    this.apply(event.timeStamp, event.ctrlKey);
  }

  /** True if the key was meant for it. */
  key(event: KeyboardEvent): boolean {
    if (this.waiting) {
      if (event.key === 'Escape') this.waiting = null;
      else this.waiting.push(event);
      return true;
    }
    if (!this.gesture) return false;
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    if (key === 'Escape') this.cancel();
    else if (key === 'Enter' || key === ' ') this.confirm();
    else if (key in UNIT) this.lock(key);
    else if (/^[0-9.]$/.test(key)) this.typed += key;
    else if (key === '-') this.typed = this.typed.startsWith('-') ? this.typed.slice(1) : `-${this.typed}`;
    else if (key === 'Backspace') this.typed = this.typed.slice(0, -1);
    else if (key === 'G' || key === 'R') this.begin(key === 'G' ? 'translate' : 'rotate');
    else return true;
    if (this.gesture) this.apply(event.timeStamp, event.ctrlKey);
    return true;
  }

  confirm(): void {
    this.gesture?.end();
    this.close();
  }

  cancel(): void {
    this.gesture?.cancel();
    this.close();
  }

  private close(): void {
    if (!this.gesture) return;
    this.gesture = null;
    this.element.hidden = true;
    this.stage.overlay.show({});
  }

  /** Once along the world, twice along the handle, three times free. */
  private lock(name: string): void {
    if (this.axis?.name !== name) this.axis = { name, local: false };
    else this.axis = this.axis.local ? null : { name, local: true };
  }

  private handleRotation(): Quaternion {
    const index = store.doc?.handles.findIndex((handle) => handle.name === store.main) ?? -1;
    const frames = this.stage.viewport.mesh.handleFrames;
    return (index + 1) * 7 <= frames.length ? new Quaternion().fromArray(frames, index * 7 + 3) : new Quaternion();
  }

  private axisVector(): Vector3 | null {
    if (!this.axis) return null;
    const unit = UNIT[this.axis.name].clone();
    return this.axis.local ? unit.applyQuaternion(this.rotation) : unit;
  }

  private apply(time: number, snap: boolean): void {
    if (this.kind === 'rotate') this.applyRotation(time, snap);
    else this.applyTranslation(time);
  }

  private applyRotation(time: number, snap: boolean): void {
    const towards = screenAxis(this.stage);
    const axis = this.axisVector() ?? towards;
    let degrees = 0;
    if (this.last && this.swept) {
      const { x, y } = this.stage.viewport.pixel(this.last);
      degrees = toDegrees(this.swept.to(x, y));
      // Seen from behind, an axis turns the other way.
      if (axis.dot(towards) < 0) degrees = -degrees;
    }
    if (snap) degrees = Math.round(degrees / SNAP_DEGREES) * SNAP_DEGREES;
    const number = Number.parseFloat(this.typed);
    if (Number.isFinite(number)) degrees = number;
    this.gesture?.rotate(axis.toArray(), degrees, time);
    this.report('Rotate', `${this.typed || degrees.toFixed(1)}°`);
  }

  private applyTranslation(time: number): void {
    const axis = this.axisVector();
    let vector = this.start && this.last ? screenVector(this.stage, this.start, this.last, this.centre) : new Vector3();
    if (axis) vector = axis.clone().multiplyScalar(vector.dot(axis));
    const scale = store.prefs.units === 'cm' ? 0.01 : 1;
    const number = Number.parseFloat(this.typed);
    if (Number.isFinite(number)) vector = (axis ?? UNIT.X.clone()).normalize().multiplyScalar(number * scale);
    this.gesture?.translate(vector.toArray(), time);
    const size = vector.length() / scale;
    this.report('Move', `${this.typed || size.toFixed(scale === 1 ? 3 : 1)} ${store.prefs.units}`);
  }

  private report(what: string, amount: string): void {
    const along = this.axis ? `along ${this.axis.local ? 'local' : 'world'} ${this.axis.name}` : '';
    this.element.replaceChildren(
      el('strong', null, `${what} ${store.main ?? ''}`),
      el('span.amount', { 'data-testid': 'modal-amount' }, amount),
      el('span', null, along),
      el('span.hint', null, 'X Y Z axis · type a number · Enter or click confirms · Esc or right click cancels'),
    );
  }
}
