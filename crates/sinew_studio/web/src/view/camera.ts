// The camera: a turntable about a target, in perspective or orthographic.
import { Euler, MathUtils, Matrix4, OrthographicCamera, PerspectiveCamera, Quaternion, Vector3 } from 'three';

const FOV = 35;
const HALF_PI = Math.PI / 2;
const GLIDE_MS = 160;

export type ViewName = 'front' | 'back' | 'right' | 'left' | 'top' | 'bottom';

const VIEWS: Record<ViewName, [number, number]> = {
  front: [0, 0],
  back: [Math.PI, 0],
  right: [HALF_PI, 0],
  left: [-HALF_PI, 0],
  top: [0, HALF_PI],
  bottom: [0, -HALF_PI],
};

interface Place {
  target: Vector3;
  distance: number;
  yaw: number;
  pitch: number;
}

export class CameraRig {
  private readonly perspective = new PerspectiveCamera(FOV, 1, 0.01, 100);
  private readonly orthographic = new OrthographicCamera();
  private readonly place: Place = { target: new Vector3(0, 1, 0), distance: 4, yaw: 0.5, pitch: 0.15 };
  private glide = 0;
  private width = 1;
  private height = 1;
  /** Size of what is looked at, for the planes of clipping. */
  private radius = 1;
  isOrthographic = false;
  /** Pixels by which the middle of the picture lies left of the middle of the canvas. */
  private shifted = 0;
  /** Share of the canvas that one picture has. */
  private share = 1;

  constructor(private readonly changed: (byUser: boolean) => void) {}

  get camera(): PerspectiveCamera | OrthographicCamera {
    return this.isOrthographic ? this.orthographic : this.perspective;
  }

  get quaternion(): Quaternion {
    return this.camera.quaternion;
  }

  resize(width: number, height: number): void {
    this.shifted *= Math.max(width, 1) / this.width;
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    this.update(false);
  }

  /** Two pictures side by side, each with half of the canvas; this is the one at the left or the right. */
  halve(side: 'left' | 'right' | null): void {
    this.share = side === null ? 1 : 0.5;
    this.shifted = side === null ? 0 : side === 'left' ? this.width / 4 : -this.width / 4;
    for (const camera of [this.perspective, this.orthographic]) this.shift(camera);
  }

  private shift(camera: PerspectiveCamera | OrthographicCamera): void {
    if (this.shifted === 0) camera.clearViewOffset();
    else camera.setViewOffset(this.width, this.height, this.shifted, 0, this.width, this.height);
    camera.updateProjectionMatrix();
  }

  orbit(dx: number, dy: number): void {
    this.stop();
    const turn = 2.4 / Math.min(this.width, this.height);
    this.place.yaw -= dx * turn;
    this.place.pitch = MathUtils.clamp(this.place.pitch + dy * turn, -HALF_PI, HALF_PI);
    this.update(true);
  }

  pan(dx: number, dy: number): void {
    this.stop();
    const scale = this.metresPerPixel(this.place.target);
    const shift = new Vector3(-dx * scale, dy * scale, 0).applyQuaternion(this.quaternion);
    this.place.target.add(shift);
    this.update(true);
  }

  /** Closer by a factor, keeping what is under the pointer (in pixels from the middle) where it is. */
  zoom(factor: number, x = 0, y = 0): void {
    this.stop();
    const before = this.metresPerPixel(this.place.target);
    this.place.distance = MathUtils.clamp(this.place.distance * factor, this.radius * 0.01, this.radius * 200);
    this.update(true);
    const moved = before - this.metresPerPixel(this.place.target);
    this.place.target.add(new Vector3(x * moved, y * moved, 0).applyQuaternion(this.quaternion));
    this.update(true);
  }

  /** Look at a box. Its size sets the clipping only for `all` of the model. */
  frame(min: Vector3, max: Vector3, all = false, byUser = true): void {
    const radius = Math.max(min.distanceTo(max) / 2, 1e-6);
    if (all) this.radius = radius;
    const fit = radius / Math.sin(MathUtils.degToRad(FOV / 2)) / Math.min(1, (this.width * this.share) / this.height);
    this.goTo({ ...this.place, target: min.clone().add(max).multiplyScalar(0.5), distance: fit * 0.92 }, byUser);
  }

  view(name: ViewName): void {
    const [yaw, pitch] = VIEWS[name];
    this.goTo({ ...this.place, target: this.place.target.clone(), yaw, pitch }, true);
  }

  toggleOrthographic(): void {
    this.isOrthographic = !this.isOrthographic;
    this.update(true);
  }

  /** `clip_from_model` of the protocol; the model is at the origin of the world. */
  view16(): number[] {
    const camera = this.camera;
    return new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).toArray();
  }

  /** Length of a pixel at the depth of a point. */
  metresPerPixel(at: Vector3): number {
    const tan = Math.tan(MathUtils.degToRad(FOV / 2));
    if (this.isOrthographic) return (2 * this.place.distance * tan) / this.height;
    const depth = at.clone().applyMatrix4(this.perspective.matrixWorldInverse).z;
    return (2 * Math.max(-depth, 1e-9) * tan) / this.height;
  }

  /** Pixels from the upper left corner of the viewport. */
  project(point: Vector3): { x: number; y: number; behind: boolean } {
    const p = point.clone().project(this.camera);
    return { x: (p.x * 0.5 + 0.5) * this.width, y: (0.5 - p.y * 0.5) * this.height, behind: p.z > 1 };
  }

  private goTo(to: Place, byUser: boolean): void {
    this.stop();
    const from = { ...this.place, target: this.place.target.clone() };
    // The short way round.
    to.yaw = from.yaw + MathUtils.euclideanModulo(to.yaw - from.yaw + Math.PI, 2 * Math.PI) - Math.PI;
    const start = performance.now();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches || !byUser;
    const step = (): void => {
      const t = still ? 1 : Math.min(1, (performance.now() - start) / GLIDE_MS);
      const s = t * t * (3 - 2 * t);
      this.place.target.lerpVectors(from.target, to.target, s);
      this.place.distance = from.distance * (to.distance / from.distance) ** s;
      this.place.yaw = from.yaw + (to.yaw - from.yaw) * s;
      this.place.pitch = from.pitch + (to.pitch - from.pitch) * s;
      this.update(byUser);
      this.glide = t < 1 ? requestAnimationFrame(step) : 0;
    };
    step();
  }

  private stop(): void {
    cancelAnimationFrame(this.glide);
    this.glide = 0;
  }

  private update(byUser: boolean): void {
    const { target, distance, yaw, pitch } = this.place;
    const rotation = new Quaternion().setFromEuler(new Euler(-pitch, yaw, 0, 'YXZ'));
    const far = distance + this.radius * 40;
    const half = distance * Math.tan(MathUtils.degToRad(FOV / 2));
    const aspect = this.width / this.height;
    this.perspective.near = Math.max(distance / 200, far / 1e5);
    this.perspective.far = far;
    this.perspective.aspect = aspect;
    Object.assign(this.orthographic, {
      left: -half * aspect,
      right: half * aspect,
      top: half,
      bottom: -half,
      near: -far,
      far,
    });
    for (const camera of [this.perspective, this.orthographic]) {
      camera.quaternion.copy(rotation);
      camera.position.set(0, 0, distance).applyQuaternion(rotation).add(target);
      this.shift(camera);
      camera.updateMatrixWorld();
    }
    this.changed(byUser);
  }
}
