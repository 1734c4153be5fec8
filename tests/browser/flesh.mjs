// Flesh: filled at the press of a button, pulled and released, painted, given joints by rays, baked, saved, exported.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from './browser.mjs';
import { away, choose, expect, rest, same, seen, slide, state, vertex } from './check.mjs';
import { exportAs } from './exporting.mjs';
import { distance, inBlender, validate } from './judge.mjs';

/** Press “Flesh” and wait until it is simulated. */
async function fleshOut(page) {
  await page.panel('flesh');
  await page.click('flesh-live');
  await page.until(`sinew.state().fleshed.status?.step_ms > 0`, 240_000);
}

/** Some vertices of the whole body. */
const sampled = (page) =>
  page.value(
    'Array.from({ length: 60 }, (_, k) => sinew.vertex(Math.floor((k * sinew.state().vertices) / 60)).position)',
  );

/** The same when the first of them rests. */
async function resting(page) {
  await rest(page, 0);
  return sampled(page);
}

export async function flesh_is_pulled_and_springs_back({ studio, open, shots }) {
  const page = await open(studio);
  await page.panel('flesh');
  await page.screenshot(join(shots, 'flesh-panel.png'));
  await fleshOut(page);
  const { fleshed } = await state(page);
  expect(
    fleshed.on && fleshed.status.cells > 500 && fleshed.fault === null,
    `cells without a fault: ${JSON.stringify(fleshed)}`,
  );
  await page.click('tool-flesh');
  const belly = await seen(page, [0, 1.15, 0.15]);
  const before = await rest(page, belly.vertex);
  // Held: pressed, moved, not released.
  await page.mouse('mouseMoved', belly, { held: false });
  await page.mouse('mousePressed', belly);
  await page.value('driver.answers(false)');
  for (let k = 1; k <= 12; k += 1) await page.mouse('mouseMoved', { x: belly.x + 7 * k, y: belly.y - 3 * k });
  await page.until(
    `Math.hypot(...sinew.vertex(${belly.vertex}).position.map((x, k) => x - ${JSON.stringify(before)}[k])) > 0.02`,
  );
  const held = await rest(page, belly.vertex);
  await page.screenshot(join(shots, 'flesh-held.png'));
  await page.mouse('mouseReleased', { x: belly.x + 84, y: belly.y - 36 });
  const after = await rest(page, belly.vertex);
  const pulled = away(held, before);
  expect(pulled > 0.02, `it gives way: ${pulled}`);
  expect(away(after, before) < 0.1 * pulled, `it returns: ${away(after, before)} of ${pulled}`);
  same((await state(page)).history.steps.length, 1, 'pulling is no step');
  // Pushed with Shift: it dents and comes back.
  await page.value(`(() => {
    const from = sinew.vertex(${belly.vertex}).position;
    window.dent = 0;
    setInterval(() => {
      window.dent = Math.max(window.dent, Math.hypot(...sinew.vertex(${belly.vertex}).position.map((x, k) => x - from[k])));
    }, 5);
  })()`);
  await page.click(belly, { modifiers: 8 });
  await page.until('window.dent > 0.003');
  expect(away(await rest(page, belly.vertex), before) < 0.005, 'and it comes back');
  // Softer and with gravity the other way, while it runs; undone, as before.
  await slide(page, 'flesh-stiffness', -1);
  await page.until(`sinew.state().flesh.settings.stiffness < 5000`);
  await choose(page, 'flesh-way', 'up');
  await page.until(`sinew.state().flesh.settings.gravity[1] > 9`);
  const soft = await rest(page, belly.vertex);
  expect(soft[1] - before[1] > 0.01, `soft flesh falls up: ${soft[1] - before[1]}`);
  await page.screenshot(join(shots, 'flesh-up.png'));
  await page.click('flesh-defaults');
  await page.until(`sinew.state().flesh.settings.gravity[1] < 0`);
  expect(away(await rest(page, belly.vertex), before) < 0.005, 'defaults bring it back');
  // Cells are shown.
  await page.click('flesh-cells');
  await page.until(`sinew.flesh().edges > 1000 && sinew.flesh().nodes > 500`);
  await page.settle();
  await page.screenshot(join(shots, 'flesh-cells.png'));
  await page.click('flesh-cells');
  // A clip plays with flesh on it: it comes along with the bones, not exactly as they go.
  await page.key('Space');
  await page.until(`sinew.state().display.what === 'clip'`);
  await page.until(
    `Math.hypot(...sinew.vertex(${belly.vertex}).position.map((x, k) => x - ${JSON.stringify(before)}[k])) > 0.01`,
  );
  await page.screenshot(join(shots, 'flesh-walk.png'));
  await page.key('Space');
  const hung = await resting(page);
  await page.click('flesh-live');
  await page.until(`!sinew.state().fleshed.on`);
  await page.settle();
  const skinned = await sampled(page);
  const apart = Math.max(...hung.map((p, i) => away(p, skinned[i])));
  expect(apart > 1e-3 && apart < 0.1, `flesh hangs on the bones of the clip: ${apart} m from the skin`);
  await fleshOut(page);
  await page.value(`sinew.ask({ type: 'display', what: 'rest' })`);
  await rest(page, belly.vertex);
  // Paused, nothing moves; stopped, the surface is as without.
  await page.click('flesh-pause');
  await page.until('sinew.state().fleshed.paused');
  await page.settle();
  const still = await vertex(page, belly.vertex);
  // That nothing happens for a while is what is tested.
  await sleep(500);
  await page.settle();
  same(await vertex(page, belly.vertex), still, 'paused');
  await page.click('flesh-live');
  await page.until(`!sinew.state().fleshed.on`);
}

export async function stiffness_is_painted_and_kept({ studio, open, shots }) {
  const page = await open(studio);
  await page.panel('flesh');
  await page.click('flesh-paint');
  same(
    await page.value(`document.querySelector('[data-testid="tool-stiffen"]').getAttribute('aria-pressed')`),
    'true',
    'the brush is active',
  );
  const belly = await seen(page, [0, 1.15, 0.15]);
  await page.drag([
    { x: belly.x - 30, y: belly.y },
    { x: belly.x + 30, y: belly.y },
    { x: belly.x, y: belly.y + 40 },
  ]);
  await page.until(`sinew.state().flesh.painted && sinew.flesh().painted > 10`);
  await page.settle();
  await page.screenshot(join(shots, 'flesh-painted.png'));
  const painted = await page.value('sinew.flesh().painted');
  same((await state(page)).history.steps.at(-1), 'Paint stiffness', 'one stroke, one step');
  await page.key('Ctrl+z');
  await page.until(`!sinew.state().flesh.painted && sinew.flesh().painted === 0`);
  await page.key('Ctrl+Shift+z');
  await page.until(`sinew.flesh().painted === ${painted}`);
  // Saved and opened again.
  const path = join(studio.root, 'painted.sinew.glb');
  await page.value(`sinew.ask({ type: 'save', path: ${JSON.stringify(path)} })`);
  await page.value(`sinew.ask({ type: 'sample', name: 'sack', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'sack' && !sinew.state().flesh.painted`);
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(path)} })`);
  await page.until(`sinew.state().flesh.painted && sinew.flesh().painted === ${painted}`, 240_000);
  validate(path);
}

export async function a_mesh_gets_joints_and_flesh({ studio, open, folder, shots }) {
  const page = await open(studio);
  await page.value(`sinew.ask({ type: 'sample', name: 'sack', vertices: 3000 })`);
  await page.until(`sinew.state().name === 'sack'`, 240_000);
  // Without its own skeleton.
  const bare = await exportAs(page, join(folder, 'bare'), 'OBJ · at rest', '.obj');
  const copy = join(studio.root, 'bare.obj');
  cpSync(bare, copy);
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(copy)} })`);
  await page.until(`sinew.state().joints === 0`, 240_000);
  await page.settle();
  await page.panel('flesh');
  expect(await page.has('flesh-no-joints'), 'what to do is reported');
  await page.click('flesh-joint-tool');
  const { bounds } = await state(page);
  const [low, high] = bounds;
  const middle = low.map((x, k) => (x + high[k]) / 2);
  for (const share of [0.25, 0.5, 0.8]) {
    const at = await seen(page, [middle[0], low[1] + share * (high[1] - low[1]), high[2]]);
    const n = (await state(page)).flesh.sites.length;
    await page.click(at);
    await page.until(`sinew.state().flesh.sites.length === ${n + 1}`);
  }
  const { sites } = (await state(page)).flesh;
  same(
    sites.map(({ parent }) => parent),
    [null, 'joint.1', 'joint.2'],
    'each hangs on the one before',
  );
  expect(
    sites.every(({ position: [, , z] }) => z < high[2] - 0.1 * (high[2] - low[2]) && z > low[2]),
    'joints lie within the body',
  );
  // One is dragged, and undone.
  const place = await page.value(`sinew.joint('joint.2')`);
  await page.drag([place, { x: place.x + 25, y: place.y }]);
  await page.until(`Math.abs(sinew.state().flesh.sites[1].position[0] - ${sites[1].position[0]}) > 1e-3`);
  await page.key('Ctrl+z');
  await page.until(`Math.abs(sinew.state().flesh.sites[1].position[0] - ${sites[1].position[0]}) < 1e-9`);
  await page.screenshot(join(shots, 'flesh-joints.png'));
  await page.click('flesh-bind');
  await page.until(`sinew.state().joints === 3`, 240_000);
  // Turned by a drag of the last joint about the one above it, and by numbers.
  const top = await page.value(`sinew.joint('joint.3')`);
  await page.drag([top, { x: top.x + 70, y: top.y + 20 }]);
  await page.until(`sinew.state().flesh.turned`);
  const turned = await page.value(`sinew.joint('joint.3')`);
  expect(turned.x - top.x > 20, `the joint follows the pointer: ${turned.x - top.x}`);
  await choose(page, 'flesh-joint', 'joint.2');
  await page.settle();
  await page.type('flesh-turn-Z', '-40');
  await page.until(`Math.abs(sinew.state().flesh.joints[1].turn[2] + Math.sin(Math.PI / 9)) < 0.02`);
  const peak = (await seen(page, [middle[0], high[1], middle[2]])).vertex;
  const skinned = await vertex(page, peak);
  await page.screenshot(join(shots, 'flesh-turned.png'));
  // Flesh on it: softer than the skin, it sags from where skinning has it.
  await page.click('flesh-live');
  await page.until(`sinew.state().fleshed.status?.step_ms > 0`, 240_000);
  const sagged = await rest(page, peak);
  expect(
    away(sagged, skinned) > 1e-4 && away(sagged, skinned) < 0.5,
    `flesh follows the joints: ${away(sagged, skinned)}`,
  );
  await page.screenshot(join(shots, 'flesh-sack.png'));
  await page.click('flesh-live');
  await page.click('flesh-keep-turns');
  await page.until(`sinew.state().clips.length === 1`);
  // A glTF skin with the pose as a clip, in Blender as here.
  const file = await exportAs(page, join(folder, 'sack'), 'character with handles', '.glb');
  validate(file);
  const shown = [];
  await page.value(`sinew.ask({ type: 'display', what: 'jointed' })`);
  await page.settle();
  for (let v = 0; v < 2000; v += 53) shown.push(await vertex(page, v));
  const error = distance(shown, inBlender(file, (await state(page)).clips[0].name, 0));
  console.log(`        Blender poses the skin ${error.toExponential(1)} diagonals from what the page shows`);
  expect(error < 1e-4, `Blender poses it as the page does: ${error}`);
}

export async function a_bake_plays_is_kept_and_exports({ studio, open, folder, shots }) {
  const page = await open(studio);
  await page.panel('flesh');
  const clip = (await state(page)).clips[0].name;
  await page.type('flesh-n-cells', '400');
  await page.until(`sinew.state().flesh.settings.cells === 400`);
  await choose(page, 'flesh-bake-clip', clip);
  await page.type('flesh-bake-name', 'soft');
  await page.type('flesh-bake-fps', '20');
  await page.click('flesh-bake');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'soft')`, 240_000);
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: 'soft', time: 0.5 })`);
  await page.settle();
  const shown = [];
  for (let v = 0; v < 4000; v += 97) shown.push(await vertex(page, v));
  await page.screenshot(join(shots, 'flesh-baked.png'));
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: ${JSON.stringify(clip)}, time: 0.5 })`);
  await page.settle();
  const skinned = [];
  for (let v = 0; v < 4000; v += 97) skinned.push(await vertex(page, v));
  const apart = Math.max(...shown.map((p, i) => away(p, skinned[i])));
  console.log(`        flesh is up to ${(1000 * apart).toFixed(1)} mm from the skin`);
  expect(apart > 1e-3 && apart < 0.3, `flesh is not the skin: ${apart}`);
  // Undone and done again; saved and opened again.
  await page.key('Ctrl+z');
  await page.until(`!sinew.state().clips.some(({ name }) => name === 'soft')`);
  await page.key('Ctrl+Shift+z');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'soft')`);
  const path = join(studio.root, 'soft.sinew.glb');
  await page.value(`sinew.ask({ type: 'save', path: ${JSON.stringify(path)} })`);
  await page.value(`sinew.ask({ type: 'sample', name: 'bar', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'bar'`);
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(path)} })`);
  await page.until(
    `sinew.state().clips.some(({ name }) => name === 'soft') && sinew.state().flesh.settings.cells === 400`,
    240_000,
  );
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: 'soft', time: 0.5 })`);
  await page.settle();
  for (let v = 0, i = 0; v < 4000; v += 97, i += 1)
    expect(away(await vertex(page, v), shown[i]) < 1e-5, 'the clip is as it was baked');
  const file = await exportAs(page, join(folder, 'soft'), 'character with handles', '.glb');
  validate(file);
  const error = distance(shown, inBlender(file, 'soft', 0.5));
  console.log(`        Blender plays the flesh ${error.toExponential(1)} diagonals from what the page shows`);
  expect(error < 1e-4, `Blender plays what the page shows: ${error}`);
}

/** For what cannot be filled, the reason and the remedy are shown. */
export async function flat_surfaces_say_why_they_have_no_flesh({ studio, open, shots }) {
  const page = await open(studio);
  const flat = join(studio.root, 'flat.obj');
  writeFileSync(flat, 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n');
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(flat)} })`);
  await page.until(`sinew.state().name === 'flat'`, 240_000);
  await page.panel('flesh');
  await page.click('flesh-live');
  await page.until(`sinew.state().fleshed.fault && !sinew.state().fleshed.on`, 240_000);
  expect((await page.text('flesh-note')).includes('close it, give it thickness'), await page.text('flesh-note'));
  await page.screenshot(join(shots, 'flesh-flat.png'));
}

// Others of this capability are short.
for (const test of [
  flesh_is_pulled_and_springs_back,
  stiffness_is_painted_and_kept,
  a_mesh_gets_joints_and_flesh,
  a_bake_plays_is_kept_and_exports,
])
  test.long = true;
