// Drawing on the overlay: lines, dots, arrows and labels.

export interface Spot {
  x: number;
  y: number;
}

type Pen = CanvasRenderingContext2D;
/** Colours are by the names of the style. */
export type Colour = (name: string) => string;

export function line(g: Pen, points: Spot[]): void {
  g.beginPath();
  for (const { x, y } of points) g.lineTo(x, y);
  g.stroke();
}

export function dot(g: Pen, { x, y }: Spot, r: number, fill: string, edge: string, width = 1.25): void {
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.fillStyle = fill;
  g.strokeStyle = edge;
  g.lineWidth = width;
  g.fill();
  g.stroke();
}

export function ring(g: Pen, { x, y }: Spot, r: number): void {
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.stroke();
}

export function arrowHead(g: Pen, from: Spot, to: Spot): void {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  for (const turn of [2.6, -2.6])
    line(g, [to, { x: to.x + 9 * Math.cos(angle + turn), y: to.y + 9 * Math.sin(angle + turn) }]);
}

/** Text beside a spot, readable on anything. */
export function label(g: Pen, colour: Colour, text: string, { x, y }: Spot, paint: string): void {
  g.font = '600 12px system-ui, sans-serif';
  g.lineWidth = 3.5;
  g.lineJoin = 'round';
  g.strokeStyle = colour('--marker-edge');
  g.strokeText(text, x + 11, y - 7);
  g.fillStyle = colour(paint);
  g.fillText(text, x + 11, y - 7);
}
