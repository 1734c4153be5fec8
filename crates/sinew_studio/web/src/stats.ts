// How long it takes from the pointer to the buffers, for the status line and the tests.

const KEEP = 2000;

export interface Sample {
  drag: number;
  /** From the pointer event to vertices and normals written into the page's buffers. */
  ms: number;
  solveMs: number;
  /** Of it, before the message could be sent: the browser's queue, and the answer to the one before. */
  waitMs: number;
  /** Of it, in the page after the frame arrived. */
  writeMs: number;
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
  private readonly sent = new Map<number, { event: number; at: number }>();

  /** A drag message left the page; `eventTime` is the pointer event's own time stamp. */
  dragSent(drag: number, eventTime: number): void {
    this.sent.set(drag, { event: eventTime, at: performance.now() });
  }

  /** The frame that answers it has been written into the buffers. */
  dragSeen(drag: number, solveMs: number, arrived: number): void {
    const sent = this.sent.get(drag);
    if (!sent) return;
    this.sent.delete(drag);
    const now = performance.now();
    this.samples.push({ drag, ms: now - sent.event, solveMs, waitMs: sent.at - sent.event, writeMs: now - arrived });
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
