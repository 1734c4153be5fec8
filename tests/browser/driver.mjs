// The page when the server is slow, which the driver can make it be.
import { expect, grip, same, slide, state, vertex } from './check.mjs';

/** A handle that is pressed, moved and let go before the server has said what was pressed is moved all the same. */
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
  const probe = (await page.value('sinew.owners()')).findIndex((owner) => owner === 1);
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

/** A button that is held while the state changes is there until it is let go, so that the click counts. */
export async function a_button_is_not_rebuilt_under_the_finger({ studio, open }) {
  const page = await open(studio);
  await page.panel('history');
  await page.value(`sinew.ask({ type: 'do', command: { load_example: { name: 'wave' } } })`);
  await page.until('sinew.state().n_moves === 2');
  await page.settle();
  const place = await page.place('history-0');
  await page.mouse('mouseMoved', place, { held: false });
  await page.mouse('mousePressed', place);
  const before = await page.value(`(window.pressed = document.querySelector('[data-testid="history-0"]'), sinew.state().history.steps.length)`);
  // Meanwhile the state changes, as by another tab.
  await page.value(`sinew.ask({ type: 'do', command: { load_example: { name: 'bow' } } })`);
  await page.until(`sinew.state().history.steps.length === ${before + 1}`);
  await page.settle();
  expect(await page.value('window.pressed.isConnected'), 'the pressed button is still there');
  await page.mouse('mouseReleased', place);
  await page.until('sinew.state().history.at === 0');
  // Let go, the list has caught up.
  await page.until(`document.querySelectorAll('[data-testid="history"] li').length === ${before + 1}`);
}

/** A state that was on its way when a clip was started, and that knows nothing of it, does not stop it. */
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

/** A slider stays in the hand while what it sets is sent and comes back. */
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
a_clip_is_left_without_an_error.long = true;
