// The page when the server is slow, which the driver can make it be.
import { sleep } from './browser.mjs';
import { expect, grip, same, slide, state, vertex } from './check.mjs';

/** A handle that is pressed, moved and released before the server has answered what was pressed is moved all the same. */
export async function a_drag_faster_than_the_server_is_not_lost({ studio, open }) {
  const page = await open(studio);
  // Dots of rotation centres are taken without asking.
  await page.value(`sinew.perform('centres')`);
  const elbow = await grip(page, 'elbow.L');
  const to = { x: elbow.x + 20, y: elbow.y - 100 };
  await page.value(`driver.hold('pick')`);
  await page.mouse('mouseMoved', elbow, { held: false });
  await page.mouse('mousePressed', elbow);
  await page.until('driver.nHeld() === 1');
  for (let k = 1; k <= 10; k += 1) await page.mouse('mouseMoved', { x: elbow.x + 2 * k, y: elbow.y - 10 * k });
  await page.mouse('mouseReleased', to);
  same((await state(page)).n_moves, 0, 'nothing moves before the answer');
  await page.value('driver.release()');
  await page.until('sinew.state().n_moves === 1');
  await page.settle();
  // As far as the same drag moves it that waited for the answer.
  const probe = (await page.value('sinew.owners()')).indexOf(1);
  const fast = await vertex(page, probe);
  await page.key('Ctrl+z');
  await page.until('sinew.state().n_moves === 0');
  await page.settle();
  await page.drag([elbow, to], { steps: 10 });
  await page.until('sinew.state().n_moves === 1');
  await page.settle();
  const slow = await vertex(page, probe);
  expect(Math.hypot(...fast.map((x, k) => x - slow[k])) < 1e-3, `as the slow drag: ${fast} and ${slow}`);
}

/** A button that is held while the state changes stays, so that the click counts. */
export async function a_button_is_not_rebuilt_under_the_finger({ studio, open }) {
  const page = await open(studio);
  await page.panel('history');
  await page.value(`sinew.ask({ type: 'do', command: { load_example: { name: 'wave' } } })`);
  await page.until('sinew.state().n_moves === 2');
  await page.settle();
  const place = await page.place('history-0');
  await page.mouse('mouseMoved', place, { held: false });
  await page.mouse('mousePressed', place);
  const before = await page.value(
    `(window.pressed = document.querySelector('[data-testid="history-0"]'), sinew.state().history.steps.length)`,
  );
  // Meanwhile the state changes, as by another tab.
  await page.value(`sinew.ask({ type: 'do', command: { load_example: { name: 'bow' } } })`);
  await page.until(`sinew.state().history.steps.length === ${before + 1}`);
  await page.settle();
  expect(await page.value('window.pressed.isConnected'), 'the pressed button is still there');
  await page.mouse('mouseReleased', place);
  await page.until('sinew.state().history.at === 0');
  // The list follows.
  await page.until(`document.querySelectorAll('[data-testid="history"] li').length === ${before + 1}`);
}

/** A state from before a clip was started, which arrives after it, does not stop the clip. */
export async function a_late_state_does_not_stop_the_player({ studio, open }) {
  const page = await open(studio);
  same((await state(page)).display.what, 'posed', 'what is shown at first');
  await page.value(`(() => {
    document.querySelector('[data-testid="play"]').click();
    driver.say({ type: 'state', stress: false });
  })()`);
  await page.until(`sinew.state().display.what === 'clip'`);
  const frames = await page.value('driver.frames()');
  await page.until(`driver.frames() > ${frames + 5}`);
  // Something else that is shown does.
  await page.click('display-rest');
  await page.until(`sinew.state().display.what === 'rest'`);
  await page.settle();
  same((await state(page)).display.what, 'rest', 'it stays at rest');
}

/** Longer than the server waits for the next command of a step that has no gesture. */
const REST_MS = 700;

/** Pull a slider to a share of its length while states come in; the same element must be there from press to release. */
async function pullThrough(page, id, share) {
  const { box } = await page.place(id);
  const find = `document.querySelector('[data-testid="${id}"]')`;
  const value = () => page.value(`Number(${find}.value)`);
  const now = await page.value(
    `(({ min, max, value }) => (Number(value) - Number(min)) / (Number(max) - Number(min)))(${find})`,
  );
  const at = (part) => ({ x: box.x + 7 + (box.width - 14) * part, y: box.y + box.height / 2 });
  await page.value(`(window.pulled = ${find}, null)`);
  await page.mouse('mouseMoved', at(now), { held: false });
  await page.mouse('mousePressed', at(now));
  const steps = 8;
  for (let k = 1; k <= steps; k += 1) {
    await page.mouse('mouseMoved', at(now + ((share - now) * k) / steps));
    // As another page or the simulation would.
    await page.value(`driver.say({ type: 'state', stress: false })`);
    // The pointer rests: that this makes no second step is tested.
    if (k === steps / 2) await sleep(REST_MS);
  }
  const held = await value();
  const wanted = await page.value(`(({ min, max }) => Number(min) + ${share} * (Number(max) - Number(min)))(${find})`);
  const range = await page.value(`Number(${find}.max) - Number(${find}.min)`);
  expect(await page.value(`window.pulled.isConnected && window.pulled === ${find}`), `${id} stays while it is pulled`);
  expect(Math.abs(held - wanted) < 0.04 * range, `${id} is where the pointer is: ${held}, not ${wanted}`);
  await page.mouse('mouseReleased', at(share));
  await page.settle({ jobs: false });
  expect(
    Math.abs((await value()) - held) < 0.02 * range,
    `${id} stays where it was released: ${await value()} after ${held}`,
  );
  expect(await page.value(`document.activeElement === window.pulled`), `${id} has the keyboard after it was pulled`);
}

/** Pull a slider of the document: all of it is one step, which one undo takes back. */
async function pullOnce(page, id, share) {
  const before = (await state(page)).history.at;
  await pullThrough(page, id, share);
  await page.until(`sinew.state().history.at === ${before + 1}`);
  await page.value(`sinew.ask({ type: 'undo' })`);
  await page.until(`sinew.state().history.at === ${before}`);
}

/** Sliders stay under the pointer in every panel while the state streams in, and a pull is one step of history. */
export async function sliders_are_pulled_while_the_state_streams({ studio, open }) {
  const page = await open(studio);
  await page.panel('properties');
  await page.click('handle-head');
  await pullThrough(page, 'prop-weight', 0.3);
  await page.click('tool-paint');
  await pullThrough(page, 'option-size', 0.6);
  await pullThrough(page, 'xray', 0.5);
  await page.click('tool-drag');
  await page.panel('reach');
  await pullThrough(page, 'weight-bow', 0.6);
  await page.click('reach-cancel');
  await page.panel('fit');
  await page.click('fit-aim-bones');
  await pullThrough(page, 'fit-bones', 0.7);
  await page.panel('flesh');
  for (const id of ['flesh-stiffness', 'flesh-damping', 'flesh-gravity']) await pullOnce(page, id, 0.3);
  await page.panel('puppet');
  await page.click('demo-bar');
  await page.until(`sinew.state().name === 'bar' && sinew.state().act?.weights`);
  // The actor performs meanwhile: its body and the weights come with every frame.
  for (const id of ['puppet-smoothing', 'puppet-limit', 'puppet-hold']) await pullOnce(page, id, 0.7);
}

/** A control that has the keyboard keeps it while the state streams in, and words that are typed stay. */
export async function focus_and_typing_survive_the_state({ studio, open }) {
  const page = await open(studio);
  await page.panel('flesh');
  await page.value(`document.querySelector('[data-testid="flesh-damping"]').focus()`);
  for (let k = 0; k < 4; k += 1) {
    await page.key('ArrowRight');
    await page.value(`driver.say({ type: 'state', stress: false })`);
    await page.settle({ jobs: false });
    same(await page.value('document.activeElement.dataset.testid'), 'flesh-damping', 'what has the keyboard');
  }
  await page.until('Math.abs(sinew.state().flesh.settings.damping - 0.03) < 1e-6');
  await page.click('flesh-bake-name');
  await page.key('Ctrl+a');
  for (const letter of 'soft') {
    await page.key(letter);
    await page.value(`sinew.ask({ type: 'flesh_cells', on: ${letter === 'o'} })`);
    await page.settle({ jobs: false });
  }
  same(await page.value('document.activeElement.value'), 'soft', 'what was typed');
  // Arrow keys go through tabs and radio groups, as their roles promise.
  await page.value(`document.querySelector('[data-testid="workspace-flesh"]').focus()`);
  await page.key('ArrowRight');
  same(await page.value('document.activeElement.dataset.testid'), 'workspace-deliver', 'the next workspace');
  await page.until(`document.querySelector('[data-testid="tab-fit"]')`);
  await page.value(`document.querySelector('[data-testid="fit-aim-bones"]').focus()`);
  await page.key('ArrowRight');
  await page.until(`document.querySelector('[data-testid="fit-aim-error"]').getAttribute('aria-checked') === 'true'`);
  same(await page.value('document.activeElement.dataset.testid'), 'fit-aim-error', 'the choice has the keyboard');
  // Tooltips show for the keyboard as well.
  await page.key('Tab');
  await page.key('Shift+Tab');
  await page.until(`!document.querySelector('.tooltip').hidden`);
  // In the toolbar arrow keys do not choose; in a menu they go around, and Escape returns to its button.
  const pressed = `document.querySelector('.toolbar [aria-pressed="true"]')`;
  const tool = await page.value(`(${pressed}.focus(), ${pressed}.dataset.testid)`);
  await page.key('ArrowDown');
  await page.until(`document.activeElement.matches('.toolbar [aria-pressed="false"]')`);
  same(await page.value(`${pressed}.dataset.testid`), tool, 'the tool stays');
  await page.value(`document.querySelector('[data-testid="menubar-file"]').focus()`);
  await page.key('ArrowDown');
  await page.until(`document.activeElement.closest('.menu')`);
  await page.key('End');
  await page.until(`document.activeElement === [...document.querySelectorAll('.menu-item:not([disabled])')].at(-1)`);
  await page.key('Escape');
  same(await page.value('document.activeElement.dataset.testid'), 'menubar-file', 'the button of the menu');
}

/** A slider follows while what it sets is sent and comes back. */
export async function a_slider_is_pulled_all_the_way({ studio, open }) {
  const page = await open(studio);
  await page.panel('puppet');
  await page.click('demo-bar');
  await page.until(`sinew.state().name === 'bar' && sinew.state().act?.weights`);
  await slide(page, 'puppet-smoothing', 0);
  await page.until('sinew.state().puppet.settings.smoothing === 0');
}

/** Another document while a clip is shown: no error, although the clip is not of it. */
export async function a_clip_is_left_without_an_error({ studio, open }) {
  const page = await open(studio);
  for (let k = 0; k < 6; k += 1) {
    await page.value(`sinew.ask({ type: 'display', what: 'clip', clip: sinew.state().clips[0].name, time: 0.2 })`);
    const next = k % 2 ? 'biped' : 'bar';
    await page.value(`sinew.ask({ type: 'sample', name: '${next}', vertices: 1000 })`);
    await page.until(`sinew.state().name === '${next}'`);
    await page.settle();
  }
  same(await page.value(`document.querySelectorAll('[data-testid="toast-error"]').length`), 0, 'errors');
}

// Others of this capability are short.
for (const test of [a_clip_is_left_without_an_error, sliders_are_pulled_while_the_state_streams]) test.long = true;
