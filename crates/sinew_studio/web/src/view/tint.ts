// Colours over the surface: whose vertex it is, what is selected, how far it is stretched.
import { type BufferAttribute, Color } from 'three';
import { fleshView } from '../capabilities/flesh/state';
import type { Store } from '../store';
import { type MeshBuffers, NO_OWNER } from './mesh';
import { token } from './token';

/** Of the pressed colour where pressed, clear where unchanged, of the other where stretched; built at first use. */
let stressTable: Uint8Array | null = null;

export function paintTint(mesh: MeshBuffers, store: Store): void {
  const attribute = mesh.geometry.getAttribute('tint') as BufferAttribute | undefined;
  if (!attribute || !store.doc) return;
  const out = attribute.array as Uint8Array;
  if (fleshView.colours) paintStress(mesh, out, (v) => mesh.stiffness[v] ?? 128);
  else if (store.look === 'stress') paintStress(mesh, out, (v) => mesh.stress[v]);
  else paintHandles(mesh, store, out);
  attribute.clearUpdateRanges();
  attribute.needsUpdate = true;
}

function paintStress(mesh: MeshBuffers, out: Uint8Array, value: (vertex: number) => number): void {
  const table = (stressTable ??= buildStress());
  for (let r = 0; r < mesh.nRender; r++) {
    const from = value(mesh.source(r)) * 4;
    out[r * 4] = table[from];
    out[r * 4 + 1] = table[from + 1];
    out[r * 4 + 2] = table[from + 2];
    out[r * 4 + 3] = table[from + 3];
  }
}

function paintHandles(mesh: MeshBuffers, store: Store, out: Uint8Array): void {
  const colours = handleColours(store);
  for (let r = 0; r < mesh.nRender; r++) {
    const v = mesh.source(r);
    const owner = mesh.owners[v];
    const at = r * 4;
    if (owner === NO_OWNER || owner * 4 >= colours.length) {
      out[at + 3] = 0;
      continue;
    }
    out[at] = colours[owner * 4];
    out[at + 1] = colours[owner * 4 + 1];
    out[at + 2] = colours[owner * 4 + 2];
    // A vertex of weight 0 is as soft as one without a handle, and looks so.
    out[at + 3] = (colours[owner * 4 + 3] * mesh.weights[v]) / 255;
  }
}

/** Colour and strength of each handle, in linear light as the shader mixes. */
function handleColours(store: Store): Uint8Array {
  const handles = store.doc?.handles ?? [];
  const colours = new Uint8Array(handles.length * 4);
  const everywhere = store.look === 'handles';
  const color = new Color();
  handles.forEach((handle, i) => {
    const isMain = handle.name === store.main;
    const isSecondary = store.secondary.has(handle.name);
    let strength = everywhere ? 0.62 : 0;
    if (isSecondary) strength = everywhere ? 0.8 : 0.32;
    if (isMain) strength = everywhere ? 1 : 0.55;
    if (store.hidden.has(handle.name) || (store.solo !== null && store.solo !== handle.name)) strength = 0;
    color.set(handle.color);
    if (isMain) color.lerp(WHITE, 0.18);
    colours.set([color.r * 255, color.g * 255, color.b * 255, strength * 255], i * 4);
  });
  return colours;
}

const WHITE = new Color(1, 1, 1);

function buildStress(): Uint8Array {
  const table = new Uint8Array(256 * 4);
  const pressed = token('--pressed');
  const stretched = token('--stretched');
  for (let i = 0; i < 256; i++) {
    const share = (i - 128) / 127;
    const end = share < 0 ? pressed : stretched;
    table.set([end.r * 255, end.g * 255, end.b * 255, Math.min(1, Math.abs(share) * 1.6) * 255], i * 4);
  }
  return table;
}
