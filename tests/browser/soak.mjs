// A user who does this and that for a long time: `node soak.mjs [SECONDS] [SEED]`, by default 300 seconds and seed 1.
// The page must never complain, the server's memory must stay where it is, and the work must be saved and opened after.
// SINEW_BINARY and SINEW_TOOLS as for run.mjs. The last line is `N passed, N failed, N skipped`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './places.mjs';

const { launch } = await import('./browser.mjs');
const { startStudio } = await import('./studio.mjs');
const { expect, same, state } = await import('./check.mjs');
const { validate } = await import('./judge.mjs');

const [seconds, seed] = [Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 1)];
console.log(`seed ${seed}, ${seconds} s`);
const random = randomNumbers(seed);
const pick = (list) => list[Math.floor(random() * list.length)];
const within = (low, high) => low + random() * (high - low);

/** Things that must be done at least: on a machine that is busy otherwise it takes longer, but proves as much. */
const LEAST = Math.min(100, seconds);
/** Seconds between looks at the memory. */
const LOOK_EVERY = 15;
/**
 * Megabytes by which the server may grow between the first and the last quarter of the looks. At each look the same
 * small document has just been opened, which replaces document, history and caches, so that nothing should be left of
 * what was done before. What is left is room that the allocator keeps for its threads: a page's thread, jobs and
 * workers each have a pool of their own, which grows to the largest thing done in it (a fit or a bake of these
 * samples takes some 30 MB). A document that is never freed takes 2 to 5 MB, and dozens are opened.
 */
const MOST_GROWTH = 128;

const folder = mkdtempSync(join(tmpdir(), 'sinew-soak-'));
const browser = await launch();
const studio = await startStudio(folder);
const trail = [];
let isPassed = false;
let page;
try {
  await soak();
  isPassed = true;
} catch (error) {
  console.log(`FAILED: ${error.stack}\nthe last things done: ${trail.slice(-20).join(', ')}`);
  const toasts = await page?.text('toasts').catch(() => null);
  if (toasts) console.log(`messages: ${toasts}`);
}
await browser.close();
await studio.kill();
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
console.log(isPassed ? '1 passed, 0 failed, 0 skipped' : '0 passed, 1 failed, 0 skipped');
process.exit(isPassed ? 0 : 1);

async function soak() {
  const storage = { 'sinew.prefs': JSON.stringify({ tourDone: true, theme: 'dark' }) };
  page = await browser.open(studio.url, { storage });
  const memory = [];
  const counts = {};
  const begun = Date.now();
  let looked = 0;
  while (Date.now() - begun < 1000 * seconds || trail.length < LEAST) {
    const [name, act] = choice();
    trail.push(name);
    counts[name] = (counts[name] ?? 0) + 1;
    await act();
    await page.settle();
    await check(name);
    if (Date.now() - looked > 1000 * LOOK_EVERY) {
      memory.push(await look());
      looked = Date.now();
    }
  }
  memory.push(await look());
  const done = Object.values(counts).reduce((sum, n) => sum + n, 0);
  console.log(
    `${done} things done: ${Object.entries(counts)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ')}`,
  );
  console.log(`memory of the server in MB: ${memory.map((mb) => mb.toFixed(0)).join(' ')}`);
  const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  const quarter = Math.max(1, Math.floor(memory.length / 4));
  const growth = median(memory.slice(-quarter)) - median(memory.slice(0, quarter));
  expect(growth < MOST_GROWTH, `memory stays: it grew by ${growth.toFixed(0)} MB, ${MOST_GROWTH} are allowed`);
  await keep();
}

/** No errors: neither of the page nor in its messages. */
async function check(name) {
  same(page.faults, [], `faults of the page after: ${name}`);
  const errors = await page.value(
    `[...document.querySelectorAll('[data-testid="toast-error"] p')].map((p) => p.textContent)`,
  );
  same(errors, [], `errors after: ${name}`);
}

/** Megabytes of the server, with a small document that was just opened. */
async function look() {
  await sample('biped', 2000);
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${studio.pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

/** What there is at the end is saved, and opened again as it was. */
async function keep() {
  await sample('biped', 2000);
  await page.panel('poses');
  await page.click('pose-load-wave');
  await page.until('sinew.state().n_moves === 2');
  await page.value(`sinew.ask({ type: 'save', path: 'end', overwrite: true })`);
  await page.until('!sinew.state().dirty');
  validate(join(studio.root, 'end.sinew.glb'));
  // Numbers of a pose are written with fewer digits than they are kept.
  const round = (value) =>
    JSON.parse(JSON.stringify(value), (_, x) => (typeof x === 'number' ? Number(x.toFixed(5)) : x));
  const names = (list) => list.map(({ name }) => name);
  const kept = ({ vertices, faces, joints, handles, moves, examples, clips }) => ({
    vertices,
    faces,
    joints,
    handles: handles.map(({ name, vertices, secondary }) => [name, vertices, secondary]),
    moves: round(moves),
    examples: names(examples),
    clips: names(clips),
  });
  const before = kept(await state(page));
  await sample('bar', 1000);
  await page.value(`sinew.ask({ type: 'open', path: 'end.sinew.glb' })`);
  await page.until(`sinew.state().name === 'biped' && sinew.state().n_moves === 2`);
  same(kept(await state(page)), before, 'the document that was saved and opened again');
}

async function sample(name, vertices) {
  const before = (await state(page)).document;
  await page.value(`sinew.ask({ type: 'sample', name: '${name}', vertices: ${vertices} })`);
  await page.until(`sinew.state().document > ${before} && sinew.state().name === '${name}'`);
  await page.settle();
}

/** Something that can be done now, and how often it is. */
function choice() {
  const all = [
    [8, 'drag a handle', dragHandle],
    [5, 'turn the view', turnView],
    [5, 'undo', () => page.key('Ctrl+z')],
    [4, 'redo', () => page.key('Ctrl+Shift+z')],
    [5, 'switch the panel', async () => page.panel(pick(Object.keys(await page.panels())))],
    [
      4,
      'take a tool',
      () =>
        page.click(
          `tool-${pick(['select', 'drag', 'rotate', 'translate', 'twist', 'box', 'paint', 'reach', 'sculpt'])}`,
        ),
    ],
    [3, 'play', play],
    [3, 'load a pose', loadPose],
    [2, 'go through the history', jump],
    [2, 'save', () => page.value(`sinew.ask({ type: 'save', path: 'soak', overwrite: true })`)],
    [1, 'open what was saved', reopen],
    [
      2,
      'open a sample',
      () =>
        sample(
          pick(['biped', 'quadruped', 'octopus', 'sack', 'bar', 'flag', 'tablecloth']),
          Math.round(within(1000, 4000)),
        ),
    ],
    [1, 'flesh', flesh],
    [
      2,
      'look otherwise',
      () =>
        page.value(
          `sinew.perform('${pick(['look-shaded', 'look-matcap', 'look-handles', 'look-stress', 'wireframe', 'ghost', 'centres'])}')`,
        ),
    ],
    [1, 'lose the connection', loseConnection],
  ];
  let at = random() * all.reduce((sum, [weight]) => sum + weight, 0);
  const [, name, act] = all.find(([weight]) => (at -= weight) < 0) ?? all[0];
  return [name, act];
}

async function viewport() {
  const { x, y, box } = await page.place('viewport');
  return { x, y, width: box.width, height: box.height };
}

/** From somewhere near the middle, where the body mostly is, to somewhere else. */
async function dragHandle() {
  const { x, y } = await viewport();
  const from = { x: x + within(-120, 120), y: y + within(-160, 160) };
  await page.drag([from, { x: from.x + within(-60, 60), y: from.y + within(-60, 60) }], { steps: 6 });
}

async function turnView() {
  const { x, y } = await viewport();
  await page.drag(
    [
      { x, y },
      { x: x + within(-150, 150), y: y + within(-60, 60) },
    ],
    { steps: 6, button: 'middle' },
  );
}

async function play() {
  if ((await state(page)).clips.length === 0) return;
  await page.move(await viewport());
  await page.value(`document.activeElement?.blur()`);
  const frames = await page.value('driver.frames()');
  await page.key('Space');
  await page.until(
    `driver.frames() > ${frames + Math.round(within(5, 40))} || document.querySelector('[data-testid="play"]').disabled`,
  );
  await page.key('Space');
}

async function loadPose() {
  const { examples } = await state(page);
  if (examples.length === 0) return;
  await page.panel('poses');
  await page.click(`pose-load-${pick(examples).name}`);
}

async function jump() {
  const { history } = await state(page);
  await page.panel('history');
  await page.click(`history-${Math.floor(random() * history.steps.length)}`);
}

async function reopen() {
  const { entries } = await page.value(`sinew.ask({ type: 'list' })`);
  if (!entries.some(({ name }) => name === 'soak.sinew.glb')) return;
  const before = (await state(page)).document;
  await page.value(`sinew.ask({ type: 'open', path: 'soak.sinew.glb' })`);
  await page.until(`sinew.state().document > ${before}`);
}

async function flesh() {
  if ((await state(page)).joints === 0) return;
  await page.panel('flesh');
  await page.click('flesh-live');
  await page.until('sinew.state().fleshed.status?.step_ms > 0 || sinew.state().fleshed.fault');
  await page.click('flesh-live');
  await page.until('!sinew.state().fleshed.on');
}

async function loseConnection() {
  const n = await page.value('driver.connections()');
  await page.value('sinew.dropConnection()');
  await page.until(`driver.connections() === ${n + 1}`);
}

/** mulberry32: the same numbers for the same seed. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
