// The surface in GPU buffers: messages of vertices are written straight into them.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, type TypedArray, Vector3 } from 'three';
import { bytes, floats, KIND, type Packet, type Section, shorts, TAG, ushorts, words } from '../net/decode';
import { type Box, dequantise } from './shader';

export const NO_OWNER = 65535;

export type Taken = 'geometry' | 'frame' | 'handles' | 'stale';

export class MeshBuffers {
  geometry = new BufferGeometry();
  /** The surface at rest, for comparison; shares the triangles. */
  ghost = new BufferGeometry();
  /** The fit, seen beside the surface; shares the triangles. */
  twin = new BufferGeometry();
  hasTwin = false;
  readonly box: Box = { min: { value: new Vector3() }, extent: { value: new Vector3(1, 1, 1) } };
  readonly ghostBox: Box = { min: { value: new Vector3() }, extent: { value: new Vector3(1, 1, 1) } };
  revision = -1;
  n = 0;
  nRender = 0;
  quantised = false;
  owners: Uint16Array = new Uint16Array(0);
  weights: Uint8Array = new Uint8Array(0);
  stress: Uint8Array = new Uint8Array(0);
  /** Painted stiffness: 128 as it is; empty if nothing is painted. */
  stiffness: Uint8Array = new Uint8Array(0);
  /** Cells of flesh: ends of their edges, and where those are. */
  cellEdges: Uint32Array | null = null;
  cellNodes: Float32Array | null = null;
  /** Centre and rotation of each handle as displayed, seven numbers each. */
  handleFrames: Float32Array = new Float32Array(0);
  /** Material of each group of triangles, as the document counts them. */
  materials: number[] = [];
  private sources: Uint32Array | null = null;
  private renderOf: Uint32Array | null = null;

  take(packet: Packet): Taken {
    if (packet.kind === KIND.geometry) {
      this.replace(packet);
      return 'geometry';
    }
    if (packet.revision !== this.revision) return 'stale';
    if (packet.kind !== KIND.frame && packet.kind !== KIND.handles) return 'stale';
    if (packet.sections.some((s) => s.tag === TAG.quantised)) setBox(this.box, packet);
    if (packet.kind === KIND.frame)
      this.hasTwin = packet.sections.some((s) => s.tag === TAG.twinPositions || s.tag === TAG.twinQuantised);
    for (const section of packet.sections) this.write(packet, section);
    return packet.kind === KIND.frame ? 'frame' : 'handles';
  }

  /** Where a vertex of the document's mesh is now. */
  position(vertex: number, out = new Vector3()): Vector3 {
    return this.positionIn(this.geometry, vertex, out);
  }

  /** Where it is in the fit. */
  twinPosition(vertex: number, out = new Vector3()): Vector3 {
    return this.positionIn(this.twin, vertex, out);
  }

  private positionIn(geometry: BufferGeometry, vertex: number, out: Vector3): Vector3 {
    const at = this.renderVertex(vertex);
    if (this.quantised) return dequantise(geometry.getAttribute('quantised').array, at, this.box, out);
    return out.fromBufferAttribute(geometry.getAttribute('position') as BufferAttribute, at);
  }

  /** Box around the vertices of some handles, or null if they have none. */
  bounds(handles: ReadonlySet<number>): { min: Vector3; max: Vector3 } | null {
    const min = new Vector3(Infinity, Infinity, Infinity);
    const max = min.clone().negate();
    const p = new Vector3();
    for (let v = 0; v < this.owners.length; v++) {
      if (!handles.has(this.owners[v])) continue;
      this.position(v, p);
      min.min(p);
      max.max(p);
    }
    return min.x <= max.x ? { min, max } : null;
  }

  handleCentre(index: number, out = new Vector3()): Vector3 | null {
    if ((index + 1) * 7 > this.handleFrames.length || index < 0) return null;
    return out.fromArray(this.handleFrames, index * 7);
  }

  private replace(packet: Packet): void {
    this.geometry.dispose();
    this.ghost.dispose();
    this.twin.dispose();
    this.twin = new BufferGeometry();
    this.hasTwin = false;
    this.geometry = new BufferGeometry();
    this.ghost = new BufferGeometry();
    this.revision = packet.revision;
    this.n = packet.n;
    const find = (tag: number): Section | undefined => packet.sections.find((s) => s.tag === tag);
    const sources = find(TAG.sources);
    // Copied, since a view would keep the whole message alive.
    this.sources = sources ? words(packet, sources).slice() : null;
    this.renderOf = null;
    this.nRender = sources ? sources.a : packet.n;
    this.quantised = find(TAG.quantised) !== undefined;
    setBox(this.box, packet);
    setBox(this.ghostBox, packet);
    this.makeAttributes(packet, find(TAG.uvs), find(TAG.colours));
    this.makeTriangles(packet);
    this.owners = new Uint16Array(packet.n).fill(NO_OWNER);
    this.weights = new Uint8Array(packet.n).fill(255);
    this.stress = new Uint8Array(packet.n).fill(128);
    this.handleFrames = new Float32Array(0);
    this.stiffness = new Uint8Array(0);
    this.cellEdges = this.cellNodes = null;
    for (const section of packet.sections) this.write(packet, section);
    for (const name of ['position', 'quantised', 'normal', 'tint']) {
      const attribute = this.geometry.getAttribute(name) as BufferAttribute | undefined;
      if (attribute && name !== 'tint') this.ghost.setAttribute(name, attribute.clone());
      if (attribute) this.twin.setAttribute(name, attribute.clone());
    }
    this.ghost.setIndex(this.geometry.index);
    this.twin.setIndex(this.geometry.index);
  }

  private makeAttributes(packet: Packet, uvs?: Section, colours?: Section): void {
    const add = (name: string, array: TypedArray, size: number, normalized = false): void => {
      const attribute = new BufferAttribute(array, size, normalized);
      attribute.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    };
    const n = this.nRender;
    // Four components of 16 bits: with three, drivers that need alignment convert on the processor.
    if (this.quantised) add('quantised', new Int16Array(4 * n), 4);
    else {
      add('position', new Float32Array(3 * n), 3);
      add('normal', new Int16Array(4 * n), 4, true);
    }
    add('tint', new Uint8Array(4 * n), 4, true);
    if (uvs) add('uv', floats(packet, uvs).slice(), 2);
    if (colours) add('color', new Uint16Array(4 * n), 4, true);
  }

  /** A further set of texture coordinates, per vertex of the mesh. */
  setUvs(set: number, values: Float32Array): void {
    if (values.length !== 2 * this.n) return;
    const array = new Float32Array(2 * this.nRender);
    for (let r = 0; r < this.nRender; r++) {
      const v = 2 * this.source(r);
      array.set([values[v], values[v + 1]], 2 * r);
    }
    this.geometry.setAttribute(`uv${set}`, new BufferAttribute(array, 2));
  }

  private makeTriangles(packet: Packet): void {
    const parts = packet.sections.filter((s) => s.tag === TAG.triangles);
    const index = new Uint32Array(parts.reduce((sum, part) => sum + part.a * 3, 0));
    let at = 0;
    this.materials = [];
    for (const part of parts) {
      index.set(words(packet, part), at);
      this.geometry.addGroup(at, part.a * 3, part.b);
      this.materials.push(part.b);
      at += part.a * 3;
    }
    this.geometry.setIndex(new BufferAttribute(index, 1));
  }

  private write(packet: Packet, s: Section): void {
    switch (s.tag) {
      case TAG.positions:
        return this.scatter('position', floats(packet, s), 3, s.a, s.b);
      case TAG.quantised:
        return this.scatter('quantised', shorts(packet, s), 4, s.a, s.b);
      case TAG.normals:
        return this.scatter('normal', shorts(packet, s), 4, s.a, s.b);
      case TAG.twinPositions:
        return this.scatter('position', floats(packet, s), 3, s.a, s.b, this.twin);
      case TAG.twinQuantised:
        return this.scatter('quantised', shorts(packet, s), 4, s.a, s.b, this.twin);
      case TAG.twinNormals:
        return this.scatter('normal', shorts(packet, s), 4, s.a, s.b, this.twin);
      case TAG.colours:
        return this.scatter('color', ushorts(packet, s), 4, 0, s.a);
      case TAG.owners:
        this.owners = ushorts(packet, s).slice();
        return;
      case TAG.weights:
        this.weights = bytes(packet, s).slice(0, s.a);
        return;
      case TAG.stress:
        this.stress.set(bytes(packet, s).subarray(0, s.b), s.a);
        return;
      case TAG.stiffness:
        this.stiffness = bytes(packet, s).slice(0, s.b);
        return;
      case TAG.cellEdges:
        this.cellEdges = words(packet, s).slice();
        return;
      case TAG.cellNodes:
        this.cellNodes = floats(packet, s).slice();
        return;
      case TAG.handleFrames:
        this.handleFrames = floats(packet, s).slice();
        return;
      default:
        return;
    }
  }

  /** Copy values of mesh vertices to every render vertex made of them. */
  private scatter(
    name: string,
    values: TypedArray,
    size: number,
    first: number,
    count: number,
    geometry = this.geometry,
  ): void {
    const attribute = geometry.getAttribute(name) as BufferAttribute | undefined;
    if (!attribute || first + count > this.n) return;
    const target = attribute.array;
    let low = first;
    let high = first + count;
    target.set(values.length === size * count ? values : values.subarray(0, size * count), first * size);
    if (this.sources) {
      // The first of them are the mesh's own vertices; only the copies at seams have to be looked through.
      for (let r = this.n; r < this.nRender; r++) {
        const v = this.sources[r] - first;
        if (v < 0 || v >= count) continue;
        for (let k = 0; k < size; k++) target[r * size + k] = values[v * size + k];
        if (r < low) low = r;
        high = r + 1;
      }
    }
    if (high <= low) return;
    attribute.addUpdateRange(low * size, (high - low) * size);
    attribute.needsUpdate = true;
  }

  /** Mesh vertex a render vertex is made of. */
  source(render: number): number {
    return this.sources ? this.sources[render] : render;
  }

  private renderVertex(vertex: number): number {
    if (!this.sources) return vertex;
    if (!this.renderOf) {
      this.renderOf = new Uint32Array(this.n);
      for (let r = 0; r < this.nRender; r++) this.renderOf[this.sources[r]] = r;
    }
    return this.renderOf[vertex];
  }
}

function setBox(box: Box, packet: Packet): void {
  box.min.value.fromArray(packet.min);
  box.extent.value.fromArray(packet.extent);
}
