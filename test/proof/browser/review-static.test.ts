import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import type { ReviewData } from '../../../src/contract/review.ts';
import { openChromium } from '../../rig/chromium.ts';
import { root, temporaryFolder } from '../../rig/command.ts';
import { products } from '../../rig/review/campaign.ts';
import { complaintsOf } from '../../rig/review/open-page.ts';
import { drawPng } from '../../rig/review/png.ts';

const { browser, close: closeBrowser } = await openChromium();
afterAll(closeBrowser);

/** A folder with the page, its data in it, and pictures beside it. */
async function openFolder(data: ReviewData) {
  const folder = temporaryFolder();
  for (const kind of ['js', 'css']) cpSync(join(root, `dist/page/gallery.${kind}`), join(folder.path, `page.${kind}`));
  for (const kind of ['media', 'thumb']) {
    mkdirSync(join(folder.path, kind));
    data.assets.forEach((_, index) => {
      writeFileSync(join(folder.path, kind, String(index)), drawPng(64, 48, index * 30));
    });
  }
  const json = JSON.stringify({ ...data, canDecide: false }).replaceAll('<', '\\u003c');
  writeFileSync(
    join(folder.path, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'">
<title>report</title><link rel="stylesheet" href="page.css"><div id="app"></div>
<script type="application/json" id="data">${json}</script><script defer src="page.js"></script></html>`,
  );
  const page = await browser.newPage();
  const complaints = complaintsOf(page, pathToFileURL(folder.path).href);
  onTestFinished(async () => {
    await page.close();
    folder.remove();
    expect(complaints).toEqual([]);
  });
  await page.goto(pathToFileURL(join(folder.path, 'index.html')).href);
  await page.locator('.active[data-address]').waitFor();
  return page;
}

test('from a folder: verdicts stay in the browser, and leave as picks.json', async () => {
  const page = await openFolder(products(3, 2));
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
