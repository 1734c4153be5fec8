// A deforming mesh becomes a skin: a sequence opened, fitted, seen beside the original, taken, undone, exported.
import { join } from 'node:path';
import { choose, expect, same, sinew, state, vertex } from './check.mjs';
import { exportAs } from './exporting.mjs';
import { distance, inBlender, validate } from './judge.mjs';

/** Wait for a fit to end. */
async function fitted(page, version) {
  await page.until(`sinew.state().fit?.version === ${version}`, 240_000);
  await page.until(`Boolean(sinew.fit().maps)`, 240_000);
  await page.settle();
  return (await state(page)).fit;
}

const twin = (page, index) => page.value(`sinew.fit().vertex(${index})`);
const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

/** How many pixels of a half of the picture are saturated: a heat map, not clay. */
async function colourful(page, half) {
  const box = await page.value(`(() => {
    const { left, top, width, height } = document.querySelector('[data-testid="viewport"]').getBoundingClientRect();
    return { x: left + (${half === 'right'} ? width / 2 : 0), y: top + 60, width: width / 2, height: height - 120 };
  })()`);
  const pixels = await page.pixels(box);
  return pixels.filter((rgb) => Math.max(...rgb) - Math.min(...rgb) > 60).length / pixels.length;
}

export async function a_sequence_becomes_a_skin_beside_the_original({ studio, open, folder, shots }) {
  const [fox, target] = [join(folder, 'fox.glb'), join(studio.root, 'fox')];
  sinew('sample', 'quadruped', '-n', '8000', '-o', fox);
  sinew('convert', fox, target, '--clip', 'walk', '--fps', '24');
  const page = await open(studio);
  await page.panel('fit');
  expect(await page.has('fit-start'), 'the clips of the first character can be fitted, too');
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(target)} })`);
  await page.until(`sinew.state().name === 'fox'`, 240_000);
  await page.settle();
  await page.click('fit-aim-bones');
  await page.type('fit-bones-number', '20');
  await page.click('fit-start');
  await page.until(`document.querySelector('[data-testid="fit-stop"]')?.getClientRects().length`);
  const first = await fitted(page, 1);
  same([first.bones, first.stopped, first.current], [20, false, true], 'bones asked for, settled, of this document');
  expect(
    first.E_RMS_diag1 < 0.2 && first.bytes_out < first.bytes_in / 2,
    `error and size: ${JSON.stringify({ ...first, per_frame: 0 })}`,
  );
  for (const id of ['de', 'rms', 'diag1', 'davg', 'size']) {
    expect(/\d/.test(await page.text(`fit-result-${id}`)), `a number for ${id}`);
  }
  // Side by side while playing: both move, and stay together.
  const probe = 4000;
  await page.key('Space');
  await page.until(`sinew.state().display.what === 'clip'`);
  await page.until(`sinew.fit().shown`);
  const starts = [await vertex(page, probe), await twin(page, probe)];
  await page.until(
    `[sinew.vertex(${probe}).position, sinew.fit().vertex(${probe})].every((p, i) => Math.hypot(...p.map((x, k) => x - ${JSON.stringify(starts)}[i][k])) > 0.002)`,
  );
  await page.key('Space');
  await page.settle();
  const size = Math.hypot(...first_bounds(await state(page)));
  const [own, beside] = [await vertex(page, probe), await twin(page, probe)];
  expect(away(own, beside) < 0.02 * size && away(own, beside) > 0, `the fit is near: ${away(own, beside) / size}`);
  same([await page.has('compare-original'), await page.has('compare-fit')], [true, true], 'names over both');
  const [left, right] = [await colourful(page, 'left'), await colourful(page, 'right')];
  expect(right > 0.02 && left < right / 4, `only the fit is in colours: ${left} and ${right}`);
  await page.screenshot(join(shots, 'fit-error.png'));
  // Other colours; a bone picked on the surface by hand.
  await choose(page, 'fit-map', 'deformation');
  await page.screenshot(join(shots, 'fit-deformation.png'));
  await choose(page, 'fit-map', 'clusters');
  await page.screenshot(join(shots, 'fit-clusters.png'));
  const place = await page.value(`sinew.fit().place(${probe})`);
  await page.click(place);
  await page.until(`sinew.fit().map === 'weights'`);
  await page.screenshot(join(shots, 'fit-weights.png'));
  // The left button turns the view, and the sequence stays visible.
  await page.drag([
    { x: place.x, y: place.y },
    { x: place.x + 80, y: place.y + 30 },
  ]);
  same((await state(page)).display.what, 'clip', 'turning the view leaves the clip');
  await page.click('fit-mode-original');
  await page.until('!sinew.state().compare && !sinew.fit().shown');
  await page.click('fit-mode-both');
  await page.until('sinew.fit().shown');
  // Taken as the character: it plays as the fit did; undone, the original and its fit are back.
  const before = await twin(page, probe);
  await page.click('fit-take');
  await page.until('sinew.state().joints > 0', 240_000);
  await page.until(`document.querySelector('[data-testid="fit-stale"]')`);
  await page.value(
    `sinew.ask({ type: 'display', what: 'clip', clip: sinew.state().clips[0].name, time: ${(await state(page)).display.time} })`,
  );
  await page.settle();
  expect(away(await vertex(page, probe), before) < 1e-4 * size, 'the character moves as the fit did');
  await page.screenshot(join(shots, 'fit-taken.png'));
  await page.key('Ctrl+z');
  await page.until('sinew.state().joints === 0 && sinew.state().fit.current');
  await page.settle();
  // Exported through the fit that is there.
  await page.click('fit-export');
  await page.until(`document.querySelector('[data-testid="dialog-export"]')`);
  await page.press('Cancel');
  await page.until(`!document.querySelector('[data-testid="dialog-export"]')`);
  const file = await exportAs(page, join(folder, 'fit'), 'through fit', '.glb');
  validate(file);
  const clip = (await state(page)).clips[0].name;
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: ${JSON.stringify(clip)}, time: 0.5 })`);
  await page.settle();
  const some = [];
  for (let v = 0; v < 4000; v += 97) some.push(await twin(page, v));
  const error = distance(some, inBlender(file, clip));
  expect(error < 1e-5, `Blender plays what the page shows: ${error}`);
}

const first_bounds = ({ bounds }) => bounds[1].map((x, k) => x - bounds[0][k]);

export async function a_fit_is_stopped_and_goes_on({ studio, open, shots }) {
  const page = await open(studio);
  await page.value(`sinew.ask({ type: 'sample', name: 'tablecloth', vertices: 20000 })`);
  await page.until(`sinew.state().name === 'tablecloth'`, 240_000);
  await page.panel('fit');
  await page.click('fit-aim-bones');
  await page.type('fit-bones-number', '120');
  await page.click('fit-influences');
  await page.click('fit-kind-rigid');
  await page.click('fit-start');
  // The error is reported as it falls; then enough of it.
  await page.until(`/error \\d/.test(document.querySelector('[data-testid="fit-note"]').textContent)`, 240_000);
  await page.value(`document.querySelector('[data-testid="fit-stop"]').click()`);
  await page.screenshot(join(shots, 'fit-running.png'));
  const stopped = await fitted(page, 1);
  same([stopped.stopped, stopped.bones, stopped.settings.rigid], [true, 120, true], 'the best so far is kept');
  expect(await page.has('fit-stopped'), 'that it was stopped is reported');
  // An error instead of a count.
  await page.click('fit-aim-error');
  await page.type('fit-error', '0.5');
  await page.click('fit-start');
  const small = await fitted(page, 2);
  expect(small.E_RMS_diag1 < 0.55 && small.bones < 120, `few bones for an error: ${small.bones}, ${small.E_RMS_diag1}`);
  await page.click('fit-curve');
  await page.until(`sinew.state().display.what === 'clip'`);
  await page.settle();
  await page.screenshot(join(shots, 'fit-cloth.png'));
}

/** The panel at both sizes, for people to look at. */
export async function the_fit_panel_at_both_sizes({ studio, open, shots }) {
  for (const [name, size] of Object.entries({
    small: { width: 1280, height: 720 },
    large: { width: 1920, height: 1080, scale: 2 },
  })) {
    const page = await open(studio, size);
    if (name === 'small') {
      await page.value(`sinew.ask({ type: 'sample', name: 'flag', vertices: 2000 })`);
      await page.until(`sinew.state().name === 'flag'`, 240_000);
      await page.panel('fit');
      await page.screenshot(join(shots, 'fit-empty-small.png'));
      await page.click('fit-start');
      await fitted(page, 1);
    }
    await page.until(`sinew.state().fit`);
    await page.panel('fit');
    await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: sinew.state().clips[0].name, time: 0.7 })`);
    await page.settle();
    await page.screenshot(join(shots, `fit-panel-${name}.png`));
    const wide = await page.value(
      `(() => { const e = document.querySelector('[data-testid="fit"]'); return e.scrollWidth - e.clientWidth; })()`,
    );
    expect(wide <= 0, `the panel at ${name} is not wider than its place: ${wide}`);
    const cut =
      await page.value(`[...document.querySelectorAll('.tabs button, [data-testid="fit"] span, [data-testid="fit"] button')]
      .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map((e) => e.textContent)`);
    same(cut, [], `no text cut off at ${name}`);
  }
}

for (const test of [
  a_fit_is_stopped_and_goes_on,
  a_sequence_becomes_a_skin_beside_the_original,
  the_fit_panel_at_both_sizes,
])
  test.long = true;
