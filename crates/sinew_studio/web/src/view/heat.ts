// Values of a fit as colours on its surface.
import { type BufferAttribute, Color } from 'three';
import { fitView } from '../capabilities/fit/state';
import type { MeshBuffers } from './mesh';

/** From little to much, as light on the screen: rising in brightness, distinguishable also without colours. */
export const HEAT = ['#2b2a5c', '#3465a8', '#2fa3a0', '#9ccf5b', '#f7e04b'];
const STEPS = 256;

const table = buildTable();

function buildTable(): Uint8Array {
  const stops = HEAT.map((stop) => new Color(stop));
  const out = new Uint8Array(STEPS * 3);
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    const { r, g, b } = stops[k].clone().lerp(stops[k + 1], at - k);
    out.set([r * 255, g * 255, b * 255], i * 3);
  }
  return out;
}

/** The range that colours span: what few vertices exceed does not darken all others. */
export function heatRange(values: Float32Array): [number, number] {
  const sorted = Float32Array.from(values).sort();
  const low = sorted[0] ?? 0;
  const high = sorted[Math.floor(0.995 * (sorted.length - 1))] ?? 1;
  return high > low ? [low, high] : [low, low + 1];
}

/** Hues far from each other for neighbours in number (the golden angle), three lightnesses. */
export function boneColour(bone: number): Color {
  return new Color().setHSL(((bone * 137.508) % 360) / 360, 0.6, [0.48, 0.62, 0.74][bone % 3]);
}

/** Paint the twin with what is chosen. */
export function paintHeat(mesh: MeshBuffers): void {
  const attribute = mesh.twin.getAttribute('tint') as BufferAttribute | undefined;
  if (!attribute) return;
  const out = attribute.array as Uint8Array;
  const paint = painter(mesh.n);
  for (let r = 0; r < mesh.nRender; r++) {
    if (paint) paint(mesh.source(r), out, r * 4);
    else out[r * 4 + 3] = 0;
  }
  attribute.clearUpdateRanges();
  attribute.needsUpdate = true;
}

type Paint = (vertex: number, out: Uint8Array, at: number) => void;

function painter(n: number): Paint | null {
  const { maps, map, bone } = fitView;
  if (!maps || maps.error.length !== n || map === 'none') return null;
  const { influences: k, indices, weights } = maps;
  if (map === 'clusters') {
    const colours = Array.from({ length: maps.bones }, (_, i) => boneColour(i));
    return (v, out, at) => {
      // Blended as the skin is, so that soft borders look soft.
      let [r, g, b] = [0, 0, 0];
      for (let i = v * k; i < (v + 1) * k; i++) {
        const colour = colours[indices[i]];
        r += weights[i] * colour.r;
        g += weights[i] * colour.g;
        b += weights[i] * colour.b;
      }
      write(out, at, r, g, b);
    };
  }
  const heat = (share: number, out: Uint8Array, at: number): void => {
    const from = Math.round(Math.min(1, Math.max(0, share)) * (STEPS - 1)) * 3;
    write(out, at, table[from], table[from + 1], table[from + 2]);
  };
  if (map === 'weights') {
    return (v, out, at) => {
      let weight = 0;
      for (let i = v * k; i < (v + 1) * k; i++) if (indices[i] === bone) weight += weights[i] / 255;
      heat(weight, out, at);
    };
  }
  const values = maps[map];
  const [low, high] = heatRange(values);
  return (v, out, at) => heat((values[v] - low) / (high - low), out, at);
}

function write(out: Uint8Array, at: number, r: number, g: number, b: number): void {
  out[at] = r;
  out[at + 1] = g;
  out[at + 2] = b;
  out[at + 3] = 255;
}
