// Paths of the document and how they are changed: each change is one step of history.
import { run, store } from '../../app';
import type { HandlePath, Paths, Point, Vec3, Walk } from '../../net/protocol';
import { Options } from '../../tools/options';

/** Which path is drawn: the walk, or the number of a handle's path. */
export const pathOptions = new Options<{ path: 'walk' | number }>({ path: 'walk' });

export const paths = (): Paths => store.doc?.paths ?? {};

/** Undefined removes a part. */
export function setPaths(change: Partial<Paths>): Promise<unknown> {
  return run({ set_paths: { paths: { ...paths(), ...change } } });
}

export function setWalk(change: Partial<Walk>): Promise<unknown> | undefined {
  const { walk } = paths();
  return walk && setPaths({ walk: { ...walk, ...change } });
}

export function setPath(index: number, change: Partial<HandlePath>): Promise<unknown> {
  return setPaths({ paths: (paths().paths ?? []).map((path, i) => (i === index ? { ...path, ...change } : path)) });
}

export function removePath(index: number): void {
  if (pathOptions.value.path === index) pathOptions.set({ path: 'walk' });
  void setPaths({ paths: (paths().paths ?? []).filter((_, i) => i !== index) });
}

/** Height of the body, by which lengths of a walk are guessed. */
const height = (): number => {
  const bounds = store.doc?.bounds;
  return bounds ? Math.max(bounds[1][1] - bounds[0][1], 1e-6) : 1.7;
};

/** Two handles to walk with: named after feet, the left one first, which is at +x. */
export function guessFeet(): [string, string] | null {
  const handles = store.doc?.handles ?? [];
  const named = /foot|feet|ankle|paw|hoof/i;
  const low = [...handles].sort((a, b) => a.center[1] - b.center[1]);
  const feet = [...low.filter(({ name }) => named.test(name)), ...low.filter(({ name }) => !named.test(name))].slice(
    0,
    2,
  );
  if (feet.length < 2) return null;
  feet.sort((a, b) => b.center[0] - a.center[0]);
  return [feet[0].name, feet[1].name];
}

/** A walk along a line, or the one there is with another line. */
export function walkAlong(line: Point[]): void {
  const { walk } = paths();
  const feet = walk?.feet ?? guessFeet();
  if (!feet) return;
  const fresh: Walk = { line, feet, stride: usual('stride'), seconds: 1.2, lift: usual('lift'), stance: 0.5 };
  void setPaths({ walk: walk ? { ...walk, line } : fresh });
}

/** What suits the body where a walk says nothing. */
export const usual = (key: 'stride' | 'lift'): number => round((key === 'stride' ? 0.35 : 0.035) * height());

const round = (length: number): number => Number(length.toPrecision(2));

/** The points that are being drawn; those of a walk lie on the ground. */
export function points(): Vec3[] {
  const { path } = pathOptions.value;
  if (path !== 'walk') return paths().paths?.[path]?.points ?? [];
  const line = paths().walk?.line ?? [];
  // Between two points of the line the server draws a fixed number of parts.
  const drawn = store.doc?.drawn.line ?? [];
  const parts = line.length > 1 ? (drawn.length - 1) / (line.length - 1) : 1;
  return line.map(([x, z], i): Vec3 => [x, drawn[Math.round(i * parts)]?.[1] ?? 0, z]);
}

export function setPoints(list: Vec3[]): void {
  const { path } = pathOptions.value;
  if (path === 'walk') walkAlong(list.map(([x, , z]): Point => [x, z]));
  else void setPath(path, { points: list });
}

export function removePoint(index: number): void {
  const list = points().filter((_, i) => i !== index);
  const { path } = pathOptions.value;
  if (list.length > 0) return setPoints(list);
  if (path === 'walk') void setPaths({ walk: undefined });
  else removePath(path);
}
