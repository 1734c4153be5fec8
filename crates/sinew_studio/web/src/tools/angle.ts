// The angle swept by the pointer about a point on the screen, beyond half a turn too.

/** Closer to the middle than this many pixels, the direction is not a direction. */
const LEAST = 6;

export class SweptAngle {
  private last: number | null = null;
  private sum = 0;

  constructor(
    private readonly x: number,
    private readonly y: number,
  ) {}

  /** Radians since the first call, counter-clockwise. */
  to(x: number, y: number): number {
    const dx = x - this.x;
    const dy = this.y - y;
    if (Math.hypot(dx, dy) < LEAST) return this.sum;
    const now = Math.atan2(dy, dx);
    if (this.last !== null) {
      let step = now - this.last;
      if (step > Math.PI) step -= 2 * Math.PI;
      if (step < -Math.PI) step += 2 * Math.PI;
      this.sum += step;
    }
    this.last = now;
    return this.sum;
  }
}
