// A move of handles in progress: streamed to the server, the newest wins, one step of history at the end.
import { ask, socket, stats, store } from '../app';
import type { Gestured, Vec3 } from '../net/protocol';
import type { Refused } from '../net/socket';
import { toast } from '../ui/toast';

export const toDegrees = (radians: number): number => (radians * 180) / Math.PI;

/** Longer than this without a frame, and the next message is sent all the same. */
const PATIENCE_MS = 400;

/** Two tabs on one document must not share numbers. */
let nextDrag = 1 + Math.floor(Math.random() * 2 ** 30);
const current = new Map<number, PoseGesture>();

export class PoseGesture {
  private readonly drag = nextDrag++;
  private pending: { move: Gestured; time: number } | null = null;
  private last: Gestured | null = null;
  private inFlight = false;
  private over = false;
  private patience = 0;

  constructor(
    readonly main: string,
    readonly handles: string[],
  ) {
    current.set(this.drag, this);
  }

  rotate(axis: Vec3, degrees: number, time: number): void {
    this.update({ rotate: { main: this.main, handles: this.handles, axis, degrees } }, time);
  }

  translate(vector: Vec3, time: number): void {
    this.update({ translate: { handles: this.handles, vector } }, time);
  }

  twist(axis: Vec3, degrees: number, over: string[], time: number): void {
    this.update({ twist: { handles: this.handles, axis, degrees, over } }, time);
  }

  /** `time` is the time stamp of the event that caused it. */
  update(move: Gestured, time: number): void {
    if (this.over) return;
    this.pending = { move, time };
    this.last = move;
    this.pump();
  }

  end(): void {
    if (this.over) return;
    this.close();
    if (!this.last) return;
    void ask({ type: 'drag', drag: this.drag, move: this.last, end: true });
    store.emit('gesture', 'pose');
  }

  /** Send nothing more, and leave things as they are. */
  forget(): void {
    if (!this.over) this.close();
  }

  cancel(): void {
    if (this.over) return;
    this.close();
    if (this.last) void ask({ type: 'cancel_drag', drag: this.drag });
  }

  /** The frame with our number is in the buffers. */
  static seen(drag: number, solveMs: number, arrived: number): void {
    stats.dragSeen(drag, solveMs, arrived);
    current.get(drag)?.answered();
  }

  private pump(): void {
    if (this.inFlight || !this.pending) return;
    const { move, time } = this.pending;
    this.pending = null;
    this.inFlight = true;
    stats.dragSent(this.drag, time);
    this.patience = window.setTimeout(() => this.answered(), PATIENCE_MS);
    socket.ask({ type: 'drag', drag: this.drag, move }).catch((error: Refused) => {
      if (this.over) return;
      this.close();
      // A lost connection has a banner of its own.
      if (socket.isOpen) toast('error', error.message);
    });
  }

  private answered(): void {
    clearTimeout(this.patience);
    this.inFlight = false;
    if (!this.over) this.pump();
  }

  private close(): void {
    this.over = true;
    clearTimeout(this.patience);
    // The last frames of a finished drag may still be under way; forget it later.
    setTimeout(() => current.delete(this.drag), 5000);
  }
}
