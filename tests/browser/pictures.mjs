// Every panel at two sizes, for people to look at; judged here is that no control lies outside the window or on another,
// and that no text is cut off.
import { join } from 'node:path';
import { expect } from './check.mjs';

const SIZES = { small: { width: 1280, height: 720 }, large: { width: 3840, height: 2160, scale: 2 } };

/** Controls that lie outside the window, but for those in lists that scroll. */
const CUT = `[...document.querySelectorAll('button, input, select, [data-testid]')].filter((element) => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || element.closest('[hidden]')) return false;
  for (let parent = element.parentElement; parent; parent = parent.parentElement) {
    if (/(auto|scroll)/.test(getComputedStyle(parent).overflowY)) return false;
  }
  // A dialog's controls keep away from its edge.
  const dialog = element.closest('dialog[open]')?.getBoundingClientRect();
  if (dialog && element.matches('button, input, select') && (box.left < dialog.left + 8 || box.right > dialog.right - 8)) return true;
  return box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.left < -1 || box.top < -1;
}).map((element) => element.dataset.testid ?? element.outerHTML.slice(0, 60))`;

/** What can be seen at present: of the topmost dialog or menu, if one is open, else of the page. */
const SEEN = `(() => {
  const scope = [...document.querySelectorAll('dialog[open], .menu')].at(-1) ?? document.body;
  return [...scope.querySelectorAll('*')].filter((element) => {
    if (element.closest('[hidden]') || element.closest('svg')) return false;
    const box = element.getBoundingClientRect();
    // Parts that are folded have boxes all the same.
    return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
  });
})()`;

const NAME = `(element) => element.dataset.testid ?? (element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 40))`;

/** Texts of which not everything is seen. Names that users give may be long, and end in dots. */
const CUT_TEXT = `${SEEN}.filter((element) => {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  const isField = element.matches('input:not([type=range]):not([type=checkbox]):not([type=color]), select');
  if (!hasText && !isField) return false;
  const style = getComputedStyle(element);
  if (style.overflow === 'auto' || style.textOverflow === 'ellipsis' || style.display === 'inline') return false;
  return element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 3;
}).map(${NAME})`;

/** Pairs of controls that lie on each other, but for those that float over the picture on purpose. */
const OVERLAPS = `(() => {
  // What is left of an element in the lists that scroll around it.
  const clipped = (element) => {
    let { left, right, top, bottom } = element.getBoundingClientRect();
    for (let parent = element.parentElement; parent; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflow === 'visible') continue;
      const box = parent.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { left, right, top, bottom };
  };
  const controls = ${SEEN}.filter((element) => element.matches('button, input, select, progress') && !element.closest('.toasts'));
  const found = [];
  controls.forEach((a, i) => {
    const p = clipped(a);
    for (const b of controls.slice(i + 1)) {
      if (a.contains(b) || b.contains(a)) continue;
      const q = clipped(b);
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide > 1 && high > 1) found.push((${NAME})(a) + ' and ' + (${NAME})(b));
    }
  });
  return found;
})()`;

const WALK = {
  line: [
    [0, 0],
    [0.4, 1],
    [1.2, 1.4],
  ],
  feet: ['foot.L', 'foot.R'],
  stride: 0.6,
  seconds: 1.2,
  lift: 0.06,
  stance: 0.5,
};
const HAND = {
  handle: 'hand.R',
  points: [
    [-0.5, 1.1, 0.1],
    [-0.6, 1.5, 0.4],
  ],
  seconds: 2,
};
/** A walk, a path, ground and keyframes. */
const PATHS = {
  walk: WALK,
  paths: [HAND],
  ground: { hills: { height: 0.25, length: 3 } },
  keyframes: { examples: ['wave', 'bow'], seconds: 0.5 },
};

export async function panels_fit_at_both_sizes({ studio, open, shots }) {
  for (const [name, size] of Object.entries(SIZES)) {
    const page = await open(studio, {
      ...size,
      width: size.width / (size.scale ?? 1),
      height: size.height / (size.scale ?? 1),
    });
    const shot = async (what) => {
      await page.settle();
      await page.screenshot(join(shots, `${what}-${name}.png`));
      const cut = await page.value(CUT);
      expect(cut.length === 0, `${what} at ${name}: nothing outside the window, but ${cut.join(', ')}`);
      const short = await page.value(CUT_TEXT);
      expect(short.length === 0, `${what} at ${name}: no text cut off, but ${short.join(', ')}`);
      const double = await page.value(OVERLAPS);
      expect(double.length === 0, `${what} at ${name}: no control on another, but ${double.join('; ')}`);
    };
    await shot('start');
    for (const panel of Object.keys(await page.panels())) {
      await page.panel(panel);
      if (panel === 'properties') await page.click('handle-elbow.L');
      await shot(panel);
    }
    for (const [action, dialog] of [
      ['export', 'export'],
      ['open', 'open'],
      ['new', 'new'],
      ['preferences', 'preferences'],
      ['shortcuts', 'shortcuts'],
      ['licenses', 'licenses'],
    ]) {
      await page.value(`sinew.perform('${action}')`);
      await page.settle();
      await shot(`dialog-${dialog}`);
      await page.key('Escape');
    }
    for (const menu of await page.value(
      `[...document.querySelectorAll('[data-testid^="menubar-"]')].map((b) => b.dataset.testid)`,
    )) {
      await page.click(menu);
      await shot(menu);
      await page.key('Escape');
    }
    for (const tool of [
      'box',
      'lasso',
      'paint',
      'twist',
      'rotate',
      'sculpt',
      'path',
      'reach',
      'flesh',
      'stiffen',
      'joint',
      'muscle',
    ]) {
      await page.click(`tool-${tool}`);
      await shot(`tool-${tool}`);
    }
    // Targets, paths and keyframes that are there, not only the empty panels.
    const goal = {
      targets: [
        { handle: 'hand.L', position: [0.5, 1.55, 0.25] },
        { handle: 'foot.R', pin: true },
      ],
    };
    await page.value(`sinew.ask({ type: 'drag', drag: 77, move: { reach: ${JSON.stringify(goal)} }, end: true })`);
    await page.until('sinew.state().reach?.targets.length === 2');
    await shot('reach-targets');
    await page.click('reach-cancel');
    await page.value(`sinew.ask({ type: 'do', command: { set_paths: { paths: ${JSON.stringify(PATHS)} } } })`);
    await page.click('tool-path');
    await page.until('sinew.state().drawn.ground');
    await shot('paths-all');
    await page.value(`document.querySelector('[data-testid="bake"]').scrollIntoView()`);
    await shot('paths-bake');
    await page.value(`sinew.perform('theme')`);
    await shot('light');
    await page.close();
  }
}

panels_fit_at_both_sizes.long = true;
