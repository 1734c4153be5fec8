// Outside judges of what the studio exports.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const judges = join(import.meta.dirname, '../judges');

/** The Khronos validator: no error, no warning. */
export function validate(file) {
  execFileSync('node', [join(judges, 'validate.mjs'), file], { stdio: 'pipe' });
}

/** Vertices of a GLB as Blender evaluates them, at rest or at a moment of a clip. */
export function inBlender(file, clip = null, time = 0.5) {
  const [jobs, out] = [`${file}.jobs.json`, `${file}.f32`];
  writeFileSync(jobs, JSON.stringify([{ file, clip, times: [clip === null ? 0 : time], out }]));
  execFileSync(join(process.env.SINEW_TOOLS, 'bpy/bin/python'), [join(judges, 'blender.py'), jobs], { stdio: 'pipe' });
  const bytes = readFileSync(out);
  const floats = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  return Array.from({ length: floats.length / 3 }, (_, i) => [...floats.subarray(3 * i, 3 * i + 3)]);
}

/** Largest distance from some points to the nearest of others, over the diagonal of the others. */
export function distance(points, others) {
  const low = [0, 1, 2].map((k) => others.reduce((least, p) => Math.min(least, p[k]), Infinity));
  const high = [0, 1, 2].map((k) => others.reduce((most, p) => Math.max(most, p[k]), -Infinity));
  const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  const nearest = (p) => others.reduce((least, q) => Math.min(least, far(p, q)), Infinity);
  return Math.max(...points.map(nearest)) / far(low, high);
}
