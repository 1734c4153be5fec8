// The matcap look's ball of light, drawn by us: a warm key, a cool rim, a soft floor.
import { CanvasTexture, SRGBColorSpace } from 'three';

const SIZE = 256;

export function drawMatcap(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIZE;
  const g = canvas.getContext('2d')!;
  const ball = g.createRadialGradient(SIZE * 0.4, SIZE * 0.32, SIZE * 0.04, SIZE * 0.5, SIZE * 0.5, SIZE * 0.52);
  ball.addColorStop(0, '#f3e6d8');
  ball.addColorStop(0.32, '#c9ada0');
  ball.addColorStop(0.68, '#7d6a70');
  ball.addColorStop(0.9, '#3d3a4a');
  ball.addColorStop(1, '#5b6580');
  g.fillStyle = ball;
  g.fillRect(0, 0, SIZE, SIZE);
  const glint = g.createRadialGradient(SIZE * 0.36, SIZE * 0.26, 0, SIZE * 0.36, SIZE * 0.26, SIZE * 0.16);
  glint.addColorStop(0, 'rgba(255, 250, 240, 0.75)');
  glint.addColorStop(1, 'rgba(255, 250, 240, 0)');
  g.fillStyle = glint;
  g.fillRect(0, 0, SIZE, SIZE);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
