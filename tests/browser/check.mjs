// What a test expects, said in words when it is not so; and what tests share.
import { sleep } from './browser.mjs';

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

/** Set a field as a user who leaves it. */
export async function choose(page, id, value) {
  await page.value(`(() => {
    const field = document.querySelector('[data-testid="${id}"]');
    field.value = ${JSON.stringify(value)};
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
  await page.settle();
}

/** Move a slider as a hand does. */
export async function slide(page, id, value) {
  await page.value(`(() => {
    const field = document.querySelector('[data-testid="${id}"]');
    field.value = ${value};
    field.dispatchEvent(new Event('input', { bubbles: true }));
  })()`);
  await page.settle();
}

export const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

/** A vertex that is seen, nearest to a place of the model. */
export async function seen(page, target) {
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

/** Wait until a vertex rests. */
export async function rest(page, v) {
  let before = await vertex(page, v);
  for (let k = 0; k < 60; k += 1) {
    await sleep(400);
    const now = await vertex(page, v);
    if (away(now, before) < 3e-4) return now;
    before = now;
  }
  throw new Error('it never came to rest');
}
