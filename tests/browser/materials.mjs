// Materials as the file has them: the studio's picture beside three.js's own of the same file, in the same light, by the
// same camera.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from './check.mjs';
import { data } from './places.mjs';

/** Mean difference over the pixels of the model, of 255. Most files have none; tangents follow from texture coordinates, also
 * where a file has its own. */
const MOST = 1.5;
/** Vertices above which normals are sent as twice 8 bits, up to a degree off, which mirrors show. */
const MOST_EXACT = 100_000;
const MOST_ROUNDED = 2;
const CLEARCOAT = '../interop/gltf/ClearCoatTest.glb';
/** Each for something else: coats, metals, normal maps; sets of coordinates, transforms of textures, samplers; mirrored nodes;
 * unlit; quantised; skins; alpha; morphs with vertex colours. */
const FILES = [
  CLEARCOAT,
  '../interop/gltf/MultiUVTest.glb',
  '../interop/gltf/TextureTransformTest/TextureTransformTest.gltf',
  '../interop/gltf/NegativeScaleTest.glb',
  '../interop/gltf/UnlitTest.glb',
  '../interop/gltf/MetalRoughSpheresNoTextures.glb',
  '../interop/gltf/Duck-quantized/Duck.gltf',
  '../interop/gltf/BoxTextured.glb',
  '../interop/vrm/Godette_vrm_v4.vrm',
  '../corpus/rigs/Soldier.glb',
  'rigs/vrm/Example.vrm',
  'sequences/morph-glb/Parrot.glb',
];

/** What three.js draws of a file. */
function drawn(file, out, camera) {
  const job = JSON.stringify({ files: [file], out: [out], camera });
  const judge = join(import.meta.dirname, '../judges/draw.mjs');
  const { stdout } = spawnSync('node', [judge], { input: `${job}\n`, encoding: 'utf8', timeout: 120_000 });
  const { faults } = JSON.parse(stdout);
  expect(faults[0] === null, `three.js draws ${file}: ${faults[0]}`);
  return `data:image/png;base64,${readFileSync(out).toString('base64')}`;
}

/** Mean difference of two pictures over the pixels that either covers, of 255; and how many those are. */
const COMPARE = `async (pictures) => {
  const [a, b] = await Promise.all(pictures.map(async (url) => {
    const image = await createImageBitmap(await (await fetchPicture(url)));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height).data;
  }));
  // Pages may not fetch data: the bytes are taken from the address itself.
  function fetchPicture(url) {
    return new Blob([Uint8Array.from(atob(url.split(',')[1]), (c) => c.charCodeAt(0))], { type: 'image/png' });
  }
  let [sum, n] = [0, 0];
  for (let i = 0; i < a.length; i += 4) {
    if (a[i + 3] === 0 && b[i + 3] === 0) continue;
    n += 1;
    for (let k = 0; k < 3; k += 1) sum += Math.abs(a[i + k] * a[i + 3] - b[i + k] * b[i + 3]) / 255;
    sum += Math.abs(a[i + 3] - b[i + 3]);
  }
  return { mean: sum / (4 * n), n, same: a.length === b.length };
}`;

async function compare(file, { start, open, folder, shots }) {
  const studio = await start({ file: data(file) });
  const page = await open(studio, { width: 900, height: 700 });
  await page.value("sinew.ask({ type: 'display', what: 'rest' })");
  await page.value("sinew.perform('look-textured')");
  await page.until('sinew.ready()');
  await page.sharp();
  const limit = (await page.value('sinew.state().vertices')) > MOST_EXACT ? MOST_ROUNDED : MOST;
  const { image, ...camera } = await page.value('sinew.picture()');
  const name = basename(file).replace(/\.\w+$/, '');
  writeFileSync(join(shots, `materials-${name}.png`), Buffer.from(image.split(',')[1], 'base64'));
  const reference = drawn(data(file), join(shots, `materials-${name}-three.png`), camera);
  const { mean, n, same } = await page.value(`(${COMPARE})(${JSON.stringify([image, reference])})`);
  expect(existsSync(folder) && same && n > 1000, `${name} is seen in pictures of one size: ${n} pixels`);
  console.log(`        ${name}: ${mean.toFixed(2)} of 255 over ${n} pixels`);
  await studio.kill();
  return mean <= limit ? [] : [`${name} ${mean.toFixed(2)}`];
}

export async function materials_are_drawn_as_three_draws_them(context) {
  const off = await compare(CLEARCOAT, context);
  expect(off.length === 0, `mean differences of at most ${MOST}: ${off}`);
}
materials_are_drawn_as_three_draws_them.needs = [CLEARCOAT];

export async function materials_of_many_files(context) {
  const off = [];
  for (const file of FILES) off.push(...(await compare(file, context)));
  expect(
    off.length === 0,
    `mean differences of at most ${MOST}, or ${MOST_ROUNDED} where normals are rounded: ${off.join(', ')}`,
  );
}
materials_of_many_files.needs = FILES;
materials_of_many_files.long = true;
