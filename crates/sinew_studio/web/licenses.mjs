// The licences of what the page carries, for `sinew licenses` and the studio.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of packages out of the paths of their files, as esbuild lists what went into a bundle. */
export function packagesOf(metafile) {
  const found = Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(found.filter((name) => name !== undefined))];
}

/** Texts that a package has; those without any are under the standard text of the licence they name. */
async function texts(folder) {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice|copyright)/i.test(name)).sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}

async function describe(web, name) {
  const folder = join(web, 'node_modules', name);
  const { version, license, homepage, repository } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} names no licence`);
  return { name, version, license, source: homepage ?? repository?.url ?? null, texts: await texts(folder) };
}

/** Said as the Apache License asks (§4 b): what was changed, by whom. */
const CHANGES =
  'Changed by the build of Sinew (web/pose.mjs): notes on how pictures are scaled (TFLite metadata) ' +
  'were added to the networks ' +
  'pose_detector (out of pose_solution_packed_assets.data), pose_landmark_lite and ' +
  'pose_landmark_full, with a new root before the ' +
  'old bytes, and they were put into zip files. Their weights and operations are as Google published them.';
const ENGINE = 'The WebAssembly engine is the one of the package, unchanged.';

/** One entry for each package, and one for the networks, which are in the page without the code of their package. */
export async function licenses(web, bundled) {
  const packages = await Promise.all(bundled.sort().map((name) => describe(web, name)));
  const entries = packages.map((entry) => ({
    kind: 'npm',
    ...entry,
    ...(entry.name === '@mediapipe/tasks-vision' && { note: ENGINE }),
  }));
  return [
    ...entries,
    {
      kind: 'model',
      ...(await describe(web, '@mediapipe/pose')),
      note: `The pose networks of MediaPipe (BlazePose), by Google. ${CHANGES}`,
    },
  ];
}
