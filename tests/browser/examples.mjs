// Working with examples: reach, edit weights back, draw a walk, bake, play, export, sculpt.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choose, expect, grip, same, slide, state } from './check.mjs';
import { exportAs } from './exporting.mjs';
import { inBlender, validate } from './judge.mjs';

const places = `Array.from({ length: sinew.state().vertices }, (_, v) => sinew.vertex(v).position)`;
const far = (a, b) => Math.max(...a.map((p, v) => Math.hypot(p[0] - b[v][0], p[1] - b[v][1], p[2] - b[v][2])));
/** The surface is where it should be, once everything that was done is shown. */
async function shows(page, wanted, tolerance, what) {
  await page.settle();
  const off = far(await page.value(places), wanted);
  expect(off < tolerance, `${what}, off by ${off}`);
}
const sliders = (page) =>
  page.value(`[...document.querySelectorAll('[data-testid^="weight-"][type=range]')].map((s) => Number(s.value))`);

/** A target is dragged and the sliders move; they are edited back; the pose is dropped, taken, undone. */
export async function a_target_is_dragged_and_weights_are_edited_back({ studio, open, shots }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await page.settle();
  const rest = await page.value(places);
  await page.click('tool-reach');
  expect(await page.has('reach-report'), 'the panel of reaching');
  const hand = await grip(page, 'hand.L');
  const before = await sliders(page);
  same(before.length, 3, 'a slider for each example');
  // While the pointer drags, the sliders follow.
  const seen = [];
  await page.mouse('mouseMoved', hand, { held: false });
  await page.mouse('mousePressed', hand);
  for (let k = 1; k <= 20; k += 1) {
    const frames = await page.value('driver.frames()');
    await page.mouse('mouseMoved', { x: hand.x - 3 * k, y: hand.y - 9 * k });
    await page.until(`driver.frames() > ${frames}`);
    seen.push((await sliders(page)).join());
  }
  await page.mouse('mouseReleased', { x: hand.x - 60, y: hand.y - 180 });
  await page.until('sinew.state().reach?.targets.length === 1');
  await page.settle();
  expect(
    new Set(seen).size > 5,
    `sliders move while the target is dragged: ${new Set(seen).size} different rows of weights`,
  );
  const dragged = await page.value(places);
  expect(far(dragged, rest) > 0.1, 'the body follows');
  same((await state(page)).history.steps.length, 1, 'nothing has been done yet');
  const { reach } = await state(page);
  const name = (await state(page)).examples[reach.weights.indexOf(Math.max(...reach.weights))].name;
  await page.screenshot(join(shots, 'reach.png'));
  // Edited back by hand: the slider stays where it was put, and the pose is that blend.
  await slide(page, `weight-${name}`, 0);
  await page.until(`sinew.state().reach.weights[sinew.state().examples.findIndex((e) => e.name === '${name}')] < 0.02`);
  await page.settle();
  expect(far(await page.value(places), dragged) > 0.03, 'the pose follows the slider');
  await page.type(`weight-number-${name}`, '0.5');
  await page.until(
    `Math.abs(sinew.state().reach.weights[sinew.state().examples.findIndex((e) => e.name === '${name}')] - 0.5) < 1e-6`,
  );
  // By numbers, pinned, with everything else pinned.
  await page.click('target-pin-hand.L');
  await page.until('sinew.state().reach.targets[0].pin');
  await page.type('target-hand.L-y', '1.3');
  await page.until('Math.abs(sinew.state().reach.targets[0].position[1] - 1.3) < 1e-6');
  await page.click('reach-pin-others');
  await page.until('sinew.state().reach.pin_others');
  // Out of reach: reported, and the nearest pose.
  await page.click('search-residual');
  await page.type('target-hand.L-x', '7');
  await page.until('!sinew.state().reach.reached');
  expect((await page.text('reach-report')).includes('Out of reach'), 'what is out of reach is reported');
  // An objective that is not understood.
  await page.type('search-objective', 'dtt+speed');
  await page.until(`document.querySelector('[data-testid="toasts"]').textContent.includes('speed')`);
  await page.type('search-objective', 'dtt+0.3dfe');
  await page.until(`sinew.state().search.objective === 'target + 0.3 like-examples'`);
  await page.until(`document.querySelector('[data-testid="term-like-examples"]')`);
  // Dropped without a trace but for the settings, which are steps of their own.
  const steps = (await state(page)).history.steps.length;
  await page.click('reach-cancel');
  await page.until('sinew.state().reach === null');
  await shows(page, rest, 1e-4, 'as before');
  same((await state(page)).history.steps.length, steps, 'steps');
  // Taken, and undone: searched as at first.
  await page.click('search-residual');
  await page.until('sinew.state().search.residual');
  await page.click('reach-pin-others');
  await page.type('search-objective', 'dtt+0.1sow');
  await page.until(`sinew.state().search.objective === 'target + 0.1 small-weights'`);
  const foot = await grip(page, 'foot.L');
  await page.drag([foot, { x: foot.x, y: foot.y - 60 }]);
  await page.until('sinew.state().reach?.targets.length === 1');
  await page.click('reach-accept');
  await page.until(`sinew.state().reach === null && sinew.state().history.steps.at(-1) === 'Reach'`);
  expect((await state(page)).n_moves > 0, 'a pose of moves');
  await page.key('Ctrl+z');
  await page.until('sinew.state().n_moves === 0');
  // A mirrored twin of an example.
  await page.click('mirror-wave');
  await page.until(`sinew.state().examples.some((e) => e.name === 'wave mirrored') && sinew.state().n_moves === 2`);
  same((await state(page)).moves[0].rotate.main, 'elbow.R', 'the other arm');
}

/** Fetch a file that the server wrote. */
async function download(page, url, file) {
  const bytes = await page.value(
    `fetch('${url}').then((r) => r.arrayBuffer()).then((b) => { let t = ''; for (const x of new Uint8Array(b)) t += String.fromCharCode(x); return btoa(t); })`,
  );
  writeFileSync(file, Buffer.from(bytes, 'base64'));
}

/** Vertices at a time, as we show them and as Blender evaluates the file. */
function agreesWithBlender(what, file, clip, time, shown) {
  validate(file);
  const blender = inBlender(file, clip, time);
  const size = Math.hypot(
    ...[0, 1, 2].map((k) => Math.max(...shown.map((p) => p[k])) - Math.min(...shown.map((p) => p[k]))),
  );
  // Blender keeps copies of vertices where materials meet; each of ours is one of them.
  const error =
    Math.max(...shown.map((p) => Math.min(...blender.map((q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]))))) /
    size;
  console.log(`        ${what}: Blender is off by ${error.toExponential(2)} of the diagonal`);
  expect(error <= 1e-4, `${what}: the exported walk in Blender, off by ${error}`);
}

/** A walk is drawn on the ground, its points moved, added and removed, baked, played, exported, judged. */
export async function a_walk_is_drawn_baked_played_and_exported({ studio, open, folder, shots }) {
  const page = await open(studio);
  await page.value(`sinew.ask({ type: 'sample', name: 'biped', vertices: 2000 })`);
  await page.until('sinew.state().vertices < 3000 && sinew.ready()', 240_000);
  await page.settle();
  await page.click('tool-path');
  expect(await page.has('walk-draw'), 'the panel of paths');
  const { x, y } = await page.place('viewport');
  // Two clicks on the ground before the figure: from where it stands over two points.
  await page.click({ x: x - 30, y: y + 250 });
  await page.until('sinew.state().paths.walk?.line.length === 2');
  await page.settle();
  await page.click({ x: x + 230, y: y + 200 });
  await page.until('sinew.state().paths.walk.line.length === 3');
  await page.settle();
  // The last is dragged, chosen and removed; undo brings it back.
  const line = (await state(page)).paths.walk.line;
  await page.drag([
    { x: x + 230, y: y + 200 },
    { x: x + 200, y: y + 215 },
  ]);
  await page.until(`JSON.stringify(sinew.state().paths.walk.line) !== '${JSON.stringify(line)}'`);
  await page.settle();
  await page.click({ x: x + 200, y: y + 215 });
  await page.key('Delete');
  await page.until('sinew.state().paths.walk.line.length === 2');
  await page.key('Ctrl+z');
  await page.until('sinew.state().paths.walk.line.length === 3');
  // A path of a handle in space: it begins at the handle, clicks lead on.
  await page.click('handle-hand.R');
  await page.click('path-add');
  await page.until('sinew.state().paths.paths?.length === 1');
  const hand = await page.value(`sinew.handle('hand.R')`);
  await page.click({ x: hand.x - 60, y: hand.y - 80 });
  await page.until('sinew.state().paths.paths[0].points.length === 2');
  await page.screenshot(join(shots, 'paths-drawn.png'));
  await page.click('path-remove-hand.R');
  await page.until('!sinew.state().paths.paths?.length');
  // Hills, keyframes; then the bake, which plays.
  await page.click('ground-kind-hills');
  await page.until('sinew.state().drawn.ground');
  await page.screenshot(join(shots, 'paths-hills.png'));
  await page.type('bake-fps', '12');
  await page.click('bake');
  await page.until(`sinew.state().clips.some((clip) => clip.name === 'motion')`, 240_000);
  await page.until(`sinew.state().display.clip === 'motion'`);
  // The walk plays.
  await page.value(`(window.one = ${places}, null)`);
  await page.until(`window.one.some((p, v) => Math.hypot(...sinew.vertex(v).position.map((x, k) => x - p[k])) > 0.01)`);
  const said = await page.text('bake-report');
  expect(/frames.*Stored as a clip of \d+ joints/.test(said), `how it became is said: ${said}`);
  await page.screenshot(join(shots, 'walk-plays.png'));
  await page.move({ x, y: y - 200 });
  await page.key('Space');
  await page.settle();
  // A frame of the grid, as we show it and as Blender evaluates the exported file.
  const time = 9 / 12;
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: 'motion', time: ${time} })`);
  await page.settle();
  const shown = await page.value(places);
  for (const [what, clip] of [
    ['clip', null],
    ['character', 'motion'],
  ]) {
    const out = join(folder, what);
    const made = await page.value(
      `sinew.ask({ type: 'export', format: 'glb', what: '${what}', clip: 'motion', fps: 12 })`,
    );
    const file = `${out}.glb`;
    await download(page, made.url, file);
    agreesWithBlender(what, file, clip ?? (await state(page)).name, time, shown);
  }
  // By the dialog, as a user does it.
  validate(await exportAs(page, join(folder, 'by-hand'), null, '.glb'));
  // Saved and opened again, everything is there; the walk without a walk says so.
  await page.value(`sinew.ask({ type: 'save', path: 'walker' })`);
  await page.value(`sinew.ask({ type: 'open', path: 'walker.sinew.glb' })`);
  await page.until('sinew.state().paths.walk?.line.length === 3 && !sinew.state().dirty');
  expect(
    (await state(page)).clips.some(({ name }) => name === 'motion'),
    'the clip of the project',
  );
  await page.click('walk-remove');
  await page.until('!sinew.state().paths.walk');
  same(await page.value(`document.querySelector('[data-testid="bake"]').disabled`), true, 'nothing to bake');
  await page.value(
    `sinew.ask({ type: 'do', command: { set_paths: { paths: { keyframes: { examples: ['wave', 'bow'], seconds: 0.5 } } } } })`,
  );
  await page.until('sinew.state().paths.keyframes');
  await page.click('bake-follow-keyframes');
  await page.type('bake-name', 'keys');
  await page.click('bake');
  await page.until(`sinew.state().clips.some((clip) => clip.name === 'keys')`, 240_000);
}

/** Detail is pulled out of a stored pose, smoothed, undone; it comes with the pose and goes with another. */
export async function detail_is_sculpted({ studio, open, shots }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await page.settle();
  await page.click('tool-sculpt');
  await choose(page, 'option-example', 'wave');
  await page.until('sinew.state().n_moves === 2');
  await page.settle();
  const plain = await page.value(places);
  const chest = await grip(page, 'chest');
  await page.drag([chest, { x: chest.x + 25, y: chest.y + 5 }], { steps: 8, pause: 40 });
  await page.until(`sinew.state().detail && sinew.state().examples.find((e) => e.name === 'wave').detail`);
  await page.settle();
  const pulled = await page.value(places);
  const height = far(pulled, plain);
  expect(height > 0.003, `a bulge: ${height}`);
  await page.screenshot(join(shots, 'sculpted.png'));
  same((await state(page)).history.steps.at(-1), 'Sculpt wave', 'one step for the stroke');
  await page.click('option-sculpt-smooth');
  await page.drag([chest, { x: chest.x + 25, y: chest.y + 5 }], { steps: 8, pause: 40 });
  await page.settle();
  const smooth = far(await page.value(places), plain);
  expect(smooth < height, `smoothed from ${height} to ${smooth}`);
  await page.key('Ctrl+z');
  await page.key('Ctrl+z');
  await page.until('!sinew.state().detail');
  await shows(page, plain, 1e-4, 'undone');
  await page.key('Ctrl+Shift+z');
  await page.until('sinew.state().detail');
  // In a blend it shows by its weight.
  await page.click('tool-reach');
  await page.type('weight-number-wave', '0.5');
  await page.until('sinew.state().reach?.weights[0] === 0.5');
  await page.click('reach-cancel');
  await page.until('sinew.state().reach === null');
  await page.panel('poses');
  await page.click('pose-load-bow');
  await page.until('!sinew.state().detail');
  await page.click('pose-load-wave');
  await page.until('sinew.state().detail');
  await shows(page, pulled, 1e-4, 'it comes with its pose');
}

// Others of this capability are short.
for (const test of [a_target_is_dragged_and_weights_are_edited_back, detail_is_sculpted]) test.long = true;
