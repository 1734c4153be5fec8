// Looks of the surface: which materials draw it.
import {
  Color,
  DoubleSide,
  FrontSide,
  LinearFilter,
  LinearMipmapLinearFilter,
  type Material,
  MeshBasicMaterial,
  MeshLambertMaterial,
  MeshMatcapMaterial,
  MeshPhongMaterial,
  MeshStandardMaterial,
  RepeatWrapping,
  SRGBColorSpace,
  type Texture,
  TextureLoader,
} from 'three';
import { address } from '../net/address';
import type { MaterialInfo } from '../net/protocol';
import type { Look, Store } from '../store';
import { drawMatcap } from './matcap';
import type { MeshBuffers } from './mesh';
import { teach } from './shader';
import { token } from './token';

/** For triangles without a material: white, so that vertex colours are seen as they are. */
const UNPAINTED: MaterialInfo = {
  name: '',
  color: [0.9, 0.9, 0.9, 1],
  image: null,
  metallic: 0,
  roughness: 0.8,
  double_sided: true,
};

/** What of the view's settings concerns the surface. */
type Style = Pick<Store, 'look' | 'xray' | 'wireframe'>;

export class Looks {
  private matcap: Texture | null = null;
  private readonly images = new Map<string, Texture>();
  private made: Material[] = [];

  constructor(private readonly changed: () => void) {}

  /** Materials for a look; the ones made before are let go. */
  surface({ look, xray, wireframe: wired }: Style, mesh: MeshBuffers, infos: MaterialInfo[]): Material | Material[] {
    for (const material of this.made) material.dispose();
    const textured = look === 'textured';
    const materials = textured ? [...infos, UNPAINTED].map((info) => this.textured(info, mesh)) : [this.plain(look)];
    mesh.geometry.groups.forEach((group, i) => {
      group.materialIndex = textured ? Math.min(mesh.materials[i], infos.length) : 0;
    });
    for (const material of materials) {
      teach(material, { quantised: mesh.quantised, tinted: true, box: mesh.box });
      // Behind the lines of the wireframe; without them it would only fray the outline.
      material.polygonOffset = wired;
      material.polygonOffsetFactor = 1;
      material.polygonOffsetUnits = 1;
      if (xray < 1) {
        material.transparent = true;
        material.opacity = xray;
        material.depthWrite = xray > 0.6;
      }
    }
    this.made = materials;
    return textured ? materials : materials[0];
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

  private textured(info: MaterialInfo, mesh: MeshBuffers): Material {
    const [r, g, b, a] = info.color;
    return new MeshStandardMaterial({
      color: new Color(r, g, b),
      opacity: a,
      transparent: a < 1,
      metalness: info.metallic,
      roughness: info.roughness,
      side: info.double_sided ? DoubleSide : FrontSide,
      vertexColors: mesh.hasColours,
      map: info.image !== null && mesh.hasUvs ? this.image(info.image) : null,
    });
  }

  private image(path: string): Texture {
    const known = this.images.get(path);
    if (known) return known;
    const texture = new TextureLoader().load(address(path), this.changed);
    texture.colorSpace = SRGBColorSpace;
    // Texture coordinates have their origin upper left, as images do.
    texture.flipY = false;
    texture.wrapS = texture.wrapT = RepeatWrapping;
    texture.minFilter = LinearMipmapLinearFilter;
    texture.magFilter = LinearFilter;
    this.images.set(path, texture);
    return texture;
  }
}
