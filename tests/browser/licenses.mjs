// What the program is made of is listed in the studio, too.
import { join } from 'node:path';
import { expect } from './check.mjs';

export async function licences_are_shown_with_their_texts({ studio, open, shots }) {
  const page = await open(studio);
  await page.click('menubar-help');
  await page.click('menu-licenses');
  await page.until(`document.querySelectorAll('[data-testid="licenses"] details').length > 100`);
  const text = await page.text('licenses');
  for (const name of ['three 0.187', 'tokio 1.', 'Changed by the build of Sinew']) expect(text.includes(name), name);
  // A text comes when its row is opened.
  const part = '[data-testid="license-@mediapipe/pose"]';
  await page.value(`document.querySelector('${part}').open = true`);
  await page.until(`document.querySelector('${part} pre')?.textContent.includes('Apache License')`);
  await page.screenshot(join(shots, 'licenses.png'));
}
