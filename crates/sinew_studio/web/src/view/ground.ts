// Uneven ground as a net of lines, where a document has such.
import { BufferGeometry, Float32BufferAttribute, LineBasicMaterial, LineSegments } from 'three';
import { store } from '../app';
import type { DrawnPaths } from '../net/protocol';
import { whenChanged } from '../ui/dom';
import { token } from './token';
import type { Viewport } from './viewport';

export function showGround(viewport: Viewport): void {
  let lines: LineSegments | null = null;
  const build = whenChanged(() => {
    if (lines) {
      viewport.scene.remove(lines);
      lines.geometry.dispose();
      (lines.material as LineBasicMaterial).dispose();
      lines = null;
    }
    const ground = shown();
    if (ground) {
      lines = new LineSegments(
        net(ground),
        new LineBasicMaterial({ color: token('--grid'), transparent: true, opacity: 0.45 }),
      );
      lines.frustumCulled = false;
      viewport.scene.add(lines);
    }
    viewport.request();
  });
  const show = (): void => build([shown(), store.prefs.theme]);
  store.on('doc', show);
  store.on('prefs', show);
}

/** That of the clip in view, else that of the paths. */
function shown(): DrawnPaths['ground'] {
  const { doc } = store;
  const clip = doc?.display.what === 'clip' ? doc.display.clip : null;
  return doc?.grounds?.find((ground) => ground.clip === clip)?.ground ?? doc?.drawn?.ground ?? null;
}

function net({
  origin,
  cell,
  heights,
}: {
  origin: [number, number];
  cell: number;
  heights: number[][];
}): BufferGeometry {
  const positions: number[] = [];
  const point = (i: number, j: number): void => {
    positions.push(origin[0] + cell * i, heights[j][i], origin[1] + cell * j);
  };
  heights.forEach((row, j) =>
    row.forEach((_, i) => {
      if (i + 1 < row.length) [point(i, j), point(i + 1, j)];
      if (j + 1 < heights.length) [point(i, j), point(i, j + 1)];
    }),
  );
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  return geometry;
}
