// Materials of the document as its file has them, made by three's own reader of glTF.
import { type BufferAttribute, type Material, MeshStandardMaterial, type Texture } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { address } from '../net/address';

export interface Appearance {
  /** By number; one beyond them is the default of glTF. */
  materials: Material[];
  /** Those of faces without normals. */
  flat: Set<number>;
  /** Further sets of texture coordinates, per vertex of the mesh. */
  uvs: Map<number, Float32Array>;
}

interface Answer {
  gltf: { materials: unknown[] };
  flat: number[];
  uv_sets: number[];
}

export class Materials {
  private at = '';
  private found: Appearance | null = null;

  constructor(private readonly changed: () => void) {}

  /** The materials at an address; until they are loaded, those that were there before. */
  get(path: string): Appearance | null {
    if (path !== this.at) {
      this.at = path;
      void this.load(path);
    }
    return this.found;
  }

  /** Whether what was asked for last is there. */
  ready = false;

  private async load(path: string): Promise<void> {
    this.ready = false;
    const found = await load(address(path)).catch(() => null);
    // Another document was opened meanwhile.
    if (path !== this.at) return found ? dispose(found) : undefined;
    if (this.found) dispose(this.found);
    this.found = found;
    this.ready = true;
    this.changed();
  }
}

async function load(path: string): Promise<Appearance> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`materials: ${response.status}`);
  const { gltf, flat, uv_sets } = (await response.json()) as Answer;
  const uvs = Promise.all(uv_sets.map(async (set) => [set, await numbers(`${path}/uv/${set}`)] as const));
  const { parser } = await new GLTFLoader().parseAsync(JSON.stringify(gltf), `${path}/`);
  const one = (_: unknown, i: number): Promise<Material> => parser.getDependency('material', i).catch(defaultMaterial);
  const materials = await Promise.all(gltf.materials.map(one));
  return { materials: [...materials, defaultMaterial()], flat: new Set(flat), uvs: new Map(await uvs) };
}

async function numbers(path: string): Promise<Float32Array> {
  const response = await fetch(path);
  return new Float32Array(response.ok ? await response.arrayBuffer() : new ArrayBuffer(0));
}

/** The default material of glTF. */
function defaultMaterial(): Material {
  return new MeshStandardMaterial({ metalness: 1, roughness: 1 });
}

/** Every picture of a material. */
function textures(material: Material): Texture[] {
  return Object.values(material).filter((value): value is Texture => value?.isTexture === true);
}

function dispose({ materials }: Appearance): void {
  for (const texture of new Set(materials.flatMap(textures))) texture.dispose();
  for (const material of materials) material.dispose();
}

/** A material for a mesh with what it has: vertex colours, no tangents of its own, maybe no normals. */
export function fitted(material: Material, colours: BufferAttribute | undefined, isFlat: boolean): Material {
  const own = material.clone();
  own.vertexColors = colours !== undefined;
  if (own instanceof MeshStandardMaterial) {
    own.flatShading = isFlat;
    // Tangents follow from texture coordinates as drawn, whose second axis points the other way.
    own.normalScale.y *= -1;
    if ('clearcoatNormalScale' in own) (own.clearcoatNormalScale as { y: number }).y *= -1;
  }
  return own;
}
