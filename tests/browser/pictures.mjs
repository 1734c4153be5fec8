// Every panel at two sizes, for people to look at; judged here is only that no control lies outside the window.
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
  return box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.left < -1 || box.top < -1;
}).map((element) => element.dataset.testid ?? element.outerHTML.slice(0, 60))`;

export async function panels_fit_at_both_sizes({ studio, open, shots }) {
  for (const [name, size] of Object.entries(SIZES)) {
    const page = await open(studio, { ...size, width: size.width / (size.scale ?? 1), height: size.height / (size.scale ?? 1) });
    const shot = async (what) => {
      await page.settle(300);
      await page.screenshot(join(shots, `${what}-${name}.png`));
      const cut = await page.value(CUT);
      expect(cut.length === 0, `${what} at ${name}: nothing outside the window, but ${cut.join(', ')}`);
    };
    await shot('start');
    for (const tab of ['properties', 'poses', 'history']) {
      await page.click(`tab-${tab}`);
      if (tab === 'properties') await page.click('handle-elbow.L');
      await shot(tab);
    }
    for (const [action, dialog] of [['export', 'export'], ['open', 'open'], ['new', 'new'], ['preferences', 'preferences'], ['shortcuts', 'shortcuts']]) {
      await page.value(`sinew.perform('${action}')`);
      await page.settle(300);
      await shot(`dialog-${dialog}`);
      await page.key('Escape');
    }
    await page.value(`sinew.perform('theme')`);
    await shot('light');
    await page.close();
  }
}
