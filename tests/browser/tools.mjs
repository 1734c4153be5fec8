// Every tool in the hand, on the real engine.
import { join } from 'node:path';
import { expect, grip, same, state } from './check.mjs';

const moves = (page, n) => page.until(`sinew.state().n_moves === ${n}`);

/** Drag along a line from a handle's centre, starting where the gizmo's arrow or ring is. */
async function dragGizmo(page, name, from, to) {
  const centre = await page.value(`sinew.handle(${JSON.stringify(name)})`);
  const at = ([x, y]) => ({ x: centre.x + x, y: centre.y + y });
  await page.move(at(from));
  await page.settle(150);
  await page.drag([at(from), at(to)]);
}

export async function rings_arrows_twists_and_centres({ studio, open, shots }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await page.settle(500);
  // Arrows: along x as seen from the front.
  await page.click('handle-hand.L');
  await page.click('tool-translate');
  await page.settle(300);
  await dragGizmo(page, 'hand.L', [55, 0], [115, 0]);
  await moves(page, 1);
  const shift = (await state(page)).moves[0].translate;
  const [x, y, z] = shift.vector;
  expect(x > 0.02 && Math.abs(y) < 1e-6 && Math.abs(z) < 1e-6, `along x: ${shift.vector}`);
  // Rings: the one that faces the viewer turns about z.
  await page.click('handle-elbow.L');
  await page.click('tool-rotate');
  await page.settle(300);
  await page.screenshot(join(shots, 'rings.png'));
  let turned = false;
  for (const radius of [60, 70, 50, 80, 90, 40]) {
    await dragGizmo(page, 'elbow.L', [radius * 0.7, -radius * 0.7], [radius, 10]);
    await page.settle(300);
    turned = (await state(page)).moves.some((step) => step.rotate?.main === 'elbow.L');
    if (turned) break;
  }
  expect(turned, 'a ring turned the arm');
  // Twist: sideways, spread over the limb.
  const n = (await state(page)).n_moves;
  await page.click('tool-twist');
  const hand = await grip(page, 'forearm.L');
  await page.drag([hand, { x: hand.x + 90, y: hand.y }]);
  await moves(page, n + 1);
  expect((await state(page)).moves[n].twist, 'a twist');
  // A rotation centre, on the surface at rest.
  const before = (await state(page)).handles.find(({ name }) => name === 'head').center;
  await page.click('tool-centre');
  await page.until(`sinew.state().display.what === 'rest'`);
  await page.settle(400);
  const dot = await page.value(`sinew.handle('head')`);
  await page.drag([dot, { x: dot.x + 30, y: dot.y - 20 }]);
  await page.until(`sinew.state().handles.find(({ name }) => name === 'head').center[0] !== ${before[0]}`);
  // Escape in the middle of a move leaves no trace.
  const steps = (await state(page)).history.steps.length;
  await page.click('handle-head');
  await page.move({ x: dot.x, y: dot.y - 60 });
  await page.key('g');
  await page.until(`sinew.state().display.what === 'posed'`);
  await page.move({ x: dot.x + 80, y: dot.y });
  await page.settle(300);
  await page.key('Escape');
  await page.settle(400);
  same((await state(page)).history.steps.length, steps, 'steps after Escape');
}

export async function handles_are_drawn_erased_mirrored_and_weighted({ studio, open, shots }) {
  const page = await open(studio);
  const { x, y } = await page.place('viewport');
  await page.move({ x, y });
  await page.key('1');
  await page.value(`sinew.ask({ type: 'do', command: { clear_handles: {} } })`);
  await page.until('sinew.state().handles.length === 0');
  await page.settle(800);
  // A lasso around an arm of the figure, which is its left and lies to the right.
  const hand = await page.value(`(() => {
    let best = 0, most = -Infinity;
    for (let v = 0; v < sinew.state().vertices; v += 1) { const [px] = sinew.vertex(v).position; if (px > most) [most, best] = [px, v]; }
    return sinew.vertex(best).place;
  })()`);
  await page.click('tool-lasso');
  const around = [[-110, -120], [40, -120], [40, 60], [-110, 60], [-110, -115]].map(([dx, dy]) => ({ x: hand.x + dx, y: hand.y + dy }));
  await page.drag(around, { steps: 5 });
  await page.until('sinew.state().handles.length === 1');
  const { name, vertices } = (await state(page)).handles[0];
  expect(vertices > 50, `vertices in the lasso: ${vertices}`);
  await page.click('tool-erase');
  await page.drag([{ x: hand.x - 5, y: hand.y }, { x: hand.x - 25, y: hand.y - 10 }]);
  await page.until(`sinew.state().handles[0].vertices < ${vertices}`);
  await page.click(`handle-${name}`);
  await page.value(`sinew.perform('handle-grow')`);
  await page.settle(400);
  await page.value(`sinew.perform('handle-mirror')`);
  await page.until('sinew.state().handles.length === 2');
  const [left, right] = (await state(page)).handles;
  expect(Math.abs(left.center[0] + right.center[0]) < 0.05, `mirrored: ${left.center} ${right.center}`);
  await page.settle(300);
  await page.screenshot(join(shots, 'mirrored.png'));
  // Back through everything by the list.
  await page.click('tab-history');
  await page.click('history-0');
  await page.until('sinew.state().history.at === 0 && sinew.state().handles.length === 15');
}

export async function methods_looks_clips_and_poses({ studio, open, shots }) {
  const page = await open(studio);
  const places = `Array.from({ length: sinew.state().vertices }, (_, v) => sinew.vertex(v).position)`;
  const rest = await page.value(places);
  await page.click('pose-load-wave').catch(() => page.click('pose-wave'));
  await page.until('sinew.state().n_moves === 2');
  await page.settle(900);
  const far = (a, b) => Math.max(...a.map((p, v) => Math.hypot(p[0] - b[v][0], p[1] - b[v][1], p[2] - b[v][2])));
  let last = await page.value(places);
  expect(far(last, rest) > 0.1, 'the pose moves the surface');
  for (const method of ['arap', 'lipman', 'guided']) {
    await page.value(`sinew.ask({ type: 'do', command: { set_edit: { method: '${method}' } } })`);
    await page.until(`sinew.state().edit.method === '${method}'`);
    await page.settle(1500);
    const now = await page.value(places);
    expect(far(now, last) > 1e-4, `${method} poses the surface in its own way`);
    last = now;
  }
  await page.value(`sinew.ask({ type: 'refine', on: true })`);
  await page.value(`sinew.ask({ type: 'stress', on: true })`);
  await page.settle(1500);
  for (let k = 0; k < 5; k += 1) {
    await page.value(`sinew.perform('look-next')`);
    await page.settle(250);
    await page.screenshot(join(shots, `look-${k}.png`));
  }
  await page.value(`sinew.perform('ghost')`);
  await page.settle(400);
  await page.screenshot(join(shots, 'ghost.png'));
  // A clip plays by itself, and stops.
  await page.click('display-clip');
  await page.until(`sinew.state().display.what === 'clip'`);
  const frames = await page.value('sinewStats.frames');
  await page.move(await page.place('viewport'));
  await page.key('Space');
  await page.until(`sinewStats.frames > ${frames + 5}`);
  const one = await page.value(places);
  await page.settle(300);
  const two = await page.value(places);
  await page.key('Space');
  expect(far(one, two) > 0.01, 'the clip moves the figure');
  // Reloaded, the page has everything again.
  await page.go(studio.url);
  same((await state(page)).n_moves, 2, 'moves after reloading');
}
