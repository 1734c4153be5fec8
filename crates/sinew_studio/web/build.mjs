// Bundle the page into a folder: `node build.mjs [OUT]`, else $SINEW_WEB_OUT, else dist/.
import { build } from 'esbuild';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildTracker } from './pose.mjs';

const web = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? process.env.SINEW_WEB_OUT ?? join(web, 'dist');

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: web,
  entryPoints: { app: 'src/main.ts' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  // The licence of three.js must travel with its code.
  legalComments: 'eof',
  logLevel: 'warning',
});
// Its own program, which a page starts beside itself: plain, since the tracker loads its engine by `importScripts`.
await build({
  absWorkingDir: web,
  entryPoints: { pose: 'src/pose/worker.ts' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'warning',
});
await buildTracker(web, out);
await copyFile(join(web, 'index.html'), join(out, 'index.html'));
