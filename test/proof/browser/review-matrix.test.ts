import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { openServed, serveCampaign } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();
const campaign = await serveCampaign(
  `version: 1
name: grid
tasks:
  hero: { kind: image, foreach: [lamp, rug], key: "{{row}}", takes: 2, gate: { choose: 1 }, with: { resolution: 1k, prompt: "{{row}}" } }
  concept: { kind: image, foreach: [lamp, rug, vase], key: "{{row}}", matrix: { style: [warm, cold], size: [1k, 2k] }, gate: { choose: 1, among: style }, with: { resolution: 1k, prompt: "{{row}}, {{matrix.style}}, {{matrix.size}}" } }
  final: { kind: image, foreach: [lamp, rug], key: "{{row}}", with: { resolution: 1k, prompt: finished, referenceImages: ["{{tasks.hero.url}}"] } }
`,
  async ({ folder }) => rmSync(`${folder}/campaign.sandbox/output/hero-lamp-2.png`),
);

test('rows are keys and columns tasks; cells without a step are empty, and what is missing or planned is seen', async () => {
  const { page, press } = await openServed(browser, campaign);
  await press('m');
  const table = page.getByRole('table', { name: 'Keys and tasks' });
  expect(await table.getByRole('columnheader').allTextContents()).toEqual(['key', 'hero', 'concept', 'final']);
  expect(await table.getByRole('rowheader').allTextContents()).toEqual(['lamp', 'rug', 'vase']);
  const words = (row: number, column: number) =>
    table.locator('tbody tr').nth(row).locator('td').nth(column).textContent();
  expect(await words(0, 0)).toContain('is not on this disk');
  expect(await words(0, 2)).toContain('not bought yet');
  expect(await words(2, 0)).toBe('');
  expect(await table.locator('.matrix-asset').count()).toBe(4 + 12 + 2);
});

test('columns can be the values of an axis', async () => {
  const { page, press, isActive } = await openServed(browser, campaign);
  await press('m');
  await page.getByRole('combobox', { name: 'Columns' }).selectOption('style');
  await isActive('concept@lamp,warm,1k');
  const table = page.getByRole('table', { name: 'Keys and style' });
  expect(await table.getByRole('columnheader').allTextContents()).toEqual(['key', 'warm', 'cold']);
  expect(await table.getByRole('rowheader').allTextContents()).toEqual([
    'lamp · 1k',
    'lamp · 2k',
    'rug · 1k',
    'rug · 2k',
    'vase · 1k',
    'vase · 2k',
  ]);
  await page.getByText('6 rows · 6 outputs without style left out').waitFor();

  // What lacks the axis is among the tasks; where all have one, it is the columns by itself.
  await press('[');
  await page.getByRole('table', { name: 'Keys and tasks' }).waitFor();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Task' }).selectOption('concept');
  await table.waitFor();
});

test('arrows walk it, verdicts are about the active one, Enter and a second press open the loupe', async () => {
  const { page, press, isActive, data } = await openServed(browser, campaign);
  await press('m');
  await isActive('hero@lamp/1');
  await press('ArrowDown', 'ArrowRight');
  await isActive('hero@rug/2');
  await press('ArrowRight');
  await isActive('concept@rug,warm,1k');
  await press('ArrowDown', 'ArrowDown');
  await isActive('concept@vase,warm,1k');
  await press('ArrowUp', 'ArrowLeft');
  await isActive('hero@rug/2');
  expect(await page.evaluate('document.activeElement.dataset.asset')).toBe('hero@rug/2');
  await press('x');
  await isActive('hero@rug/1');
  await page.locator('[data-address="hero@rug/2"]').getByText('rejected').waitFor();
  await expect
    .poll(async () => (await data()).assets.find(({ address }) => address === 'hero@rug/2')?.verdict?.is)
    .toBe('rejected');
  await press('Enter');
  await page.getByRole('main', { name: 'Loupe' }).waitFor();
  await press('Escape');
  await page.locator('[data-asset="concept@vase,cold,2k"]').click();
  await isActive('concept@vase,cold,2k');
  await page.locator('[data-asset="concept@vase,cold,2k"]').click();
  await page.getByRole('main', { name: 'Loupe' }).waitFor();
});
