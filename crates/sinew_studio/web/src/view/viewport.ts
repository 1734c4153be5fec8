// The picture of the surface: scene, lights and drawing, only when something has changed.
import { type LineSegments, type Material, Mesh, Scene, Vector3, WebGLRenderer } from 'three';
import { stats, store } from '../app';
import { fitView } from '../capabilities/fit/state';
import { fleshView } from '../capabilities/flesh/state';
import type { Packet } from '../net/decode';
import type { Point } from '../net/protocol';
import { el, whenChanged } from '../ui/dom';
import { CameraRig } from './camera';
import { buildGrid, gridStep } from './grid';
import { paintHeat } from './heat';
import { Light } from './light';
import { Looks } from './looks';
import { MeshBuffers, type Taken } from './mesh';
import { Sharpness } from './sharpness';
import { paintTint } from './tint';
import { token } from './token';

const THUMBNAIL = 160;
/** Vertices looked at to find where the model is on the screen. */
const SAMPLES = 2000;

export interface Picture {
  /** A PNG file as a data URI. */
  image: string;
  width: number;
  height: number;
  /** Matrices of the camera, by columns. */
  view: number[];
  projection: number[];
}

export class Viewport {
  readonly canvas = el('canvas.scene', { tabindex: 0, 'aria-label': 'Surface', 'data-testid': 'viewport' });
  readonly element = el('div.viewport', null, this.canvas);
  readonly mesh = new MeshBuffers();
  readonly rig = new CameraRig((byUser) => {
    this.request();
    store.emit('camera', byUser);
  });
  readonly scene = new Scene();
  private readonly renderer: WebGLRenderer;
  private readonly sharpness: Sharpness;
  private readonly looks = new Looks(() => this.restyle());
  private readonly light: Light;
  private readonly surface = new Mesh();
  private readonly wire = new Mesh();
  private readonly ghost = new Mesh();
  private readonly twin = new Mesh();
  private grid: LineSegments | null = null;
  private queued = 0;
  private tintStale = false;
  private firstFrame = true;
  /** Off while a test measures without rasterising. */
  drawing = true;
  /** Run after each drawing, for what lies above the picture. */
  readonly afterDraw: (() => void)[] = [];

  constructor() {
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true });
    this.sharpness = new Sharpness(this.renderer.getContext(), () => this.request());
    this.light = new Light(this.renderer, this.scene);
    for (const mesh of [this.surface, this.wire, this.ghost, this.twin]) {
      // The engine sends the bounds; three would compute them from every vertex.
      mesh.frustumCulled = false;
      mesh.visible = false;
    }
    this.ghost.renderOrder = 2;
    this.wire.renderOrder = 1;
    this.scene.add(this.surface, this.wire, this.ghost, this.twin);
    new ResizeObserver(() => this.resize()).observe(this.element);
    store.on('view', () => this.restyle());
    store.on('selection', () => this.retint());
    fitView.on('change', () => this.restyle());
    fleshView.on('change', () => this.retint());
    store.on('prefs', () => this.retheme());
    const showMaterials = whenChanged(() => this.restyle());
    const showBounds = whenChanged(() => this.retheme());
    store.on('doc', (doc) => {
      showMaterials(doc.appearance);
      showBounds(doc.bounds);
      this.retint();
    });
  }

  /** Write a message into the buffers. */
  take(packet: Packet): Taken {
    const taken = this.mesh.take(packet);
    if (taken === 'geometry') {
      this.restyle();
      this.retheme();
    }
    const coloured = store.look === 'stress' || fleshView.colours;
    if (taken === 'handles' || (taken === 'frame' && coloured)) this.tintStale = true;
    if (taken !== 'stale') this.request();
    return taken;
  }

  request(): void {
    if (this.queued === 0 && this.drawing) this.queued = requestAnimationFrame(() => this.draw());
  }

  frameAll(byUser = true): void {
    const bounds = store.doc?.bounds;
    if (bounds) this.rig.frame(new Vector3(...bounds[0]), new Vector3(...bounds[1]), true, byUser);
  }

  frameSelected(): void {
    const chosen = new Set(store.selected());
    const indices = new Set(store.doc?.handles.flatMap((handle, i) => (chosen.has(handle.name) ? [i] : [])));
    const box = this.mesh.bounds(indices);
    if (box) this.rig.frame(box.min, box.max);
    else this.frameAll();
  }

  pixel(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const rect = this.canvas.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  }

  /** Where a point is drawn, in pixels of the page. */
  place(point: Vector3): { x: number; y: number; behind: boolean } {
    const at = this.rig.project(point);
    const rect = this.canvas.getBoundingClientRect();
    return { x: at.x + rect.left, y: at.y + rect.top, behind: at.behind };
  }

  /** What is drawn now: the document, the fit, or both side by side. */
  get shows(): 'original' | 'both' | 'fit' {
    return this.mesh.hasTwin ? fitView.mode : 'original';
  }

  /** Pixels right of and above the middle of the picture that the pointer is over. */
  fromMiddle(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const { x, y } = this.pixel(event);
    const { clientWidth, clientHeight } = this.canvas;
    const middle = this.shows === 'both' ? (x < clientWidth / 2 ? 0.25 : 0.75) : 0.5;
    return { x: x - middle * clientWidth, y: clientHeight / 2 - y };
  }

  /** Screen coordinates of the protocol: −1..1, y up. */
  ndc(event: { clientX: number; clientY: number }): Point {
    const { x, y } = this.pixel(event);
    return [(x / this.canvas.clientWidth) * 2 - 1, 1 - (y / this.canvas.clientHeight) * 2];
  }

  /** Draw the surface without grid and gizmo, and use the picture. */
  private alone<T>(hide: () => () => void, use: () => T): T {
    const restore = hide();
    if (this.grid) this.grid.visible = false;
    this.draw(true);
    const made = use();
    restore();
    if (this.grid) this.grid.visible = store.grid;
    this.request();
    return made;
  }

  /** A small picture of the pose, without grid and gizmo. */
  capture(hide: () => () => void): string {
    return this.alone(hide, () => {
      const { x, y, side } = this.modelSquare();
      const small = document.createElement('canvas');
      small.width = small.height = THUMBNAIL;
      small.getContext('2d')?.drawImage(this.canvas, x, y, side, side, 0, 0, THUMBNAIL, THUMBNAIL);
      return small.toDataURL('image/png');
    });
  }

  /** The whole picture of the surface alone, and the camera it was drawn with. */
  picture(hide: () => () => void): Picture {
    const image = this.alone(hide, () => this.canvas.toDataURL('image/png'));
    const { matrixWorldInverse, projectionMatrix } = this.rig.camera;
    const { width, height } = this.canvas;
    return { image, width, height, view: matrixWorldInverse.toArray(), projection: projectionMatrix.toArray() };
  }

  /** Whether the materials of the document are there, if they are shown. */
  get isDressed(): boolean {
    return store.look !== 'textured' || this.looks.materials.ready;
  }

  /** The square of the picture, in its own pixels, that holds what is seen of the model. */
  private modelSquare(): { x: number; y: number; side: number } {
    const ratio = this.canvas.width / this.canvas.clientWidth;
    let [left, top, right, bottom] = [Infinity, Infinity, 0, 0];
    const point = new Vector3();
    const stride = Math.max(1, Math.floor(this.mesh.n / SAMPLES));
    for (let v = 0; v < this.mesh.n; v += stride) {
      const p = this.rig.project(this.mesh.position(v, point));
      [left, top] = [Math.min(left, p.x), Math.min(top, p.y)];
      [right, bottom] = [Math.max(right, p.x), Math.max(bottom, p.y)];
    }
    left = Math.max(0, left);
    top = Math.max(0, top);
    right = Math.min(this.canvas.clientWidth, right);
    bottom = Math.min(this.canvas.clientHeight, bottom);
    const side = Math.max(right - left, bottom - top, 16) * 1.08;
    return { x: ((left + right - side) / 2) * ratio, y: ((top + bottom - side) / 2) * ratio, side: side * ratio };
  }

  private draw(whole = false): void {
    cancelAnimationFrame(this.queued);
    this.queued = 0;
    const start = performance.now();
    if (this.tintStale) {
      paintTint(this.mesh, store);
      paintHeat(this.mesh);
      this.tintStale = false;
    }
    this.light.follow(this.rig.quaternion);
    const ratio = this.sharpness.ratio(whole);
    if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
    this.drawPictures();
    stats.draws++;
    stats.drawMs = performance.now() - start;
    for (const run of this.afterDraw) run();
  }

  /** The document's surface and the fit have the same camera, each in its half. */
  private drawPictures(): void {
    const { shows } = this;
    const { clientWidth: width, clientHeight: height } = this.element;
    const own = [this.surface, this.wire, this.ghost];
    const wanted = own.map((mesh) => mesh.visible);
    this.renderer.setScissorTest(shows === 'both');
    for (const side of shows === 'both' ? (['right', 'left'] as const) : [null]) {
      const isFit = side === 'right' || shows === 'fit';
      own.forEach((mesh, i) => {
        mesh.visible = wanted[i] && !isFit;
      });
      this.twin.visible = isFit;
      this.rig.halve(side);
      if (side) this.renderer.setScissor(side === 'left' ? 0 : width / 2, 0, width / 2, height);
      this.renderer.render(this.scene, this.rig.camera);
    }
    own.forEach((mesh, i) => {
      mesh.visible = wanted[i];
    });
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.rig.resize(clientWidth, clientHeight);
  }

  private retint(): void {
    this.tintStale = true;
    this.request();
  }

  private restyle(): void {
    const ready = this.mesh.nRender > 0;
    this.surface.visible = ready;
    if (!ready) return;
    this.surface.geometry = this.wire.geometry = this.mesh.geometry;
    this.ghost.geometry = this.mesh.ghost;
    this.light.set(store.look === 'textured');
    this.surface.material = this.looks.surface(store, this.mesh, store.doc?.appearance ?? '');
    replaceMaterial(this.wire, store.wireframe ? this.looks.wire(this.mesh, token('--wire')) : null);
    replaceMaterial(this.ghost, store.ghost ? this.looks.ghost(this.mesh, token('--ghost')) : null);
    this.twin.geometry = this.mesh.twin;
    replaceMaterial(this.twin, this.looks.twin(this.mesh, fitView.map !== 'none'));
    if (this.grid) this.grid.visible = store.grid;
    this.retint();
  }

  private retheme(): void {
    const bounds = store.doc?.bounds;
    const size = bounds ? new Vector3(...bounds[0]).distanceTo(new Vector3(...bounds[1])) : 2;
    if (this.grid) {
      this.scene.remove(this.grid);
      this.grid.geometry.dispose();
      (this.grid.material as Material).dispose();
    }
    this.grid = buildGrid(gridStep(size), { line: token('--grid'), x: token('--axis-x'), z: token('--axis-z') });
    this.grid.visible = store.grid;
    this.scene.add(this.grid);
    if (this.firstFrame && bounds && this.mesh.nRender > 0) {
      this.firstFrame = false;
      this.frameAll(false);
    }
    if (this.mesh.nRender > 0) this.restyle();
    this.request();
  }

  /** The next geometry is another model: look at all of it. */
  frameNext(): void {
    this.firstFrame = true;
  }
}

function replaceMaterial(mesh: Mesh, material: Material | null): void {
  (mesh.material as Material).dispose();
  mesh.visible = material !== null;
  if (material) mesh.material = material;
}
