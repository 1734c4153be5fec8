// Binary messages taken apart without copying: every section is a view into the message.

export const KIND = { geometry: 1, frame: 2, handles: 3 } as const;

export const TAG = {
  triangles: 1,
  sources: 2,
  uvs: 3,
  colours: 4,
  positions: 5,
  quantised: 6,
  normals: 7,
  owners: 8,
  weights: 9,
  stress: 10,
  handleFrames: 11,
  twinPositions: 12,
  twinQuantised: 13,
  twinNormals: 14,
  stiffness: 15,
  cellEdges: 16,
  cellNodes: 17,
} as const;

const HEADER_BYTES = 48;
const SECTION_BYTES = 16;

export interface Section {
  tag: number;
  a: number;
  b: number;
  /** Where its bytes start in the message, a multiple of 4. */
  at: number;
  bytes: number;
}

export interface Packet {
  buffer: ArrayBuffer;
  kind: number;
  frame: number;
  revision: number;
  n: number;
  solveMs: number;
  drag: number;
  min: [number, number, number];
  extent: [number, number, number];
  sections: Section[];
}

/** Take a message apart; `null` if it is cut short, as after a broken connection. */
export function decode(buffer: ArrayBuffer): Packet | null {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const view = new DataView(buffer);
  const u32 = (at: number): number => view.getUint32(at, true);
  const f32 = (at: number): number => view.getFloat32(at, true);
  const sections: Section[] = [];
  let at = HEADER_BYTES;
  while (at + SECTION_BYTES <= buffer.byteLength) {
    const bytes = u32(at + 12);
    const start = at + SECTION_BYTES;
    if (start + bytes > buffer.byteLength) return null;
    sections.push({ tag: u32(at), a: u32(at + 4), b: u32(at + 8), at: start, bytes });
    at = start + Math.ceil(bytes / 4) * 4;
  }
  return {
    buffer,
    kind: u32(0),
    frame: u32(4),
    revision: u32(8),
    n: u32(12),
    solveMs: f32(16),
    drag: u32(20),
    min: [f32(24), f32(28), f32(32)],
    extent: [f32(36), f32(40), f32(44)],
    sections,
  };
}

export const floats = (p: Packet, s: Section): Float32Array<ArrayBuffer> =>
  new Float32Array(p.buffer, s.at, s.bytes >> 2);
export const words = (p: Packet, s: Section): Uint32Array<ArrayBuffer> => new Uint32Array(p.buffer, s.at, s.bytes >> 2);
export const shorts = (p: Packet, s: Section): Int16Array<ArrayBuffer> => new Int16Array(p.buffer, s.at, s.bytes >> 1);
export const ushorts = (p: Packet, s: Section): Uint16Array<ArrayBuffer> =>
  new Uint16Array(p.buffer, s.at, s.bytes >> 1);
export const bytes = (p: Packet, s: Section): Uint8Array<ArrayBuffer> => new Uint8Array(p.buffer, s.at, s.bytes);
