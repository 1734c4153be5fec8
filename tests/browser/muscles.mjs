// Muscles: a template dragged onto the body, pulled by the skin, driven by a slider and a curve, kept, exported through fit.
import { join } from 'node:path';
import { away, expect, rest, same, seen, slide, state } from './check.mjs';

/** Drop a template out of the panel on a place of the picture. */
async function drop(page, template, { x, y }) {
  await page.value(`(() => {
    const from = document.querySelector('[data-testid="template-${template}"]');
    const data = new DataTransfer();
    from.dispatchEvent(new DragEvent('dragstart', { dataTransfer: data, bubbles: true }));
    const to = document.elementFromPoint(${x}, ${y});
    for (const type of ['dragover', 'drop']) to.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true, clientX: ${x}, clientY: ${y} }));
  })()`);
}

export async function a_template_is_dropped_pulled_and_driven({ studio, open, shots }) {
  const page = await open(studio);
  await page.panel('flesh');
  await page.type('flesh-n-cells', '400');
  await page.until(`sinew.state().flesh.settings.cells === 400`);
  await page.panel('muscles');
  await page.screenshot(join(shots, 'muscles-empty.png'));
  const belly = await seen(page, [0, 1.15, 0.15]);
  await drop(page, 'bump', belly);
  await page.until(`sinew.state().muscles.muscles.length === 1`, 240_000);
  const [muscle] = (await state(page)).muscles.muscles;
  same(
    [muscle.name, muscle.template, muscle.guide, muscle.at],
    ['bump.1', 'bump', 'skin', 1],
    'a bump on the skin that acts',
  );
  // Live: the slider brings it out and takes it back.
  await slide(page, 'control-bump.1', 0);
  await page.until(
    `sinew.state().fleshed.status?.step_ms > 0 && sinew.state().muscles.controls[0].value === 0`,
    240_000,
  );
  const flat = await rest(page, belly.vertex);
  await slide(page, 'control-bump.1', 1);
  await page.until(`sinew.state().muscles.controls[0].value === 1`);
  const out = await rest(page, belly.vertex);
  expect(away(flat, out) > 0.01, `it comes out: ${away(flat, out)}`);
  await page.screenshot(join(shots, 'muscles-bump.png'));
  // Pulled by the skin: the muscle is fitted until it follows. A bump pushes along its normal alone, so it is seen nearly
  // from the side and pulled that way.
  await page.value(`sinew.perform('view-right')`);
  await page.settle();
  const { x, y } = await page.place('viewport');
  await page.drag(
    [
      { x, y: y - 200 },
      { x: x + 110, y: y - 200 },
    ],
    { button: 'middle' },
  );
  await page.click('tool-muscle');
  const pulled = await seen(page, out);
  const at = await page.value(`sinew.vertex(${pulled.vertex}).place`);
  const [foot, tip] = await page.value(`(() => {
    const canvas = document.querySelector('canvas[data-testid="viewport"]').getBoundingClientRect();
    const m = sinew.view();
    const place = ([x, y, z]) => {
      const w = m[3] * x + m[7] * y + m[11] * z + m[15];
      return [canvas.left + ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w / 2 + 0.5) * canvas.width, canvas.top + (0.5 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w / 2) * canvas.height];
    };
    return [place(${JSON.stringify(flat)}), place(${JSON.stringify(out)})];
  })()`);
  const way = [tip[0] - foot[0], tip[1] - foot[1]].map((d, _, all) => d / Math.hypot(...all));
  const before = (await state(page)).history.steps.length;
  const pixels = 30;
  const pointer = { x: at.x + pixels * way[0], y: at.y + pixels * way[1] };
  await page.drag([at, pointer], { steps: 8 });
  await page.until(`sinew.state().history.steps.at(-1) === 'Shape muscle bump.1'`, 240_000);
  same((await state(page)).history.steps.length, before + 1, 'one pull, one step');
  const [shaped] = (await state(page)).muscles.muscles;
  expect(JSON.stringify(shaped.parameters) !== JSON.stringify(muscle.parameters), 'its parameters are others');
  await rest(page, pulled.vertex);
  const now = await page.value(`sinew.vertex(${pulled.vertex}).place`);
  const left = Math.hypot(now.x - pointer.x, now.y - pointer.y);
  console.log(`        the skin is ${left.toFixed(0)} pixels from where it was pulled to, ${pixels.toFixed(0)} before`);
  // 25 degrees between the normal and the picture leave 1 - cos², 18 %, that no bump can follow.
  expect(left < 0.5 * pixels, `it follows the pointer: ${left} of ${pixels} pixels are left`);
  await page.screenshot(join(shots, 'muscles-pulled.png'));
  // A curve over the clip: keys at two moments.
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: sinew.state().clips[0].name, time: 0 })`);
  await slide(page, 'control-bump.1', 0);
  await page.click('control-bump.1-key');
  await page.until(`sinew.state().muscles.curves[0]?.keys.length === 1`);
  const clip = (await state(page)).clips[0];
  const key = { key: { clip: clip.name, control: 'bump.1', time: 0.5, value: 1 } };
  await page.value(`sinew.ask({ type: 'do', command: { muscles: ${JSON.stringify(key)} } })`);
  await page.until(
    `sinew.state().muscles.curves[0].keys.length === 2 && document.querySelector('[data-testid="curve-bump.1"]')`,
  );
  await page.screenshot(join(shots, 'muscles-curve.png'));
  // Saved and opened again.
  const path = join(studio.root, 'muscled.sinew.glb');
  const kept = (await state(page)).muscles;
  await page.value(`sinew.ask({ type: 'save', path: ${JSON.stringify(path)} })`);
  await page.value(`sinew.ask({ type: 'sample', name: 'bar', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'bar' && sinew.state().muscles.muscles.length === 0`);
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(path)} })`);
  await page.until(`sinew.state().muscles.muscles.length === 1`, 240_000);
  same((await state(page)).muscles.curves, kept.curves, 'curves are kept');
  // Baked with its muscle, then through fit as every clip.
  const bake = { bake_flesh: { bake: { clip: clip.name, to: 'muscle', fps: 15, seconds: 0.6 } } };
  await page.value(`sinew.ask({ type: 'do', command: ${JSON.stringify(bake)} })`);
  await page.until(`sinew.state().clips.some(({ name }) => name === 'muscle')`, 240_000);
  await page.value(`sinew.ask({ type: 'fit', settings: { clips: ['muscle'], bones: 12 } })`);
  await page.until(`sinew.state().fit?.current`, 240_000);
  expect((await state(page)).fit.E_RMS_diag1 < 1, 'the clip with the muscle is fitted');
  await page.panel('muscles');
  await page.click('muscle-remove');
  await page.until(`sinew.state().muscles.muscles.length === 0 && sinew.state().muscles.curves.length === 0`);
}

// Others of this capability are short.
a_template_is_dropped_pulled_and_driven.long = true;
