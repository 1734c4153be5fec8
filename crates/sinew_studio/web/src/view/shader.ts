// How three's own materials are taught our vertices: quantised positions, and a tint over the surface.
import type { Material, Vector3, WebGLProgramParametersWithUniforms } from 'three';

export interface Box {
  min: { value: Vector3 };
  extent: { value: Vector3 };
}

const LARGEST = 32767;

const DECLARE = /* glsl */ `
attribute vec4 quantised;
uniform vec3 boxMin;
uniform vec3 boxExtent;
vec3 unpackNormal(float packed) {
  float high = floor(packed / 256.0);
  float low = packed - 256.0 * high;
  vec2 e = vec2(low > 127.0 ? low - 256.0 : low, high) / 127.0;
  vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
  float t = max(-n.z, 0.0);
  n.x += n.x >= 0.0 ? -t : t;
  n.y += n.y >= 0.0 ? -t : t;
  return normalize(n);
}
`;

export interface Teach {
  quantised: boolean;
  tinted: boolean;
  box: Box;
}

/** Patch a material; the patch is part of the key by which three caches programs. */
export function teach(material: Material, { quantised, tinted, box }: Teach): void {
  material.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
    if (quantised) {
      shader.uniforms.boxMin = box.min;
      shader.uniforms.boxExtent = box.extent;
      shader.vertexShader =
        DECLARE +
        shader.vertexShader
          .replace('#include <beginnormal_vertex>', 'vec3 objectNormal = unpackNormal(quantised.w);')
          .replace(
            '#include <begin_vertex>',
            `vec3 transformed = boxMin + boxExtent * (quantised.xyz + ${LARGEST}.0) / ${2 * LARGEST}.0;`,
          );
    }
    if (tinted) {
      shader.vertexShader = `attribute vec4 tint;\nvarying vec4 vTint;\n${shader.vertexShader}`.replace(
        'void main() {',
        'void main() {\nvTint = tint;',
      );
      shader.fragmentShader = `varying vec4 vTint;\n${shader.fragmentShader}`.replace(
        '#include <color_fragment>',
        '#include <color_fragment>\ndiffuseColor.rgb = mix(diffuseColor.rgb, vTint.rgb, vTint.a);',
      );
    }
  };
  material.customProgramCacheKey = () => `sinew-${quantised}-${tinted}`;
}

/** The same on the processor, for one vertex. */
export function dequantise(array: ArrayLike<number>, at: number, box: Box, out: Vector3): Vector3 {
  const unit = (k: number): number => (array[at * 4 + k] + LARGEST) / (2 * LARGEST);
  return out.set(unit(0), unit(1), unit(2)).multiply(box.extent.value).add(box.min.value);
}
