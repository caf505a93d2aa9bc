import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { products } from '../../rig/review/campaign.ts';
import { openGallery } from '../../rig/review/gallery.ts';

const browser = await chromiumOfFile();

test('from a folder: verdicts stay in the browser, and leave as picks.json', async () => {
  const { page } = await openGallery(browser, { ...products(3, 2), canDecide: false });
  await page.locator('.active[data-address]').waitFor();
  await page.keyboard.press('2');
  await page.keyboard.press('x');
  await page.getByText('1 of 3 groups decided').waitFor();
  await page.reload();
  await page.getByText('2 verdicts in this browser').waitFor();

  await page.getByRole('button', { name: 'Save picks.json' }).click();
  await page.getByText('Type your name.').waitFor();
  await page.keyboard.type('Ada');
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(download.suggestedFilename()).toBe('picks.json');
  const saved = await download.path();
  expect(JSON.parse(readFileSync(saved, 'utf8'))).toMatchObject({ mediabatch: 'picks', by: 'Ada' });
  expect((await readPicks(saved)).map(({ by, address, is }) => [by, address, is])).toEqual([
    ['Ada', 'hero@p001,take:2', 'picked'],
    ['Ada', 'hero@p002,take:1', 'rejected'],
  ]);
});
