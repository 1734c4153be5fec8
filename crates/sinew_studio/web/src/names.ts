// Names for new things.

/** The first name that is not taken, counting up from `first`. */
export function freeName(taken: Iterable<{ name: string }>, name: (n: number) => string, first = 1): string {
  const names = new Set([...taken].map((item) => item.name));
  for (let n = first; ; n++) if (!names.has(name(n))) return name(n);
}

/** `stem`, else `stem 2`, `stem 3` and so on. */
export const freeCopy = (taken: Iterable<{ name: string }>, stem: string): string =>
  freeName(taken, (n) => (n === 1 ? stem : `${stem} ${n}`));
