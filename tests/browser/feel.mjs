// How long it takes from the pointer to the page's buffers. Measured and reported, not judged: machines differ.
import { expect, grip } from './check.mjs';

async function measure(page, n) {
  await page.value(`sinew.ask({ type: 'sample', name: 'biped', vertices: ${n} })`);
  await page.until(`sinew.state().vertices > ${n * 0.9} && sinew.ready()`, 240_000);
  await page.settle();
  // Rasterising is left out: without a graphics card it takes all the time there is.
  await page.value('sinew.draw(false)');
  const elbow = await grip(page, 'elbow.L');
  const circle = Array.from({ length: 9 }, (_, k) => ({
    x: elbow.x + 60 * Math.sin(k),
    y: elbow.y - 60 + 60 * Math.cos(k),
  }));
  await page.drag([elbow, ...circle], { steps: 8, pause: 30 });
  await page.settle();
  const samples = await page.value('sinewStats.samples');
  const median = (key) => samples.map((s) => s[key]).sort((a, b) => a - b)[samples.length >> 1];
  const words = ['ms', 'solveMs', 'waitMs', 'writeMs'].map((key) => `${key} ${median(key).toFixed(1)}`).join(', ');
  console.log(`        ${n} vertices: median of ${samples.length} drags: ${words}`);
  expect(samples.length > 10, 'drags were answered');
  await page.value('sinew.draw(true)');
}

export async function from_hand_to_buffers({ studio, open }) {
  const page = await open(studio);
  await measure(page, 50_000);
}

/** Half a million vertices open, can be posed, and say what they cost. */
export async function a_large_mesh_can_be_worked_on({ studio, open }) {
  const page = await open(studio);
  await measure(page, 500_000);
  expect(await page.has('status'), 'the status line');
  console.log(`        ${await page.text('status')}`);
}

for (const test of [from_hand_to_buffers, a_large_mesh_can_be_worked_on]) test.long = true;
