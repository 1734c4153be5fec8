// The clock that clips and recordings play by: the time of the page, asked once per animation frame.

export class Clock {
  private startedAt = 0;
  private isRunning = false;

  /** `tick` is called with the seconds since the start as long as the clock runs. */
  constructor(private readonly tick: (seconds: number) => void) {}

  get running(): boolean {
    return this.isRunning;
  }

  start(seconds: number): void {
    this.set(seconds);
    if (this.isRunning) return;
    this.isRunning = true;
    requestAnimationFrame(() => this.turn());
  }

  stop(): void {
    this.isRunning = false;
  }

  /** Go on from another time. */
  set(seconds: number): void {
    this.startedAt = performance.now() - 1000 * seconds;
  }

  private turn(): void {
    if (!this.isRunning) return;
    this.tick((performance.now() - this.startedAt) / 1000);
    if (this.isRunning) requestAnimationFrame(() => this.turn());
  }
}
