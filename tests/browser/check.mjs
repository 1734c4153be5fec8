// Expectations with messages, and what tests share.
import { execFileSync } from 'node:child_process';

export function expect(is, what) {
  if (!is) throw new Error(`expected: ${what}`);
}

export function same(actual, wanted, what) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a}, expected ${b}`);
}

/** State of the document as the page has it. */
export const state = (page) => page.value('sinew.state()');

/** Position of a vertex as the page has it. */
export const vertex = async (page, index) => (await page.value(`sinew.vertex(${index})`)).position;

/** Places on the screen where a handle can be taken: its own vertices that are seen. */
export async function grip(page, name) {
  await page.settle();
  const place = await page.value(`(async () => {
    const index = sinew.state().handles.findIndex((handle) => handle.name === ${JSON.stringify(name)});
    const owners = sinew.owners();
    const mine = owners.flatMap((owner, v) => (owner === index ? [v] : []));
    const canvas = document.querySelector('[data-testid="viewport"] canvas, canvas[data-testid="viewport"]').getBoundingClientRect();
    for (let k = 0; k < 60; k += 1) {
      const v = mine[Math.floor(((k * 0.618) % 1) * mine.length)];
      const { place } = sinew.vertex(v);
      const at = [((place.x - canvas.left) / canvas.width) * 2 - 1, 1 - ((place.y - canvas.top) / canvas.height) * 2];
      const hit = await sinew.ask({ type: 'pick', view: sinew.view(), at });
      const top = document.elementFromPoint(place.x, place.y);
      if (hit?.handle === ${JSON.stringify(name)} && top?.tagName === 'CANVAS') return { x: place.x, y: place.y };
    }
    return null;
  })()`);
  expect(place, `the handle ${name} is seen`);
  return place;
}

/** Choose in a list. Its choices are drawn by the browser, not by the page, and cannot be clicked: the event is made here. */
export async function choose(page, id, value) {
  await page.place(id);
  await page.settle({ jobs: false });
  const isThere = await page.value(`(() => {
    const field = document.querySelector('[data-testid="${id}"]');
    field.value = ${JSON.stringify(value)};
    const isThere = field.value === ${JSON.stringify(value)};
    field.dispatchEvent(new Event('change', { bubbles: true }));
    return isThere;
  })()`);
  expect(isThere, `${id} offers ${value}`);
  await page.settle({ jobs: false });
}

/** Width of a slider's thumb, which its middle cannot leave. */
const THUMB = 14;

/** Pull a slider by its thumb to a value, and release it there. Arrow keys make steps finer than a pixel. */
export async function slide(page, id, value) {
  await page.place(id);
  await page.settle({ jobs: false });
  const find = `document.querySelector('[data-testid="${id}"]')`;
  const { box } = await page.place(id);
  const { min, max, step, now } = await page.value(
    `(({ min, max, step, value }) => ({ min: Number(min), max: Number(max), step: Number(step), now: Number(value) }))(${find})`,
  );
  const at = (share) => ({ x: box.x + THUMB / 2 + (box.width - THUMB) * share, y: box.y + box.height / 2 });
  const share = (v) => (v - min) / (max - min);
  await page.drag([at(share(now)), at(share(value))], { steps: 6 });
  // The keys go to the slider: it was pressed.
  const left = async () => Math.round((value - (await page.value(`Number(${find}.value)`))) / step);
  expect(
    Math.abs(await left()) * step <= (4 * (max - min)) / box.width + step,
    `the slider ${id} follows the pointer to ${value}: ${await page.value(`${find}.value`)}`,
  );
  for (let n = await left(), k = 0; n !== 0 && k < 200; n = await left(), k += 1) {
    await page.value(`${find}.focus()`);
    await page.key(n > 0 ? 'ArrowRight' : 'ArrowLeft');
  }
  const shown = await page.value(`Number(${find}.value)`);
  expect(Math.abs(shown - value) <= step / 2 + 1e-9, `the slider ${id} is at ${value}: ${shown}`);
}

export const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

/** A vertex that is seen, nearest to a place of the model. */
export async function seen(page, target) {
  await page.settle();
  const found = await page.value(`(async () => {
    const target = ${JSON.stringify(target)};
    const canvas = document.querySelector('canvas[data-testid="viewport"]').getBoundingClientRect();
    const far = (v) => Math.hypot(...sinew.vertex(v).position.map((x, k) => x - target[k]));
    const order = Array.from({ length: sinew.state().vertices }, (_, v) => [far(v), v]).sort((a, b) => a[0] - b[0]);
    for (const [, v] of order.slice(0, 200)) {
      const { place } = sinew.vertex(v);
      const at = [((place.x - canvas.left) / canvas.width) * 2 - 1, 1 - ((place.y - canvas.top) / canvas.height) * 2];
      const hit = await sinew.ask({ type: 'pick', view: sinew.view(), at });
      if (hit && Math.hypot(...hit.position.map((x, k) => x - sinew.vertex(hit.vertex).position[k])) < 0.05 && document.elementFromPoint(place.x, place.y)?.tagName === 'CANVAS')
        return { vertex: hit.vertex, x: place.x, y: place.y };
    }
    return null;
  })()`);
  expect(found, 'a part of the surface is seen');
  return found;
}

/**
 * Wait until a vertex of simulated flesh rests: for half a second of the simulation's own time, which goes slower than
 * the clock on a busy machine, it has hardly moved. Time counts only while frames come.
 */
export function rest(page, v) {
  return page.value(`(async () => {
    const window = 0.5, most = 3e-4;
    const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
    const end = performance.now() + 180000;
    // The first frames may show what was before.
    let [time, frames, last, path] = [-0.1, driver.frames(), performance.now(), []];
    for (;;) {
      await new Promise((done) => setTimeout(done, 8));
      const now = performance.now();
      if (now > end) throw new Error('it never came to rest');
      if (driver.frames() === frames) continue;
      const speed = sinew.state().fleshed?.status?.speed ?? 1;
      time += Math.min(now - last, 100) / 1000 * Math.min(Math.max(speed, 0.02), 1);
      [frames, last] = [driver.frames(), now];
      const at = sinew.vertex(${v}).position;
      if (time >= 0) path.push([time, at]);
      const kept = path.findIndex(([t]) => t >= time - window);
      if (kept > 0 && path[0][0] <= time - window && path.slice(kept).every(([, p]) => away(p, at) < most)) return at;
      if (kept > 1) path = path.slice(kept - 1);
    }
  })()`);
}

/** Run the program beside the studio, to make files of our own. */
export function sinew(...args) {
  execFileSync(process.env.SINEW_BINARY, [...args, '--quiet'], { stdio: 'pipe' });
}
