// What goes wrong in a user's life.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, grip, same, state } from './check.mjs';

const said = (page, words) =>
  page.until(`document.querySelector('[data-testid="toasts"]').textContent.toLowerCase().includes(${JSON.stringify(words.toLowerCase())})`);

export async function broken_unknown_and_huge_files_are_refused_with_a_reason({ studio, open }) {
  const page = await open(studio);
  await page.drop([{ name: 'broken.obj', bytes: Buffer.from('v 0 0 0\nf 1 2 3\n') }]);
  await said(page, 'vertex 2');
  await page.drop([{ name: 'film.mp4', bytes: Buffer.from('....') }]);
  await said(page, 'video');
  // Of two gigabytes nobody has to wait for the upload.
  await page.value(`(() => {
    const file = new File(['v 0 0 0'], 'huge.obj');
    Object.defineProperty(file, 'size', { value: 2 ** 31 });
    const transfer = { files: [file], items: [], types: ['Files'], dropEffect: 'copy' };
    const event = new DragEvent('drop', { bubbles: true, cancelable: true });
    Object.defineProperty(event, 'dataTransfer', { value: transfer });
    document.body.dispatchEvent(event);
  })()`);
  await said(page, 'huge.obj');
  same((await state(page)).name, 'biped', 'what was open');
  same((await state(page)).dirty, false, 'nothing was done to it');
}

export async function a_project_of_a_newer_version_is_refused_and_untouched({ studio, open }) {
  const page = await open(studio);
  await page.value(`sinew.ask({ type: 'save', path: 'old' })`);
  const bytes = readFileSync(join(studio.root, 'old.sinew.glb'));
  const at = bytes.indexOf('"version":1');
  bytes[at + '"version":'.length] = '9'.charCodeAt(0);
  const path = join(studio.root, 'newer.sinew.glb');
  writeFileSync(path, bytes);
  const answer = await page.value(`sinew.ask({ type: 'open', path: 'newer.sinew.glb' }).then(() => '', (error) => String(error.message ?? error))`);
  expect(/newer version/.test(answer) && /format 9/.test(answer), `it names the version: ${answer}`);
  expect(readFileSync(path).equals(bytes), 'the file is untouched');
  same((await state(page)).name, 'biped', 'what was open');
}

export async function two_tabs_stay_in_step({ studio, open }) {
  const [one, two] = [await open(studio), await open(studio)];
  const elbow = await grip(one, 'elbow.L');
  await one.drag([elbow, { x: elbow.x, y: elbow.y - 90 }]);
  await two.until('sinew.state().n_moves === 1');
  await two.click('viewport', { button: 'middle' });
  await two.key('Ctrl+z');
  await one.until('sinew.state().history.at === 0');
}

export async function a_lost_connection_comes_back_with_all_work({ studio, open }) {
  const page = await open(studio);
  const elbow = await grip(page, 'elbow.L');
  await page.drag([elbow, { x: elbow.x, y: elbow.y - 90 }]);
  await page.until('sinew.state().n_moves === 1');
  await page.value('sinew.dropConnection()');
  await page.until('sinew.ready() && sinew.state().n_moves === 1');
  await page.settle(1500);
  expect(!(await page.has('banner')) || !/lost|connect/i.test(await page.text('banner')), 'the banner is gone again');
  await page.key('Ctrl+z');
  await page.until('sinew.state().n_moves === 0');
}

/** kill -9 in the middle of work: the page says so, and the next server offers what was not saved. */
export async function a_killed_server_is_said_and_its_work_recovered({ studio, start, open, folder }) {
  const page = await open(studio);
  const elbow = await grip(page, 'elbow.L');
  await page.drag([elbow, { x: elbow.x, y: elbow.y - 90 }]);
  await page.until('sinew.state().n_moves === 1');
  await page.settle(1500);
  await studio.kill();
  await page.until(`document.querySelector('[data-testid="banner"]')?.getClientRects().length`);
  const next = await start({ port: studio.port });
  try {
    expect(existsSync(join(folder, 'home')) && readdirSync(join(folder, 'home')).length > 0, 'unsaved work on disk');
    await page.until(`sinew.state()?.recoveries?.length === 1`, 30_000);
    const id = (await state(page)).recoveries[0].recovery;
    await page.value(`sinew.ask({ type: 'recover', recovery: ${JSON.stringify(id)} })`);
    await page.until('sinew.state().n_moves === 1 && sinew.state().dirty');
  } finally {
    await next.kill();
  }
}
