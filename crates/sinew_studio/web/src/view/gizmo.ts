// Rings and arrows at the main handle's rotation centre.
import { Object3D, Quaternion, Vector3 } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import { store } from '../app';
import { poseOptions } from '../capabilities/pose/state';
import { PoseGesture, toDegrees } from '../tools/gesture';
import type { Overlay } from './overlay';
import { tokenText } from './token';
import type { Viewport } from './viewport';

export class Gizmo {
  private readonly proxy = new Object3D();
  private readonly controls: TransformControls;
  private gesture: PoseGesture | null = null;
  private readonly startPosition = new Vector3();
  private readonly startRotation = new Quaternion();
  private eventTime = 0;
  private readonly lastAxis = new Vector3();
  private lastDegrees = 0;

  constructor(
    private readonly viewport: Viewport,
    private readonly overlay: Overlay,
  ) {
    this.controls = new TransformControls(viewport.rig.camera, viewport.canvas);
    this.controls.setSize(0.8);
    this.controls.setColors(
      tokenText('--axis-x'),
      tokenText('--axis-y'),
      tokenText('--axis-z'),
      tokenText('--warning'),
    );
    viewport.scene.add(this.proxy, this.controls.getHelper());
    this.controls.addEventListener('change', () => viewport.request());
    this.controls.addEventListener('mouseDown', () => this.begin());
    this.controls.addEventListener('objectChange', () => this.move());
    this.controls.addEventListener('mouseUp', () => this.end());
    viewport.canvas.addEventListener(
      'pointermove',
      (event) => {
        this.eventTime = event.timeStamp;
      },
      true,
    );
    for (const topic of ['selection', 'tool', 'doc', 'frame', 'camera'] as const) store.on(topic, () => this.place());
    this.place();
  }

  /** The pointer is on a ring or an arrow, so that the press belongs to it. */
  get hovered(): boolean {
    return this.controls.enabled && this.controls.axis !== null;
  }

  get dragging(): boolean {
    return this.gesture !== null;
  }

  /** Out of sight, for a picture; the result brings it back. */
  hide(): () => void {
    const helper = this.controls.getHelper();
    const was = helper.visible;
    helper.visible = false;
    return () => {
      helper.visible = was;
    };
  }

  cancel(): void {
    this.gesture?.cancel();
    this.gesture = null;
    this.controls.reset();
    this.place();
  }

  private place(): void {
    this.controls.camera = this.viewport.rig.camera;
    if (this.gesture) return;
    const shown =
      (store.tool === 'rotate' || store.tool === 'translate') &&
      store.main !== null &&
      store.doc?.display.what === 'posed';
    const centre = shown ? this.overlay.centre(store.main!) : null;
    this.controls.enabled = centre !== null;
    if (!centre) {
      if (this.controls.object) this.controls.detach();
      return;
    }
    this.controls.setMode(store.tool === 'rotate' ? 'rotate' : 'translate');
    this.controls.setSpace(poseOptions.value.space);
    this.proxy.position.copy(centre);
    this.proxy.quaternion.copy(this.rotation());
    this.proxy.updateMatrixWorld();
    if (this.controls.object !== this.proxy) this.controls.attach(this.proxy);
    this.viewport.request();
  }

  private rotation(): Quaternion {
    const index = store.doc?.handles.findIndex((handle) => handle.name === store.main) ?? -1;
    const frames = this.viewport.mesh.handleFrames;
    return index >= 0 && (index + 1) * 7 <= frames.length
      ? new Quaternion().fromArray(frames, index * 7 + 3)
      : new Quaternion();
  }

  private begin(): void {
    if (store.main === null) return;
    this.gesture = new PoseGesture(store.main, store.selected());
    this.startPosition.copy(this.proxy.position);
    this.startRotation.copy(this.proxy.quaternion);
    this.lastAxis.set(0, 0, 0);
    this.lastDegrees = 0;
  }

  private move(): void {
    if (!this.gesture) return;
    if (this.controls.mode === 'translate') {
      this.gesture.translate(this.proxy.position.clone().sub(this.startPosition).toArray(), this.eventTime);
      return;
    }
    const turn = this.proxy.quaternion.clone().multiply(this.startRotation.clone().invert()).normalize();
    if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
    const sine = Math.hypot(turn.x, turn.y, turn.z);
    if (sine < 1e-9) return this.gesture.rotate([0, 1, 0], 0, this.eventTime);
    const axis = new Vector3(turn.x, turn.y, turn.z).divideScalar(sine);
    let degrees = toDegrees(2 * Math.atan2(sine, turn.w));
    if (axis.dot(this.lastAxis) < 0) {
      axis.negate();
      degrees = -degrees;
    }
    // A ring is turned on beyond half a turn: of all equal angles, the one nearest to the last is used.
    degrees += 360 * Math.round((this.lastDegrees - degrees) / 360);
    this.lastAxis.copy(axis);
    this.lastDegrees = degrees;
    this.gesture.rotate(axis.toArray(), degrees, this.eventTime);
  }

  private end(): void {
    this.gesture?.end();
    this.gesture = null;
    this.place();
  }
}
