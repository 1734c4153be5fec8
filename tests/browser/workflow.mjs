// The whole way: a mesh in, handles painted, posed, undone, saved, opened again, exported, judged by others.
import { join } from 'node:path';
import { read } from './browser.mjs';
import { expect, grip, same, sinew, state, vertex } from './check.mjs';
import { exportAs } from './exporting.mjs';
import { distance, inBlender, validate } from './judge.mjs';

/** Pose on the sample by hand, back and forth in history, a picture of it, a project, an export. */
export async function the_sample_is_posed_saved_and_exported({ studio, open, folder, shots }) {
  const page = await open(studio);
  const probe = (await page.value('sinew.owners()')).indexOf(1);
  const atRest = await vertex(page, probe);
  const elbow = await grip(page, 'elbow.L');
  await page.drag([elbow, { x: elbow.x + 20, y: elbow.y - 110 }]);
  await page.until('sinew.state().history.steps.length === 2');
  await page.settle();
  const posed = await vertex(page, probe);
  expect(Math.hypot(...posed.map((x, k) => x - atRest[k])) > 0.1, 'the hand has moved');
  await page.key('Ctrl+z');
  await page.until('sinew.state().history.at === 0');
  await page.settle();
  same(
    (await vertex(page, probe)).map((x) => x.toFixed(5)),
    atRest.map((x) => x.toFixed(5)),
    'undone',
  );
  await page.key('Ctrl+Shift+z');
  await page.until('sinew.state().history.at === 1');
  // Typed numbers: turn the head by 30 degrees about y.
  await page.click('handle-head');
  const view = await page.place('viewport');
  await page.move({ x: view.x, y: view.y });
  for (const key of ['r', 'y', '3', '0', 'Enter']) await page.key(key);
  await page.until('sinew.state().n_moves === 2');
  const turn = (await state(page)).moves[1].rotate;
  expect(
    Math.abs(turn.degrees - 30) < 1e-6 && Math.abs(turn.axis[1]) > 0.99,
    `a turn of 30 about y: ${JSON.stringify(turn)}`,
  );
  await page.screenshot(join(shots, 'posed.png'));
  // Saved, and there after another page is opened on the file.
  await page.value(`sinew.ask({ type: 'save', path: 'hero' })`);
  await page.until('!sinew.state().dirty');
  await page.value(`sinew.ask({ type: 'sample', name: 'sack', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'sack'`);
  await page.key('Ctrl+o');
  await page.click('file-hero.sinew.glb');
  await page.press('Open');
  await page.until(`sinew.state().name === 'biped'`);
  same((await state(page)).n_moves, 2, 'moves of the project');
  const project = join(studio.root, 'hero.sinew.glb');
  validate(project);
  expect(inBlender(project).length >= 10_000, 'Blender opens the project as it is');
  await page.settle();
  const again = await vertex(page, probe);
  const out = join(folder, 'posed');
  const file = await exportAs(page, out, 'the current pose', '.glb');
  validate(file);
  const blender = inBlender(file);
  // Blender keeps a copy of each vertex where two materials meet.
  const { vertices } = await state(page);
  expect(blender.length >= vertices, `vertices in Blender: ${blender.length}`);
  const some = [];
  for (let v = 0; v < vertices; v += 199) some.push(await vertex(page, v));
  const error = distance([again, ...some], blender);
  expect(error < 1e-4, `Blender shows the pose that the page shows: ${error}`);
}

/** A plain mesh, without bones and handles: dropped, handles painted and mirrored by mouse, found, posed, exported as a skin. */
export async function a_dropped_mesh_gets_handles_and_a_skin({ studio, open, folder, shots }) {
  const mesh = join(folder, 'fox.obj');
  sinew('sample', 'quadruped', '-n', '3000', '-o', mesh);
  const page = await open(studio);
  await page.drop([{ name: 'fox.obj', bytes: read(mesh) }]);
  await page.until(`sinew.state().name === 'fox'`);
  await page.settle();
  same((await state(page)).handles.length, 0, 'handles of a plain mesh');
  await page.screenshot(join(shots, 'dropped.png'));
  // Painted by mouse: a box, then a brush.
  await page.click('tool-box');
  const { x, y } = await page.place('viewport');
  await page.drag([
    { x: x - 200, y: y - 260 },
    { x: x + 200, y: y - 60 },
  ]);
  await page.until('sinew.state().handles.length === 1');
  const n_box = (await state(page)).handles[0].vertices;
  expect(n_box > 10, `vertices of the box: ${n_box}`);
  await page.click('tool-paint');
  await page.drag([
    { x, y },
    { x: x + 60, y: y + 10 },
  ]);
  await page.until(`sinew.state().handles[0].vertices > ${n_box} || sinew.state().handles.length === 2`);
  await page.settle();
  await page.screenshot(join(shots, 'painted.png'));
  await page.key('Ctrl+z');
  await page.until(`sinew.state().handles.length === 1 && sinew.state().handles[0].vertices === ${n_box}`);
  // Found by the shape instead.
  await page.value(`sinew.ask({ type: 'auto_handles', from_shape: true })`);
  await page.until('sinew.state().handles.length > 3', 240_000);
  await page.settle();
  const handles = (await state(page)).handles;
  const limb = handles.find((handle) => /leg|limb|foot|ear|head|tip/i.test(handle.name)) ?? handles[1];
  await page.click(`handle-${limb.name}`);
  await page.move({ x, y });
  for (const key of ['r', 'x', '2', '5', 'Enter']) await page.key(key);
  await page.until('sinew.state().n_moves === 1');
  await page.settle();
  await page.screenshot(join(shots, 'dropped-posed.png'));
  // Kept, it is a clip of the bones that are exported.
  await page.panel('poses');
  await page.click('pose-save');
  await page.type('save-pose-input', 'bent');
  await page.until(`sinew.state().examples[0]?.name === 'bent'`);
  const file = await exportAs(page, join(folder, 'skin'), 'handles as bones', '.glb');
  validate(file);
  // What only one bone holds is where the page has it.
  const held = await page.value(`(() => {
    const index = sinew.state().handles.findIndex(({ name }) => name === ${JSON.stringify(limb.name)});
    const mine = sinew.owners().flatMap((owner, v) => (owner === index ? [v] : []));
    return mine.filter((_, k) => k % 7 === 0).map((v) => sinew.vertex(v).position);
  })()`);
  const error = distance(held, inBlender(file, 'bent'));
  expect(error < 1e-3, `Blender shows the pose as a clip: ${error}`);
  same(inBlender(file).length >= (await state(page)).vertices, true, 'Blender reads all vertices');
}
