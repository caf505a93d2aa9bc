import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { bin } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { buyEverything } from '../../rig/review/bought-campaign.ts';
import { openQuietPage } from '../../rig/review/open-page.ts';
import { drawPng } from '../../rig/review/png.ts';

const browser = await chromiumOfFile();

/** What would run, or ask somebody, if a text were taken for anything else. */
const nasty = [
  '</script><script>window.ran = 1</script>',
  '<img src=x onerror="window.ran = 1">',
  '<!--<script>-->\u2028',
  '"><svg onload="window.ran = 1"><style>@import url(http://127.0.0.1:1/x)</style>',
  'javascript:window.ran=1',
];

const manifest = `version: 1
name: aurora
tasks:
  hero:
    kind: image
    foreach: products.json
    key: "{{row.sku}}"
    takes: 2
    gate: { choose: 1, note: ${JSON.stringify(nasty.join(' '))} }
    with: { model: alpha-2, resolution: 1k, prompt: "{{row.name}}" }
`;

/** A campaign as `report` writes it, with texts that want to be more. */
async function writeReport(...words: string[]): Promise<string> {
  const folder = makeFolder();
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  writeFileSync(
    join(folder, 'products.json'),
    JSON.stringify(nasty.map((name, index) => ({ sku: `p${index}`, name }))),
  );
  await buyEverything(join(folder, 'campaign.yaml'), ({ key, take }, index) => ({
    path: `50% #1? "it's"/<b>${key}-${take}.png`,
    bytes: drawPng(320, 240, index * 23),
  }));
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  const done = spawnSync(process.execPath, [bin, 'report', ...words], { cwd: folder, env, encoding: 'utf8' });
  expect(done.status, done.stderr).toBe(0);
  return folder;
}

async function open(path: string, home: string) {
  await browser.setOffline(true);
  const { page } = await openQuietPage(browser, pathToFileURL(home).href);
  await page.goto(pathToFileURL(path).href);
  await page.locator('.active[data-address]').waitFor();
  const views = page.getByRole('button', { name: /^(Groups|Survey|Grid)$/ });
  for (const view of await views.all()) await view.click();
  await page.locator('.active[data-address]').waitFor();
  return page;
}

const isDrawn = '[...document.images].some(({ naturalWidth }) => naturalWidth > 0)';
const hasRun = "'ran' in window";

test('a folder from disk, offline: texts stay texts in every view, pictures are there, nobody is asked', async () => {
  const folder = await writeReport();
  const page = await open(join(folder, 'campaign.report/index.html'), folder);
  await page.waitForFunction(isDrawn);
  expect(await page.evaluate(hasRun)).toBe(false);
  await page.getByText('<img src=x onerror=').first().waitFor();
});

test('a folder with --copy needs nothing beside itself', async () => {
  const folder = await writeReport('--copy', '--out', 'sent');
  const page = await open(join(folder, 'sent/index.html'), join(folder, 'sent'));
  await page.waitForFunction(isDrawn);
});

test('a single file has its small pictures in it, and asks for nothing at all', async () => {
  const folder = await writeReport('--single-file', 'gallery.html');
  const file = join(folder, 'gallery.html');
  const page = await open(file, file);
  await page.waitForFunction(isDrawn);
  expect(await page.evaluate(hasRun)).toBe(false);
  expect(readFileSync(file, 'utf8').match(/<script/g)).toHaveLength(2);
});
