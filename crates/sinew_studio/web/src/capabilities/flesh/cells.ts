// The cells of flesh as lines around the surface, and vertices that lie in none of them as dots.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three';
import { store } from '../../app';
import type { Colour } from '../../view/draw';
import { token } from '../../view/token';
import type { Viewport } from '../../view/viewport';

export function showCells(viewport: Viewport): void {
  const material = new LineBasicMaterial({ transparent: true, opacity: 0.28, depthWrite: false });
  const lines = new LineSegments(new BufferGeometry(), material);
  lines.frustumCulled = false;
  lines.renderOrder = 3;
  lines.visible = false;
  viewport.scene.add(lines);
  const { mesh } = viewport;
  let [edges, nodes]: [Uint32Array | null, number] = [null, 0];
  store.on('frame', () => {
    const isShown =
      (store.doc?.cells ?? false) &&
      (store.doc?.fleshed?.on ?? false) &&
      mesh.cellEdges !== null &&
      mesh.cellNodes !== null;
    if (lines.visible !== isShown) viewport.request();
    lines.visible = isShown;
    if (!isShown || !mesh.cellNodes) return;
    if (edges !== mesh.cellEdges || nodes !== mesh.cellNodes.length) {
      [edges, nodes] = [mesh.cellEdges, mesh.cellNodes.length];
      lines.geometry.dispose();
      lines.geometry = new BufferGeometry();
      lines.geometry.setIndex(new BufferAttribute(mesh.cellEdges!, 1));
      lines.geometry.setAttribute('position', new BufferAttribute(mesh.cellNodes.slice(), 3));
      material.color.copy(token('--accent'));
    }
    const position = lines.geometry.getAttribute('position') as BufferAttribute;
    (position.array as Float32Array).set(mesh.cellNodes);
    position.needsUpdate = true;
    viewport.request();
  });
}

/** Vertices in no cell, drawn over the picture. */
export function drawUncovered(viewport: Viewport, g: CanvasRenderingContext2D, colour: Colour): void {
  const { fleshed, cells } = store.doc ?? {};
  if (!fleshed?.on || !cells) return;
  g.fillStyle = colour('--danger');
  for (const vertex of fleshed.status?.uncovered ?? []) {
    if (vertex >= viewport.mesh.n) continue;
    const p = viewport.rig.project(viewport.mesh.position(vertex));
    if (p.behind) continue;
    g.beginPath();
    g.arc(p.x, p.y, 4, 0, 2 * Math.PI);
    g.fill();
  }
}
