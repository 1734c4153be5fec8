// What the page and its tracker say to each other.

/** A picture to look at, with its time in milliseconds. */
export type ToTracker = { image: ImageBitmap; time: number };

/** Landmarks: 33 times x, y, z, how sure; and 33 times x, y in the picture. Null if nobody is seen. */
export type FromTracker =
  | { kind: 'ready' }
  | { kind: 'seen'; time: number; ms: number; world: number[][] | null; image: number[][] | null }
  | { kind: 'failed'; why: string };
