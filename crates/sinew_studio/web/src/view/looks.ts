// Looks of the surface: which materials draw it.
import {
  type BufferAttribute,
  type Color,
  DoubleSide,
  type Material,
  MeshBasicMaterial,
  MeshLambertMaterial,
  MeshMatcapMaterial,
  MeshPhongMaterial,
  type Texture,
} from 'three';
import type { Look, Store } from '../store';
import { drawMatcap } from './matcap';
import { type Appearance, fitted, Materials } from './materials';
import type { MeshBuffers } from './mesh';
import { teach } from './shader';
import { token } from './token';

/** What of the view's settings concerns the surface. */
type Style = Pick<Store, 'look' | 'xray' | 'wireframe'>;

export class Looks {
  readonly materials: Materials;
  private matcap: Texture | null = null;
  private made: Material[] = [];

  constructor(changed: () => void) {
    this.materials = new Materials(changed);
  }

  /** Materials for a look; the previous ones are disposed. `appearance` is where those of the document are. */
  surface({ look, xray, wireframe: wired }: Style, mesh: MeshBuffers, appearance: string): Material | Material[] {
    for (const material of this.made) material.dispose();
    const found = look === 'textured' ? this.materials.get(appearance) : null;
    const materials = found ? this.textured(found, mesh) : [this.plain(look)];
    mesh.geometry.groups.forEach((group, i) => {
      group.materialIndex = Math.min(mesh.materials[i], materials.length - 1);
    });
    for (const material of materials) {
      teach(material, { quantised: mesh.quantised, tinted: true, box: mesh.box });
      // Behind the lines of the wireframe; without them it would only fray the outline.
      material.polygonOffset = wired;
      material.polygonOffsetFactor = 1;
      material.polygonOffsetUnits = 1;
      if (xray < 1) {
        material.depthWrite = xray > 0.6 && material.depthWrite;
        material.transparent = true;
        material.opacity *= xray;
      }
    }
    this.made = materials;
    return materials.length > 1 ? materials : materials[0];
  }

  wire(mesh: MeshBuffers, color: Color): Material {
    const material = new MeshBasicMaterial({ wireframe: true, color, transparent: true, opacity: 0.2 });
    teach(material, { quantised: mesh.quantised, tinted: false, box: mesh.box });
    return material;
  }

  ghost(mesh: MeshBuffers, color: Color): Material {
    const material = new MeshLambertMaterial({ color, transparent: true, opacity: 0.22, depthWrite: false });
    // Behind the surface where both are the same, so that only what moved shows.
    material.polygonOffset = true;
    material.polygonOffsetFactor = 2;
    material.polygonOffsetUnits = 8;
    teach(material, { quantised: mesh.quantised, tinted: false, box: mesh.ghostBox });
    return material;
  }

  /** The fit beside the surface: plain, or flat under a heat map. */
  twin(mesh: MeshBuffers, heated: boolean): Material {
    const material = this.plain(heated ? 'stress' : 'shaded');
    teach(material, { quantised: mesh.quantised, tinted: true, box: mesh.box });
    return material;
  }

  private plain(look: Look): Material {
    if (look === 'matcap') {
      this.matcap ??= drawMatcap();
      return new MeshMatcapMaterial({ matcap: this.matcap, side: DoubleSide });
    }
    const color = token('--clay');
    if (look === 'handles' || look === 'stress') return new MeshLambertMaterial({ color, side: DoubleSide });
    return new MeshPhongMaterial({ color, specular: 0x2a2a2e, shininess: 28, side: DoubleSide });
  }

  private textured({ materials, flat, uvs }: Appearance, mesh: MeshBuffers): Material[] {
    for (const [set, values] of uvs) mesh.setUvs(set, values);
    const colours = mesh.geometry.getAttribute('color') as BufferAttribute | undefined;
    return materials.map((material, i) => fitted(material, colours, flat.has(i)));
  }
}
