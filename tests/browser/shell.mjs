// The frame around the viewport: the top bar in a small window, its menus, and the smallest capability of all.
import { join } from 'node:path';
import { expect, same, state } from './check.mjs';

/** Whatever is in the bar stays beside the others, also a long name. */
export async function the_top_bar_fits_a_small_window({ studio, open, shots }) {
  const page = await open(studio, { width: 1000, height: 640 });
  const overlaps = `(() => {
    const boxes = [...document.querySelector('.topbar').children].map((part) => [part, part.getBoundingClientRect()]);
    const shown = boxes.filter(([, { width }]) => width > 0);
    const name = document.querySelector('[data-testid="doc-name"]').getBoundingClientRect();
    const [redo, save] = ['redo', 'save-button'].map((id) => document.querySelector('[data-testid="' + id + '"]').getBoundingClientRect());
    const found = shown.slice(1).filter(([, box], k) => box.left < shown[k][1].right - 0.5).map(([part]) => part.className);
    if (shown.at(-1)[1].right > innerWidth) found.push('the last one leaves the window');
    if (name.left < redo.right || name.right > save.left || name.width < 20) found.push('the name of the document');
    return found;
  })()`;
  same(await page.value(overlaps), [], 'nothing overlaps');
  await page.screenshot(join(shots, 'topbar-small.png'));
  const name = 'a character with quite a long name';
  await page.value(`sinew.ask({ type: 'do', command: { rename: { name: '${name}' } } })`);
  await page.until(`sinew.state().name === '${name}'`);
  await page.settle();
  same(await page.value(overlaps), [], 'nor with a long name');
}

/** The page with a link for another browser is opened from the Help menu. */
export async function another_browser_is_let_in_from_the_menu({ studio, open }) {
  const page = await open(studio);
  await page.value(`window.open = (url) => { window.opened = url; }`);
  await page.click('menubar-help');
  await page.click('menu-other-browser');
  await page.until('window.opened === "/launch"');
  const text = await page.value(`fetch('/launch').then((answer) => answer.text())`);
  expect(/launch=/.test(text), `a link is shown: ${text}`);
}

/** A body walks on its own legs, and what it does is reported. */
export async function a_walk_is_added_and_plays({ studio, open }) {
  const page = await open(studio);
  await page.panel('walk');
  await page.click('walk-add');
  await page.until(`sinew.state().clips.some(({ name }) => name.startsWith('walk'))`);
  await page.until(`sinew.state().display.what === 'clip'`);
  await page.until(
    `/on 2 legs at .* m.s; feet slide/.test(document.querySelector('[data-testid="walk-report"]').textContent)`,
  );
  const { clips } = await state(page);
  await page.value(`sinew.ask({ type: 'undo' })`);
  await page.until(`sinew.state().clips.length === ${clips.length - 1}`);
}

export async function a_turntable_is_added_and_plays({ studio, open }) {
  const page = await open(studio);
  await page.panel('turntable');
  same(
    await page.value(`document.querySelector('[data-testid="turntable-seconds"]').value`),
    '4',
    'the default of the server',
  );
  await page.click('turntable-add');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'turntable')`);
  await page.until(`sinew.state().display.clip === 'turntable'`);
  const { clips } = await state(page);
  expect(Math.abs(clips.find(({ name }) => name === 'turntable').duration - 4) < 0.05, 'it lasts four seconds');
  // A second one has a name of its own.
  await page.click('turntable-add');
  await page.until(`sinew.state().clips.some(({ name }) => name === 'turntable 2')`);
}
