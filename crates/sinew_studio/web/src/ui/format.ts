// Numbers as people read them.

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

export const formatCount = (n: number): string => n.toLocaleString('en-US');

/** `1 point`, `3 points`. */
export const counted = (n: number, noun: string): string => `${formatCount(n)} ${noun}${n === 1 ? '' : 's'}`;

/** A rate such as `29.97 fps`, without digits that mean nothing. */
export const formatFps = (fps: number): string => `${Number(fps.toFixed(2))} fps`;
