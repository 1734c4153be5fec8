// What a new user sees.
import { join } from 'node:path';
import { expect, grip, same, state } from './check.mjs';

/** The sample with handles and three poses, and the tour gone through as it asks. */
export async function the_tour_can_be_finished({ studio, open, shots }) {
  const page = await open(studio, { tour: true });
  const doc = await state(page);
  same([doc.name, doc.examples.length, doc.handles.length], ['biped', 3, 15], 'the sample');
  const title = async (wanted) =>
    page.until(`document.querySelector('[data-testid="tour-title"]')?.textContent === ${JSON.stringify(wanted)}`);
  await title('Look around');
  await page.screenshot(join(shots, 'tour.png'));
  await page.drag([
    { x: 250, y: 200 },
    { x: 330, y: 220 },
  ]);
  await title('Select a handle');
  const hand = await grip(page, 'forearm.L');
  await page.click(hand);
  await title('Pose it');
  const before = (await state(page)).n_moves;
  await page.drag([await grip(page, 'elbow.L'), { x: hand.x + 10, y: hand.y - 120 }]);
  await title('Save the pose');
  await page.until(`sinew.state().n_moves > ${before}`);
  await page.click('pose-save');
  await page.press('OK');
  await title('Export it');
  const saved = (await state(page)).examples;
  expect(saved.length === 4 && saved[3].thumbnail, 'a fourth pose with a picture');
  await page.click('export-button');
  await page.until(`!document.querySelector('[data-testid="tour-title"]')?.getClientRects().length`);
}
