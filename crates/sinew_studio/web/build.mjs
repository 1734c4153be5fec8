// Bundle the page into a folder: `node build.mjs [OUT]`, else $SINEW_WEB_OUT, else dist/. `SINEW_PAGE=OUT cargo build`
// then embeds it without Node.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licenses, packagesOf } from './licenses.mjs';
import { pack } from './pack.mjs';
import { buildTracker } from './pose.mjs';

const web = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? process.env.SINEW_WEB_OUT ?? join(web, 'dist');
const put = (name, bytes) => writeFile(join(out, `${name}.br`), pack(bytes));

/** Names of the packages that went into a bundle. */
async function bundle(entryPoints, format) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: web,
    entryPoints,
    outdir: out,
    bundle: true,
    minify: true,
    format,
    target: 'es2022',
    // The licence of three.js must travel with its code.
    legalComments: 'eof',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  await Promise.all(outputFiles.map(({ path, contents }) => put(basename(path), contents)));
  return packagesOf(metafile);
}

await mkdir(out, { recursive: true });
const packages = [
  ...(await bundle({ app: 'src/main.ts' }, 'esm')),
  // Its own program, which a page starts beside itself: plain, since the tracker loads its engine by `importScripts`.
  ...(await bundle({ pose: 'src/pose/worker.ts' }, 'iife')),
];
await buildTracker(web, out);
await put('index.html', await readFile(join(web, 'index.html')));
await put('licenses.json', JSON.stringify(await licenses(web, [...new Set(packages)])));
