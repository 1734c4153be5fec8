// The ground: a grid on y = 0 that fits the model and fades out.
import { BufferGeometry, type Color, Float32BufferAttribute, LineBasicMaterial, LineSegments } from 'three';

const CELLS = 24;

export interface GridColours {
  line: Color;
  x: Color;
  z: Color;
}

/** `step` is the side of a cell in metres. */
export function buildGrid(step: number, colours: GridColours): LineSegments {
  const positions: number[] = [];
  const rgba: number[] = [];
  const push = (x: number, z: number, color: Color, strength: number): void => {
    positions.push(x * step, 0, z * step);
    const fade = Math.max(0, 1 - Math.hypot(x, z) / CELLS);
    rgba.push(color.r, color.g, color.b, strength * fade * fade);
  };
  for (let i = -CELLS; i <= CELLS; i++) {
    const strength = i % 10 === 0 ? 0.8 : 0.38;
    for (let j = -CELLS; j < CELLS; j++) {
      push(j, i, i === 0 ? colours.x : colours.line, i === 0 ? 1 : strength);
      push(j + 1, i, i === 0 ? colours.x : colours.line, i === 0 ? 1 : strength);
      push(i, j, i === 0 ? colours.z : colours.line, i === 0 ? 1 : strength);
      push(i, j + 1, i === 0 ? colours.z : colours.line, i === 0 ? 1 : strength);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  geometry.setAttribute('color', new Float32BufferAttribute(rgba, 4));
  const lines = new LineSegments(
    geometry,
    new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false, toneMapped: false }),
  );
  lines.renderOrder = -1;
  return lines;
}

/** A round length, about a tenth of the model. */
export function gridStep(size: number): number {
  return 10 ** Math.round(Math.log10(Math.max(size, 1e-6) / 12));
}
