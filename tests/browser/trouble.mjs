// What goes wrong in a user's life.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, grip, same, sinew, state } from './check.mjs';

const said = (page, words) =>
  page.until(
    `document.querySelector('[data-testid="toasts"]').textContent.toLowerCase().includes(${JSON.stringify(words.toLowerCase())})`,
  );

export async function broken_unknown_and_huge_files_are_refused_with_a_reason({ studio, open }) {
  const page = await open(studio);
  await page.drop([{ name: 'broken.obj', bytes: Buffer.from('v 0 0 0\nf 1 2 3\n') }]);
  await said(page, 'vertex 2');
  await page.drop([{ name: 'film.mp4', bytes: Buffer.from('....') }]);
  await said(page, 'video');
  // Two gigabytes are refused without waiting for the upload.
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
  const answer = await page.value(
    `sinew.ask({ type: 'open', path: 'newer.sinew.glb' }).then(() => '', (error) => String(error.message ?? error))`,
  );
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
  await page.until('driver.connections() === 2');
  await page.settle();
  same((await state(page)).n_moves, 1, 'the work is there');
  // The banner is gone again.
  await page.until(
    `(() => { const banner = document.querySelector('[data-testid="banner"]'); return !banner?.getClientRects().length || !/lost|connect/i.test(banner.textContent); })()`,
  );
  await page.key('Ctrl+z');
  await page.until('sinew.state().n_moves === 0');
}

/** kill -9 in the middle of work: the page reports it, and the next server offers what was not saved. */
export async function a_killed_server_is_reported_and_its_work_recovered({ studio, start, open, folder }) {
  const page = await open(studio);
  const elbow = await grip(page, 'elbow.L');
  await page.drag([elbow, { x: elbow.x, y: elbow.y - 90 }]);
  await page.until('sinew.state().n_moves === 1');
  await studio.kept();
  await studio.kill();
  await page.until(`document.querySelector('[data-testid="banner"]')?.getClientRects().length`);
  const next = await start({ port: studio.port });
  try {
    expect(existsSync(join(folder, 'home')) && readdirSync(join(folder, 'home')).length > 0, 'unsaved work on disk');
    await page.until(`sinew.state()?.recoveries?.length === 1`, 240_000);
    const id = (await state(page)).recoveries[0].recovery;
    await page.value(`sinew.ask({ type: 'recover', recovery: ${JSON.stringify(id)} })`);
    await page.until('sinew.state().n_moves === 1 && sinew.state().dirty');
  } finally {
    await next.kill();
  }
}

/** A frame that the page cannot take is acknowledged all the same: else nothing more would come. */
export async function a_frame_that_fails_is_acknowledged({ studio, open }) {
  const page = await open(studio);
  await page.value(`(() => {
    window.heard = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) { window.socket = this; window.heard.push(text); return send.call(this, text); };
  })()`);
  await page.value(`sinew.ask({ type: 'list' })`);
  const failed = await page.value(`(() => {
    const { revision, vertices } = sinew.state();
    // A frame with stress of vertices far beyond the last.
    const message = new DataView(new ArrayBuffer(48 + 16 + 12));
    [2, 777, revision, vertices].forEach((word, k) => message.setUint32(4 * k, word, true));
    [10, vertices + 1000, 12, 12].forEach((word, k) => message.setUint32(48 + 4 * k, word, true));
    try { window.socket.onmessage({ data: message.buffer }); return ''; } catch (error) { return String(error); }
  })()`);
  expect(failed !== '', 'the frame cannot be taken');
  expect(
    await page.value(`window.heard.some((text) => text.includes('"ack"') && text.includes('777'))`),
    'it is acknowledged',
  );
  const elbow = await grip(page, 'elbow.L');
  await page.drag([elbow, { x: elbow.x, y: elbow.y - 90 }]);
  await page.until('sinew.state().n_moves === 1');
}

/** Saved by the user: under a name the first time, without a question the second, with one over another file. */
export async function work_is_saved_from_the_keyboard({ studio, open }) {
  const page = await open(studio);
  await page.click('pose-load-wave');
  await page.until('sinew.state().dirty');
  await page.move(await page.place('viewport'));
  await page.key('Ctrl+s');
  await page.type('save-as-input', join(studio.root, 'mine.sinew.glb'));
  await said(page, 'mine.sinew.glb');
  await page.until('!sinew.state().dirty');
  expect(existsSync(join(studio.root, 'mine.sinew.glb')), 'the file');
  const before = readFileSync(join(studio.root, 'mine.sinew.glb'));
  await page.click('pose-load-bow');
  await page.until('sinew.state().dirty');
  await page.move(await page.place('viewport'));
  await page.key('Ctrl+s');
  await page.until('!sinew.state().dirty');
  expect(!readFileSync(join(studio.root, 'mine.sinew.glb')).equals(before), 'another pose is in the file');
  // Another document asks before it takes the place of this one.
  await page.value(`sinew.ask({ type: 'sample', name: 'sack', vertices: 1000 })`);
  await page.until(`sinew.state().name === 'sack'`);
  await page.key('Ctrl+Shift+s');
  await page.type('save-as-input', join(studio.root, 'mine.sinew.glb'));
  await page.until(`document.querySelector('[data-testid="dialog-confirm"]')`);
  await page.press('Cancel');
  same((await state(page)).path, null, 'not saved');
  await page.key('Ctrl+Shift+s');
  await page.type('save-as-input', join(studio.root, 'mine.sinew.glb'));
  await page.press('Replace');
  await page.until(`sinew.state().path?.endsWith('mine.sinew.glb')`);
}

/** Unsaved work is offered in a corner, to be taken or thrown away by a click. */
export async function lost_work_is_restored_or_discarded_by_a_click({ studio, start, open, shots }) {
  const page = await open(studio);
  const work = async (page, studio) => {
    await page.click('pose-load-wave');
    await page.until('sinew.state().n_moves === 2');
    await studio.kept();
    await studio.kill();
  };
  await work(page, studio);
  const second = await start({ port: studio.port });
  await page.until(`document.querySelector('[data-testid="toast-restore"]')`, 240_000);
  same((await state(page)).n_moves, 0, 'nothing is taken unasked');
  await page.screenshot(join(shots, 'recovery.png'));
  await page.click('toast-restore');
  await page.until('sinew.state().n_moves === 2 && sinew.state().dirty');
  expect(!(await page.has('toast-restore')), 'offered no more');
  await second.kept();
  await second.kill();
  const third = await start({ port: studio.port });
  try {
    await page.until(`document.querySelector('[data-testid="toast-discard"]')`, 240_000);
    await page.click('toast-discard');
    await page.until('sinew.state().recoveries.length === 0');
    same((await state(page)).n_moves, 0, 'thrown away');
  } finally {
    await third.kill();
  }
}

/** What replaces unsaved work offers to save it first; what was left unsaved is listed with a picture. */
export async function unsaved_work_is_saved_on_the_way_or_listed({ studio, open, shots }) {
  const page = await open(studio);
  await page.click('pose-load-wave');
  await page.until('sinew.state().dirty');
  await page.value("sinew.perform('new')");
  await page.press('Save');
  await page.type('save-as-input', join(studio.root, 'on-the-way.sinew.glb'));
  await page.until(`document.querySelector('[data-testid="dialog-sample"]')`);
  expect(existsSync(join(studio.root, 'on-the-way.sinew.glb')), 'saved before the next document');
  await page.press('Cancel');
  await page.click('pose-load-bow');
  await page.until('sinew.state().dirty');
  await page.value("sinew.perform('new')");
  await page.press('Continue without saving');
  await page.until(`document.querySelector('[data-testid="dialog-sample"]')`);
  await page.press('Cancel');
  await page.value(`sinew.ask({ type: 'sample', name: 'sack', vertices: 1000 })`);
  await page.until('sinew.state().recoveries.length === 1');
  await page.click('menubar-file');
  await page.click('menu-unsaved');
  await page.until(`document.querySelector('.unsaved-picture')?.naturalWidth > 0`);
  await page.screenshot(join(shots, 'unsaved.png'));
  await page.click('unsaved-discard');
  await page.until('sinew.state().recoveries.length === 0');
}

/** A model in centimetres is asked about when it is opened, and is in metres after a click; axes are turned in the panel. */
export async function unit_and_axes_are_asked_and_changed({ studio, open, start, folder, shots }) {
  await studio.kill();
  const [biped, large] = [join(folder, 'biped.glb'), join(folder, 'large.glb')];
  sinew('sample', 'biped', '--vertices', '2000', '-o', biped);
  sinew('convert', biped, large, '--scale', '100');
  const page = await open(await start({ file: large }));
  const height = async () => {
    const [low, high] = (await state(page)).bounds;
    return high.map((x, k) => x - low[k]);
  };
  const before = await height();
  await page.until(`document.querySelector('.toast p')?.textContent.includes('centimetres?')`);
  await page.screenshot(join(shots, 'unit.png'));
  await page.value(
    `[...document.querySelectorAll('.toast button')].find((b) => b.textContent.startsWith('Make it')).click()`,
  );
  await page.until('sinew.state().doubts === null');
  const after = await height();
  expect(Math.abs(after[1] * 100 - before[1]) < 1e-3 * before[1], `a hundredth: ${before} → ${after}`);
  expect(
    !(await page.value(`document.querySelector('.toast p')?.textContent.includes('centimetres?')`)),
    'asked no more',
  );
  await page.value(`sinew.ask({ type: 'do', command: { turn: { up: '-z' } } })`);
  await page.until(`sinew.state().doubts?.up === '-z' || sinew.state().doubts?.up === 'z'`);
  const { up } = (await state(page)).doubts;
  await page.value(`sinew.ask({ type: 'do', command: { turn: { up: ${JSON.stringify(up)} } } })`);
  await page.until('sinew.state().doubts === null');
  const turn = (facing) => page.value(`sinew.ask({ type: 'do', command: { turn: { up: 'y', facing: '${facing}' } } })`);
  await turn('x');
  await page.until(`sinew.state().doubts?.facing === '-x'`);
  await turn('-x');
  await page.until('sinew.state().doubts === null');
}

/** A long job is stopped by its button, while the page remains usable. */
export async function a_job_is_stopped_by_its_button({ studio, open }) {
  const page = await open(studio);
  await page.value(
    `(() => { window.answer = null; sinew.ask({ type: 'sample', name: 'octopus', vertices: 1000000 }).then(() => { window.answer = 'done'; }, (error) => { window.answer = error.message; }); })()`,
  );
  const button = `document.querySelector('[data-testid^="job-cancel-"]')`;
  await page.until(button);
  // At once: a picture taken first would give the job the time to finish.
  await page.click(await page.value(`${button}.dataset.testid`));
  // Meanwhile the page remains usable.
  await page.click('pose-load-bow');
  await page.until('sinew.state().n_moves === 2');
  await page.until('window.answer !== null', 240_000);
  expect(/stop/i.test(await page.value('window.answer')), `it was stopped: ${await page.value('window.answer')}`);
  await page.until(`!${button}`);
  const { name, n_moves } = await state(page);
  same([name, n_moves], ['biped', 2], 'what was there, and what was done meanwhile');
}

const frame = (k) => `v 0 0 0\nv 1 0 ${0.1 * k}\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n`;

/** A folder of numbered meshes is a sequence, dropped or chosen. */
export async function folders_of_frames_are_dropped_and_chosen({ studio, open, folder, shots }) {
  const page = await open(studio);
  const dropped = join(folder, 'running');
  mkdirSync(dropped);
  for (let k = 0; k < 4; k += 1) writeFileSync(join(dropped, `f${k}.obj`), frame(k));
  await page.dropPath(dropped);
  await page.until(`sinew.state().name === 'running' && sinew.state().clips.length === 1`);
  const chosen = join(studio.root, 'walking');
  mkdirSync(chosen);
  for (let k = 0; k < 6; k += 1) writeFileSync(join(chosen, `w${k}.obj`), frame(k));
  await page.key('Ctrl+o');
  await page.click('file-walking');
  await page.click('file-.');
  await page.screenshot(join(shots, 'open-folder.png'));
  await page.press('Open');
  await page.until(`sinew.state().name === 'walking' && sinew.state().clips.length === 1`);
  const { duration } = (await state(page)).clips[0];
  expect(Math.abs(duration - 5 / 30) < 1e-3, `six frames at 30 fps: ${duration}`);
  // One mesh among other files of a folder is a mesh.
  const single = join(folder, 'single');
  mkdirSync(single);
  writeFileSync(join(single, 'only.obj'), frame(0));
  writeFileSync(join(single, 'notes.txt'), 'x');
  await page.dropPath(single);
  await page.until(`sinew.state().name === 'only' && sinew.state().clips.length === 0`);
}

// Others of this capability are short.
lost_work_is_restored_or_discarded_by_a_click.long = true;
