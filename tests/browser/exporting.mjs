// The export dialog, as a user goes through it.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from './browser.mjs';

/** Wait for a file to be downloaded whole. */
async function downloaded(folder, ending) {
  for (const end = Date.now() + 120_000; Date.now() < end; await sleep(50)) {
    // Until it is whole it has another name.
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const name = names.find((name) => name.endsWith(ending));
    if (name && !names.some((name) => name.endsWith('.crdownload')) && statSync(join(folder, name)).size > 0)
      return join(folder, name);
  }
  throw new Error(`no ${ending} was downloaded`);
}

/** Export what `preset` names, and wait for the file. */
export async function exportAs(page, folder, preset, ending) {
  await page.downloads(folder);
  await page.key('Ctrl+e');
  await page.until(`document.querySelector('[data-testid="dialog-export"]')`);
  if (preset) {
    await page.value(`(() => {
      const field = document.querySelector('[data-testid="dialog-export"] select');
      const option = [...field.options].find((option) => option.textContent.includes(${JSON.stringify(preset)}));
      field.value = option.value;
      field.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
  }
  await page.press('Export');
  return downloaded(folder, ending);
}
