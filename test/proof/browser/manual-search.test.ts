import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openChromium } from '../../rig/chromium.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { axeFindings, hasAxe } from '../../rig/review/axe.ts';
import { complaintsOf } from '../../rig/review/open-page.ts';

const { browser, close } = await openChromium();
const folder = temporaryFolder();
afterAll(async () => {
  await close();
  folder.remove();
});

test('the manual is searched from disk: sections that have all words, those with them in the heading first', async () => {
  expect(await command(['help', '--html', 'manual'], { cwd: folder.path })).toMatchObject({ code: 0 });
  const page = await browser.newPage();
  const home = pathToFileURL(join(folder.path, 'manual/')).href;
  const complaints = complaintsOf(page, home);
  await page.goto(`${home}index.html`);
  await page.getByRole('link', { name: 'Search' }).click();
  await page.getByLabel('Words').fill('another run holds');
  const first = page.getByRole('listitem').locator('a').filter({ hasText: 'MB3401' });
  await first.waitFor();
  expect(await page.locator('#found a').first().textContent()).toContain('MB3401');
  if (hasAxe) expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel('Words').fill('no such words anywhere');
  await page.getByText('0 sections').waitFor();
  await page.getByLabel('Words').fill('MB3401');
  await page.locator('#found a').first().click();
  await page.waitForURL(/codes\.html#MB3401$/);
  expect(complaints).toEqual([]);
});
