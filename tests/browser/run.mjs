// The studio as a user meets it, in a real browser.
//   node run.mjs            the short tests
//   node run.mjs --all      all of them
//   node run.mjs NAME…      just these
//   node run.mjs --list     their names
// SINEW_BINARY, SINEW_TOOLS and SINEW_DATA say where things are (else target/debug/sinew, .tools and ../shared/data);
// screenshots go to SINEW_SHOTS. A test that needs outside data that is not there is skipped, with CI=true it fails.
// The last line is `N passed, N failed, N skipped`.
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './places.mjs';
import { data } from './places.mjs';
import { QUARANTINE } from './quarantine.mjs';

const MODULES = [
  'first_start',
  'workflow',
  'tools',
  'trouble',
  'examples',
  'fit',
  'rules',
  'puppet',
  'flesh',
  'muscles',
  'licenses',
  'materials',
  'shell',
  'pictures',
  'feel',
  'driver',
];
/** Tests whose times are listed at the end. */
const N_SLOWEST = 10;

const { launch } = await import('./browser.mjs');
const { startStudio } = await import('./studio.mjs');
const tests = await collect();
const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith('--'));
const unknown = [
  ...wanted.filter((name) => !tests.has(name)),
  ...args.filter((arg) => arg.startsWith('--') && !['--all', '--list'].includes(arg)),
];
if (unknown.length > 0) fail(`there is no test or option ${unknown.join(', ')}; --list names the tests`);
const misplaced = Object.keys(QUARANTINE).filter((name) => !tests.has(name));
if (misplaced.length > 0) fail(`in quarantine, but no test: ${misplaced.join(', ')}`);
if (args.includes('--list')) {
  for (const [name, { long, needs = [] }] of tests) console.log([name, long ? 'long' : 'short', ...needs].join('  '));
  process.exit(0);
}

const shots = process.env.SINEW_SHOTS ?? join(process.env.SINEW_TOOLS, 'shots');
mkdirSync(shots, { recursive: true });
const browser = await launch();
const results = [];
let nLeft = 0;
for (const [name, test] of tests) {
  const isChosen = wanted.length > 0 ? wanted.includes(name) : args.includes('--all') || !test.long;
  if (!isChosen) nLeft += 1;
  else results.push({ name, ...(await run(name, test)) });
}
await browser.close();
report();

/** Every test by its name, which must be its own. */
async function collect() {
  const found = new Map();
  for (const module of MODULES) {
    for (const [name, test] of Object.entries(await import(`./${module}.mjs`))) {
      if (typeof test !== 'function') continue;
      if (found.has(name)) fail(`two tests are called ${name}, one of them in ${module}.mjs`);
      found.set(name, test);
    }
  }
  return found;
}

function fail(why) {
  console.error(`error: ${why}`);
  process.exit(2);
}

async function run(name, test) {
  const absent = (test.needs ?? []).filter((path) => !existsSync(data(path)));
  if (absent.length > 0) {
    const isFault = process.env.CI === 'true';
    const why = `outside data is not there: ${absent.join(', ')}`;
    console.log(`${isFault ? 'FAILED  ' : 'skipped '}${name}: ${why}`);
    // `./test` lists what was skipped by all test programs together.
    if (process.env.SINEW_SKIPS) appendFileSync(process.env.SINEW_SKIPS, `${name}: ${why}\n`);
    return { outcome: isFault ? 'failed' : 'skipped', why, seconds: 0 };
  }
  const folder = mkdtempSync(join(tmpdir(), 'sinew-browser-'));
  const [pages, studios] = [[], []];
  const start = async (options) => {
    const studio = await startStudio(folder, options);
    studios.push(studio);
    return studio;
  };
  const open = async (studio, options = {}) => {
    const storage = { 'sinew.prefs': JSON.stringify({ tourDone: !options.tour, theme: options.theme ?? 'dark' }) };
    const page = await browser.open(studio.url, { storage, ...options });
    pages.push(page);
    return page;
  };
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  let outcome = 'passed';
  try {
    const studio = await start();
    await test({ folder, shots, start, open, studio });
    const faults = pages.flatMap((page) => page.faults);
    if (faults.length > 0) throw new Error(`the page complained: ${faults.join('; ')}`);
    console.log(`ok      ${name} (${seconds().toFixed(1)} s)`);
  } catch (error) {
    outcome = 'failed';
    console.log(`FAILED  ${name} (${seconds().toFixed(1)} s): ${error.stack}`);
    for (const [k, page] of pages.entries()) {
      await page.screenshot(join(shots, `failed-${name}-${k}.png`)).catch(() => {});
      const toasts = await page.text('toasts').catch(() => null);
      if (toasts) console.log(`        messages: ${toasts}`);
    }
  }
  const result = { outcome, seconds: seconds() };
  await Promise.all(pages.map((page) => page.close().catch(() => {})));
  await Promise.all(studios.map((studio) => studio.kill().catch(() => {})));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return result;
}

function report() {
  const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
  const slowest = [...results].sort((a, b) => b.seconds - a.seconds).slice(0, N_SLOWEST);
  console.log(
    `\n${total.toFixed(0)} s in all; the slowest: ${slowest.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`).join(', ')}`,
  );
  if (nLeft > 0 && wanted.length === 0) console.log(`${nLeft} long tests were left out; --all runs them`);
  const inQuarantine = results.filter(({ name }) => name in QUARANTINE);
  for (const { name, outcome } of inQuarantine) console.log(`in quarantine: ${name} ${outcome}; ${QUARANTINE[name]}`);
  const deciding = results.filter(({ name }) => !(name in QUARANTINE));
  const named = (wanted) => deciding.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
  const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map(named);
  if (skipped.length > 0) console.log(`skipped for want of outside data: ${skipped.join(', ')}`);
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  console.log(`${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`);
  process.exit(failed.length > 0 ? 1 : 0);
}
