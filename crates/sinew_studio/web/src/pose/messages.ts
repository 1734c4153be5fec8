// What the page and its tracker say to each other. Times are milliseconds of `clock`, which is the same on both sides.

/** The tracker's networks: a fast one, and one that is slightly slower and more precise. */
export type Network = 'lite' | 'full';

/** Pictures as they come, which the tracker takes itself; or one at a time, where the browser cannot hand them over. */
export type ToTracker = { pictures: ReadableStream<VideoFrame> } | { image: ImageBitmap; time: number };

/**
 * Landmarks: 33 times x, y, z and visibility, and 33 times x, y in the picture; null if no body is visible. `time` is that
 * of the picture, `done` when it was processed, which took `ms`.
 */
export type FromTracker =
  | { kind: 'ready' }
  | { kind: 'seen'; time: number; done: number; ms: number; world: number[][] | null; image: number[][] | null }
  | { kind: 'failed'; why: string };

/** Milliseconds that pages and workers count alike: each has a beginning of its own. */
export const clock = (): number => performance.timeOrigin + performance.now();
