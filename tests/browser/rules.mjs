// Rules in the studio: written, clicked, dragged, in conflict, kept, saved; clips refitted with contacts set by hand.
import { join } from 'node:path';
import { choose, expect, same, state } from './check.mjs';
import { exportAs } from './exporting.mjs';
import { distance, inBlender, validate } from './judge.mjs';

const away = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));
const joint = async (page, name) => (await state(page)).ruled.joints.find((other) => other.name === name).position;
const marker = async (page, name) => (await state(page)).rules.markers.find((other) => other.name === name).position;
/** Elements of the editor, which has a shadow tree of its own. */
const inEditor = (selector) =>
  `document.querySelector('[data-testid="rules-text"]').shadowRoot.querySelector('${selector}')`;
const ask = (page, command) => page.value(`sinew.ask({ type: 'do', command: ${JSON.stringify(command)} })`);

/** Exchange the text by typing, and wait until the server has it. */
async function write(page, text) {
  await page.click('rules-text');
  await page.key('Ctrl+a');
  await page.ask('Input.insertText', { text });
  await page.until(`sinew.state().rules.text === ${JSON.stringify(text)}`);
  await page.settle();
}

async function openRules(page) {
  await page.panel('rules');
  await page.until(`sinew.state().display.what === 'ruled' && sinew.state().ruled?.joints.length > 0`);
  await page.settle();
}

export async function faults_are_reported_where_they_are({ studio, open, shots }) {
  const page = await open(studio);
  await openRules(page);
  await ask(page, { rules: { marker: { name: 'Cup', position: [0.35, 1.25, 0.35] } } });
  await write(page, 'pin hand.L to Cup\npin hnd.R to Cup\n');
  const { diagnostics, stale } = (await state(page)).ruled;
  same([diagnostics.length, stale], [1, true], 'one fault, and the last valid pose');
  const [{ line, column, from, to, message }] = diagnostics;
  same([line, column, from, to], [2, 5, 22, 27], 'its place');
  expect(/hand\.R/.test(message), `what was meant: ${message}`);
  expect((await page.text('rules-faults')).includes('2:5'), 'the panel says where');
  same(await page.value(`${inEditor('.cm-lintRange-error')}.textContent`), 'hnd.R', 'what is underlined');
  same(await page.value(`${inEditor('[data-testid="rules-line-2"]')}.className`), 'error', 'the line is marked');
  await page.screenshot(join(shots, 'rules-fault.png'));
  // A click on the fault goes there.
  await page.click('fault-2-5');
  same(await page.value('sinew.rules().selected'), 'hnd.R', 'selected');
  // Words are completed while they are typed.
  await page.ask('Input.insertText', { text: 'hand' });
  await page.until(`${inEditor('.cm-tooltip-autocomplete ul')}?.children.length > 1`);
  await page.screenshot(join(shots, 'rules-words.png'));
  await page.key('ArrowDown');
  await page.key('Tab');
  await page.until(`sinew.state().rules.text.includes('pin hand.R to Cup')`);
  await page.until('!sinew.state().ruled.stale');
  // Formatted by a button.
  await write(page, 'pin   hand.L to Cup\npin hand.R   to Cup\n');
  await page.click('rules-format');
  await page.until(`sinew.state().rules.text === 'pin hand.L to Cup\\npin hand.R to Cup\\n'`);
  // Both hands at one place.
  await page.until('sinew.state().ruled.solved.converged');
  expect(away(await joint(page, 'hand.L'), await marker(page, 'Cup')) < 1e-4, 'the left hand is there');
  await page.screenshot(join(shots, 'rules-solved.png'));
}

export async function a_rule_is_clicked_and_follows_its_marker({ studio, open, shots, folder }) {
  const page = await open(studio);
  await page.move(await page.place('viewport'));
  await page.key('1');
  await openRules(page);
  await page.click('marker-add');
  await page.until('sinew.state().rules.markers.length === 1');
  await page.settle();
  // Choose a verb, click a joint, click a marker: the line is there and holds.
  await choose(page, 'write-verb', 'pin');
  await page.click(await page.value(`sinew.ruled('hand.L')`));
  await page.until(`document.querySelector('[data-testid="write-prompt"]').textContent.includes('hand.L')`);
  await page.screenshot(join(shots, 'rules-clicking.png'));
  await page.click(await page.value(`sinew.ruled('Marker1')`));
  await page.until(`sinew.state().rules.text === 'pin hand.L to Marker1\\n' && sinew.state().ruled.solved.converged`);
  await page.until(`sinew.rules().text === 'pin hand.L to Marker1\\n'`);
  expect(away(await joint(page, 'hand.L'), await marker(page, 'Marker1')) < 1e-4, 'the hand is at the marker');
  // The surface follows, not only the bones.
  const moved = await page.value(
    `(() => { let most = 0; for (let v = 0; v < sinew.state().vertices; v += 7) most = Math.max(most, sinew.vertex(v).position[2]); return most; })()`,
  );
  expect(moved > 0.3, `the skin reaches forward: ${moved}`);
  await page.click('write-stop');
  // A point of the ground becomes a marker by itself.
  await choose(page, 'write-verb', 'look');
  await page.click(await page.value(`sinew.ruled('head')`));
  const feet = await page.value(`sinew.ruled('foot.R')`);
  await page.click({ x: feet.x - 90, y: feet.y + 22 });
  await page.until('sinew.state().rules.markers.length === 2 && sinew.state().ruled.solved.rules.length === 2');
  await page.click('write-stop');
  // Dragged, the marker takes the hand along: one step of history for the whole drag.
  const steps = (await state(page)).history.steps.length;
  const before = await marker(page, 'Marker1');
  const grip = await page.value(`sinew.ruled('Marker1')`);
  await page.drag([grip, { x: grip.x + 40, y: grip.y - 70 }], { steps: 20 });
  await page.settle();
  const after = await marker(page, 'Marker1');
  expect(away(before, after) > 0.1, `the marker moved: ${away(before, after)}`);
  expect(away(await joint(page, 'hand.L'), after) < 1e-3, 'the hand followed');
  same((await state(page)).history.steps.length, steps + 1, 'one step');
  await page.screenshot(join(shots, 'rules-dragged.png'));
  await page.key('Ctrl+z');
  await page.until(`sinew.state().rules.markers[0].position[0] === ${before[0]}`);
  await page.settle();
  expect(away(await joint(page, 'hand.L'), before) < 1e-3, 'undone, the hand is back');
  // A plane, put and raised.
  await page.click('plane-add');
  await page.until('sinew.state().rules.planes.length === 1');
  await choose(page, 'write-verb', 'put-on');
  await page.click(await page.value(`sinew.ruled('toe.L')`));
  await page.click(await page.value(`sinew.ruled('Floor')`));
  await page.until('sinew.state().ruled.solved.rules.length === 3');
  await page.click('write-stop');
  await page.type('plane-Floor-height', '0.3');
  await page.until('Math.abs(sinew.state().rules.planes[0].point[1] - 0.3) < 1e-9');
  await page.settle();
  expect(Math.abs((await joint(page, 'toe.L'))[1] - 0.3) < 1e-3, 'the toe is on the plane');
  await page.screenshot(join(shots, 'rules-plane.png'));
  // Kept as a clip, exported, judged by others.
  await page.type('keep-name', 'stance');
  await page.click('keep-pose');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'stance')`);
  const hand = await joint(page, 'hand.L');
  const some = await page.value(`Array.from({ length: 40 }, (_, k) => sinew.vertex(k * 61).position)`);
  const file = await exportAs(page, join(folder, 'rules'), null, '.glb');
  validate(file);
  const error = distance(some, inBlender(file, 'stance', 0));
  expect(error < 1e-3, `Blender shows the same pose: ${error}`);
  // Saved and opened again: text, markers, planes and pose are there.
  const { rules } = await state(page);
  await page.value(`sinew.ask({ type: 'save', path: ${JSON.stringify(join(studio.root, 'ruled.sinew.glb'))} })`);
  await page.value(`sinew.ask({ type: 'sample', name: 'tablecloth', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'tablecloth'`);
  await page.settle();
  expect(await page.has('rules-empty'), 'without a skeleton the panel says so');
  await page.value(`sinew.ask({ type: 'open', path: ${JSON.stringify(join(studio.root, 'ruled.sinew.glb'))} })`);
  await page.until(`sinew.state().rules.markers.length === 2`);
  same((await state(page)).rules, rules, 'rules as they were saved');
  await page.value(`sinew.ask({ type: 'display', what: 'ruled' })`);
  await page.until('sinew.state().ruled?.solved?.converged');
  expect(away(await joint(page, 'hand.L'), hand) < 1e-6, 'the same pose');
}

export async function conflicts_are_shown_on_the_body({ studio, open, shots }) {
  const page = await open(studio);
  await openRules(page);
  await ask(page, { rules: { marker: { name: 'Here', position: [0.3, 1.2, 0.3] } } });
  await ask(page, { rules: { marker: { name: 'There', position: [0.3, 1.5, 0.3] } } });
  await write(page, 'pin hand.L to Here\npin hand.R to Here soft 5 cm\npin hand.L to There\n');
  const { solved, marks } = (await state(page)).ruled;
  same(solved.converged, false, 'they cannot both hold');
  same(solved.conflicts[0].lines.slice().sort(), [1, 3], 'which lines');
  const bad = marks.filter(({ holds, line }) => !holds && line !== 2);
  same(bad.length, 2, 'a mark each');
  expect(Math.abs(away(bad[0].from, bad[0].to) - 0.15) < 0.01, `each is off by half: ${away(bad[0].from, bad[0].to)}`);
  expect(/15\.0/.test(await page.text('residual-1')), `reported in its unit: ${await page.text('residual-1')}`);
  same(await page.value(`${inEditor('[data-testid="rules-line-3"]')}.className`), 'conflict', 'the line is marked');
  expect(/line 3|line 1/.test(await page.text('rules-conflict')), 'named');
  await page.screenshot(join(shots, 'rules-conflict.png'));
}

export async function a_clip_is_refitted_with_contacts_by_hand({ studio, open, shots, folder }) {
  const page = await open(studio);
  await page.panel('refit');
  await page.until(`document.querySelectorAll('.contact').length > 0`);
  await page.settle();
  same(await page.text('refit-clip'), 'walk', 'the clip of the timeline');
  await page.screenshot(join(shots, 'refit-found.png'));
  const bars = () => page.value(`document.querySelectorAll('.contact').length`);
  const found = await bars();
  // Lengthen the first by its right end, then take one out, then put one.
  const place = (at) =>
    page.value(
      `(() => { const { left, right, top, height } = document.querySelector('[data-testid="contact-0"]').getBoundingClientRect(); return { x: ${at}, y: top + height / 2 }; })()`,
    );
  const end = await place('right - 2');
  await page.drag([end, { x: end.x + 60, y: end.y }]);
  await page.until('sinew.state().rules.contacts.length === 1');
  const [edited] = (await state(page)).rules.contacts;
  same([edited.clip, edited.contacts.length], ['walk', found], 'of this clip, all of them');
  // Taken when it is pressed, and built again: there is no click.
  await page.click(await page.place('contact-1'));
  await page.key('Delete');
  await page.until(`sinew.state().rules.contacts[0].contacts.length === ${found - 1}`);
  // Drawn on an empty stretch of the last row, one is added.
  const rows = await page.value(
    `(() => { const { left, width, bottom } = document.querySelector('[data-testid="contacts"]').getBoundingClientRect(); return { left, width, bottom }; })()`,
  );
  const empty = { x: rows.left + 0.05 * rows.width, y: rows.bottom - 4 };
  await page.drag([empty, { x: empty.x + 0.2 * rows.width, y: empty.y }]);
  await page.until(`sinew.state().rules.contacts[0].contacts.length === ${found}`);
  await page.screenshot(join(shots, 'refit-edited.png'));
  // Refit uses the edited ones: a foot held throughout goes with the belt that the walk is on, evenly.
  const { contacts } = (await state(page)).rules.contacts[0];
  const foot = contacts[0].foot;
  const last = await page.value(`Math.round(sinew.state().clips[0].duration * ${edited.fps})`);
  const held = [
    { foot, heel: true, frames: [0, last] },
    { foot, heel: false, frames: [0, last] },
  ];
  await ask(page, { rules: { contacts: { clip: 'walk', fps: edited.fps, contacts: held } } });
  await page.until(`document.querySelectorAll('.contact').length === 2`);
  await page.click('refit-start');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'walk refit')`, 240_000);
  await page.until(`sinew.state().display.clip === 'walk refit'`);
  await page.screenshot(join(shots, 'refit-held.png'));
  // It plays by itself; paused, moments are looked at one by one.
  await page.click('play');
  await page.settle();
  const sole = await page.value(`(async () => {
    let best = 0, least = Infinity;
    const where = [];
    const side = ${JSON.stringify(foot)}.endsWith('L') ? 1 : -1;
    await sinew.ask({ type: 'display', what: 'clip', clip: 'walk refit', time: 0 });
    await driver.settled();
    for (let v = 0; v < sinew.state().vertices; v += 1) { const [x, y] = sinew.vertex(v).position; if (side * x > 0.02 && y < least) [least, best] = [y, v]; }
    for (const time of [0, 0.3, 0.6, 0.9]) {
      await sinew.ask({ type: 'display', what: 'clip', clip: 'walk refit', time });
      await driver.settled();
      where.push(sinew.vertex(best).position);
    }
    return where;
  })()`);
  const steps = [1, 2, 3].map((k) => sole[k].map((x, axis) => x - sole[k - 1][axis]));
  const slid = Math.max(...steps.map((step) => away(step, steps[0])));
  expect(slid < 0.02, `the held foot stays on the belt: ${JSON.stringify(steps)}`);
  // On stairs with longer legs: the body grows, the clip follows the steps.
  await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: 'walk', time: 0 })`);
  await page.settle();
  await choose(page, 'clip', 'walk');
  await page.settle();
  await page.click('contacts-reset');
  await page.until('sinew.state().rules.contacts.length === 0');
  await page.click('refit-ground-kind-slope');
  await page.type('refit-legs', '1.15');
  await page.type('refit-name', 'uphill');
  const tall = (await state(page)).bounds[1][1];
  await page.click('refit-start');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'uphill')`, 240_000);
  await page.until(`sinew.state().bounds[1][1] > ${tall + 0.05}`);
  await page.until(`/cm/.test(document.querySelector('[data-testid="refit-slide"]')?.textContent ?? '')`);
  await page.screenshot(join(shots, 'refit-uphill.png'));
  const slide = Number.parseFloat((await page.text('refit-slide')).match(/([\d.]+) cm\/s/)[1]);
  // Those of the clip slide at 23.6 cm/s on legs of length 1.
  expect(slide < 1.05 * 1.15 * 23.6, `feet slide no more than those of the clip: ${slide}`);
  const file = await exportAs(page, join(folder, 'refit'), null, '.glb');
  validate(file);
  // Undone, the body is as it was.
  await page.key('Ctrl+z');
  await page.until(
    `Math.abs(sinew.state().bounds[1][1] - ${tall}) < 1e-6 && !sinew.state().clips.some(({ name }) => name === 'uphill')`,
  );
}

// Others of this capability are short.
a_rule_is_clicked_and_follows_its_marker.long = true;
