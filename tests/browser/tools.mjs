// Every tool, used with the pointer on the real engine.
import { join } from 'node:path';
import { expect, grip, same, state } from './check.mjs';

const moves = (page, n) => page.until(`sinew.state().n_moves === ${n}`);

/** Pixels from the middle of the gizmo to a ring: of an axis, or around them all, facing the viewer. Its size is 0.8 (`gizmo.ts`). */
async function ringRadius(page, which) {
  const height = await page.value(`document.querySelector('canvas[data-testid="viewport"]').clientHeight`);
  // TransformControls: rings of radius 0.5 and 0.75, scaled by the distance × 1.9 tan(fov / 2) × size / 4.
  return (height / 2) * 1.9 * (0.8 / 4) * { axis: 0.5, outer: 0.75 }[which];
}

/** Drag along a line from a handle's centre, starting where the gizmo's arrow or ring is. */
async function dragGizmo(page, name, from, to) {
  const centre = await page.value(`sinew.handle(${JSON.stringify(name)})`);
  const at = ([x, y]) => ({ x: centre.x + x, y: centre.y + y });
  await page.move(at(from));
  await page.settle();
  await page.drag([at(from), at(to)]);
}

export async function rings_arrows_twists_and_centres({ studio, open, shots }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await page.settle();
  // Arrows: along x as seen from the front.
  await page.click('handle-hand.L');
  await page.click('tool-translate');
  await page.settle();
  await dragGizmo(page, 'hand.L', [55, 0], [115, 0]);
  await moves(page, 1);
  const shift = (await state(page)).moves[0].translate;
  const [x, y, z] = shift.vector;
  expect(x > 0.02 && Math.abs(y) < 1e-6 && Math.abs(z) < 1e-6, `along x: ${shift.vector}`);
  // Rings: the one that faces the viewer turns about z.
  await page.click('handle-elbow.L');
  await page.click('tool-rotate');
  await page.settle();
  await page.screenshot(join(shots, 'rings.png'));
  const radius = await ringRadius(page, 'axis');
  const onRing = (degrees) => [
    radius * Math.cos((degrees * Math.PI) / 180),
    -radius * Math.sin((degrees * Math.PI) / 180),
  ];
  await dragGizmo(page, 'elbow.L', onRing(50), onRing(10));
  await moves(page, 2);
  const { rotate } = (await state(page)).moves[1];
  expect(
    rotate?.main === 'elbow.L' && Math.abs(rotate.axis[2]) > 0.999,
    `the ring turns the arm about z: ${JSON.stringify(rotate)}`,
  );
  expect(Math.abs(Math.abs(rotate.degrees) - 40) < 6, `as far as the pointer went around: ${rotate.degrees}`);
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
  await page.settle();
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
  await page.settle();
  await page.key('Escape');
  await page.settle();
  same((await state(page)).history.steps.length, steps, 'steps after Escape');
}

export async function handles_are_drawn_erased_mirrored_and_weighted({ studio, open, shots }) {
  const page = await open(studio);
  const { x, y } = await page.place('viewport');
  await page.move({ x, y });
  await page.key('1');
  await page.value(`sinew.ask({ type: 'do', command: { clear_handles: {} } })`);
  await page.until('sinew.state().handles.length === 0');
  await page.settle();
  // A lasso around an arm of the figure, which is its left and lies to the right.
  const hand = await page.value(`(() => {
    let best = 0, most = -Infinity;
    for (let v = 0; v < sinew.state().vertices; v += 1) { const [px] = sinew.vertex(v).position; if (px > most) [most, best] = [px, v]; }
    return sinew.vertex(best).place;
  })()`);
  await page.click('tool-lasso');
  // Taking a tool that paints shows the surface at rest; a stroke that begins before it is shown counts too.
  const around = [
    [-110, -120],
    [40, -120],
    [40, 60],
    [-110, 60],
    [-110, -115],
  ].map(([dx, dy]) => ({ x: hand.x + dx, y: hand.y + dy }));
  await page.drag(around, { steps: 5 });
  await page.until('sinew.state().handles.length === 1');
  const { name, vertices } = (await state(page)).handles[0];
  expect(vertices > 50, `vertices in the lasso: ${vertices}`);
  await page.click('tool-erase');
  await page.drag([
    { x: hand.x - 5, y: hand.y },
    { x: hand.x - 25, y: hand.y - 10 },
  ]);
  await page.until(`sinew.state().handles[0].vertices < ${vertices}`);
  await page.click(`handle-${name}`);
  await page.value(`sinew.perform('handle-grow')`);
  await page.settle();
  await page.value(`sinew.perform('handle-mirror')`);
  await page.until('sinew.state().handles.length === 2');
  const [left, right] = (await state(page)).handles;
  expect(Math.abs(left.center[0] + right.center[0]) < 0.05, `mirrored: ${left.center} ${right.center}`);
  await page.settle();
  await page.screenshot(join(shots, 'mirrored.png'));
  // Back through everything by the list.
  await page.panel('history');
  await page.click('history-0');
  await page.until('sinew.state().history.at === 0 && sinew.state().handles.length === 15');
}

export async function methods_looks_clips_and_poses({ studio, open, shots }) {
  const page = await open(studio);
  const places = `Array.from({ length: sinew.state().vertices }, (_, v) => sinew.vertex(v).position)`;
  const rest = await page.value(places);
  await page.click('pose-load-wave');
  await page.until('sinew.state().n_moves === 2');
  await page.settle();
  const far = (a, b) => Math.max(...a.map((p, v) => Math.hypot(p[0] - b[v][0], p[1] - b[v][1], p[2] - b[v][2])));
  let last = await page.value(places);
  expect(far(last, rest) > 0.1, 'the pose moves the surface');
  for (const method of ['arap', 'lipman', 'guided']) {
    await page.value(`sinew.ask({ type: 'do', command: { set_edit: { method: '${method}' } } })`);
    await page.until(`sinew.state().edit.method === '${method}'`);
    await page.settle();
    const now = await page.value(places);
    expect(far(now, last) > 1e-4, `${method} poses the surface in its own way`);
    last = now;
  }
  // Refined while idle: slightly different, and back again without.
  await page.value(`(window.last = ${places}, null)`);
  await page.value(`sinew.ask({ type: 'refine', on: true })`);
  await page.until(
    `window.last.some((p, v) => Math.hypot(...sinew.vertex(v).position.map((x, k) => x - p[k])) > 1e-5)`,
  );
  const change = far(await page.value(places), last);
  expect(change < 0.05, `polishing changes little: ${change}`);
  await page.value(`sinew.ask({ type: 'refine', on: false })`);
  await page.settle();
  expect(far(await page.value(places), last) < 1e-5, 'unpolished as before');
  await page.value(`sinew.perform('ghost')`);
  await page.settle();
  await page.screenshot(join(shots, 'ghost.png'));
  // A clip plays by itself, and stops.
  await page.click('display-clip');
  await page.until(`sinew.state().display.what === 'clip'`);
  const frames = await page.value('sinewStats.frames');
  await page.move(await page.place('viewport'));
  await page.key('Space');
  await page.until(`sinewStats.frames > ${frames + 5}`);
  await page.value(`(window.one = ${places}, null)`);
  await page.until(`window.one.some((p, v) => Math.hypot(...sinew.vertex(v).position.map((x, k) => x - p[k])) > 0.01)`);
  await page.key('Space');
  // Reloaded, the page has everything again.
  await page.go(studio.url);
  same((await state(page)).n_moves, 2, 'moves after reloading');
}

const difference = (a, b) =>
  a.reduce((sum, p, i) => sum + Math.abs(p[0] - b[i][0]) + Math.abs(p[1] - b[i][1]) + Math.abs(p[2] - b[i][2]), 0) /
  a.length;
/** How far a pixel is from grey. */
const colour = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b);
const colourful = (picture) => picture.filter((pixel) => colour(pixel) > 24).length;

/** Every look is one of its own, and stress shows where the surface is stretched. */
export async function looks_differ_and_stress_is_seen({ studio, open, shots }) {
  const page = await open(studio);
  await page.click('pose-load-wave');
  await page.until('sinew.state().n_moves === 2');
  // Dots of rotation centres have colours, too.
  await page.value(`sinew.perform('centres')`);
  await page.settle();
  const { x, y } = await page.place('viewport');
  const clip = { x: x - 180, y: y - 240, width: 360, height: 480 };
  const pictures = {};
  for (const look of ['shaded', 'matcap', 'handles', 'textured', 'stress']) {
    await page.value(`sinew.perform('look-${look}')`);
    await page.settle();
    await page.screenshot(join(shots, `look-${look}.png`));
    pictures[look] = await page.pixels(clip);
  }
  const names = Object.keys(pictures);
  for (const [i, a] of names.entries()) {
    for (const b of names.slice(i + 1))
      expect(difference(pictures[a], pictures[b]) > 1, `${a} and ${b} look different`);
  }
  same(difference(pictures.stress, await page.pixels(clip)), 0, 'the same look, seen twice');
  // Colours where the arm bends; none once nothing is bent.
  expect(await page.has('legend'), 'the legend of stress');
  const bent = colourful(pictures.stress);
  await page.value(`sinew.perform('pose-reset')`);
  await page.until('sinew.state().n_moves === 0');
  await page.settle();
  const straight = colourful(await page.pixels(clip));
  expect(bent > straight + 200, `coloured pixels of a bent arm ${bent}, of a straight one ${straight}`);
  // Lines, and seeing through.
  await page.value(`sinew.perform('look-shaded')`);
  await page.settle();
  const plain = await page.pixels(clip);
  await page.value(`sinew.perform('wireframe')`);
  await page.settle();
  await page.screenshot(join(shots, 'wireframe.png'));
  expect(difference(plain, await page.pixels(clip)) > 2, 'lines of the wireframe');
  await page.value(`sinew.perform('wireframe')`);
  await page.settle();
  expect(difference(plain, await page.pixels(clip)) < 0.5, 'without lines as before');
  await page.value(`sinew.perform('pose-reset')`);
  await page.click('pose-load-bow');
  await page.until('sinew.state().n_moves === 2');
  await page.settle();
  const alone = await page.pixels(clip);
  await page.value(`sinew.perform('ghost')`);
  await page.settle();
  await page.screenshot(join(shots, 'ghost.png'));
  expect(difference(alone, await page.pixels(clip)) > 1, 'the figure at rest beside the posed one');
}

/** A ring that is turned on and on turns the handle as far, not back by the shorter way. */
export async function a_ring_turns_beyond_half_a_turn({ studio, open }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await page.settle();
  await page.click('handle-head');
  await page.click('tool-rotate');
  await page.settle();
  const centre = await page.value(`sinew.handle('head')`);
  const arc = (radius, degrees) =>
    Array.from({ length: 1 + degrees / 15 }, (_, k) => {
      const angle = ((45 + 15 * k) * Math.PI) / 180;
      return { x: centre.x + radius * Math.cos(angle), y: centre.y - radius * Math.sin(angle) };
    });
  const turn = async () =>
    (await state(page)).moves
      .filter((step) => step.rotate?.main === 'head')
      .reduce((sum, step) => sum + step.rotate.degrees * Math.sign(step.rotate.axis[2]), 0);
  // The outermost ring, which faces the viewer.
  const points = arc(await ringRadius(page, 'outer'), 285);
  await page.move(points[0]);
  await page.settle();
  await page.drag(points, { steps: 3 });
  await moves(page, 1);
  const turned = await turn();
  expect(Math.abs(turned) > 200 && Math.abs(turned) < 330, `three quarters of a turn: ${turned}`);
}

for (const test of [looks_differ_and_stress_is_seen, rings_arrows_twists_and_centres]) test.long = true;

// Others of this capability are short.
a_ring_turns_beyond_half_a_turn.long = true;
