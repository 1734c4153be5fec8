// How long it takes from the hand to the buffers, for the status line and the tests.

const KEEP = 2000;

export interface Sample {
  drag: number;
  /** From the pointer event to vertices and normals written into the page's buffers. */
  ms: number;
  solveMs: number;
}

export class Stats {
  readonly samples: Sample[] = [];
  frames = 0;
  geometries = 0;
  bytes = 0;
  dropped = 0;
  draws = 0;
  solveMs = 0;
  drawMs = 0;
  /** Milliseconds from the arrival of the last geometry to its buffers being ready. */
  geometryMs = 0;
  private readonly sentAt = new Map<number, number>();

  /** A drag message left the page; `eventTime` is the pointer event's own time stamp. */
  dragSent(drag: number, eventTime: number): void {
    this.sentAt.set(drag, eventTime);
  }

  /** The frame that answers it has been written into the buffers. */
  dragSeen(drag: number, solveMs: number): void {
    const sent = this.sentAt.get(drag);
    if (sent === undefined) return;
    this.sentAt.delete(drag);
    this.samples.push({ drag, ms: performance.now() - sent, solveMs });
    if (this.samples.length > KEEP) this.samples.shift();
  }

  /** Median of the last samples, or null before the first drag. */
  median(last = 60): number | null {
    const ms = this.samples
      .slice(-last)
      .map((s) => s.ms)
      .sort((a, b) => a - b);
    return ms.length === 0 ? null : ms[ms.length >> 1];
  }
}
