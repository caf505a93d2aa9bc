import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { galleryData, openGallery } from '../../rig/review/gallery.ts';
import { axeFindings, hasAxe } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

const views = ['Grid', 'Groups', 'Matrix', 'Before | after'];

test('every view opens from disk, asks for nothing but its own files, and is in the address', async () => {
  const { page, press } = await openGallery(browser, galleryData(90));
  // It was compared with a commit: what has changed comes first.
  await page.getByRole('main', { name: 'Before | after', exact: true }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Sizes' }).getByRole('button').allTextContents()).toEqual([
    'Loupe',
    'Compare',
  ]);
  for (const name of [...views, 'Loupe', 'Compare']) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('main', { name, exact: true }).waitFor();
  }
  // Of everything and of one: Esc leads from the one back.
  expect(await page.evaluate('location.hash')).toContain('view=changes.loupe.compare');
  await press('Escape', 'Escape', 'Escape');
  await page.getByRole('main', { name: 'Before | after', exact: true }).waitFor();
  await press('g');
  await page.getByRole('main', { name: 'Grid' }).waitFor();
});

test('a link opens the same; back and forward lead through views and filters, not through what was active', async () => {
  const { page, follow, press, isActive } = await openGallery(browser, galleryData(90), '#view=grid');
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'task' }).selectOption('hero');
  await page.getByText('30 of 90 steps').waitFor();
  await page.getByRole('combobox', { name: 'state' }).selectOption('failed');
  await page.getByText('2 of 90 steps').waitFor();
  await press('ArrowRight');
  await page.getByRole('button', { name: 'Groups' }).click();
  const hash = String(await page.evaluate('location.hash'));
  await page.goBack();
  await page.getByRole('main', { name: 'Grid' }).waitFor();
  await page.getByText('2 of 90 steps').waitFor();
  await page.goBack();
  await page.getByText('30 of 90 steps').waitFor();
  await page.goForward();
  await page.getByText('2 of 90 steps').waitFor();

  await follow(hash);
  await page.getByRole('main', { name: 'Groups' }).waitFor();
  expect(await page.locator('main [data-address]').count()).toBe(2);
  await follow('#view=grid&active=hero%40p0007%2Ccold&details=yes');
  await isActive('hero@p0007,cold');
  await page
    .getByRole('complementary', { name: 'Details' })
    .getByRole('heading', { name: 'hero@p0007,cold' })
    .waitFor();
  await follow('#view=nonsense.loupe&task=no&active=nobody');
  await page.getByText('No output passes the filters.').waitFor();
});

test('filters by tag and verdict; a search finds prompts, rows and errors', async () => {
  const { page } = await openGallery(browser, galleryData(90), '#view=grid');
  await page.getByRole('button', { name: 'Filters' }).click();
  const shows = async (name: string, value: string, words: string) => {
    await page.getByRole('combobox', { name }).selectOption(value);
    await page.getByText(words).waitFor();
    await page.getByRole('button', { name: 'Show everything' }).click();
  };
  await shows('tag', 'launch', '36 of 90 steps');
  await shows('verdict', 'picked', '5 of 90 steps');
  for (const [words, found] of [
    ['product 7 oak', '4 of 90'],
    ['p0003', '9 of 90'],
    ['timed out', '3 of 90'],
  ] as const) {
    await page.getByRole('searchbox').fill(words);
    await page.getByText(`${found} steps`).waitFor();
  }
});

test('details: where values come from, and pictures that lead on', async () => {
  const { page, press, isActive } = await openGallery(
    browser,
    galleryData(90),
    '#view=grid&active=hero%40p0001%2Cwarm',
  );
  await isActive('hero@p0001,warm');
  await press('i');
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByText('campaign.yaml:14, name of products.csv:2').waitFor();
  expect(await details.locator('.known').first().textContent()).toMatch(/Charged6 credits/);
  await details.getByText('Expected').waitFor();
  await details.locator('.steps').first().getByRole('button').click();
  await isActive('draft@p0001,take:2');
  await details.locator('.steps').getByRole('button', { name: 'hero@p0001,warm' }).click();
  await isActive('hero@p0001,warm');
});

test('before and after: what changed, and what was not there before', async () => {
  const { page, press } = await openGallery(browser, galleryData(90), '#view=changes&active=hero%40p0002%2Ccold');
  await page.getByText('2 of 21 changed outputs').waitFor();
  const words = page.getByRole('region', { name: 'What changed' });
  expect(await words.locator('dt').allTextContents()).toContain('prompt');
  await press('ArrowDown');
  await page.getByText('3 of 21 changed outputs').waitFor();
  // What was not there at the reference has nothing beside it.
  await press(...Array.from({ length: 4 }, () => 'ArrowDown'));
  await page.getByText('The step did not exist at main.').waitFor();
});

test('on paper there is everything that the filters show, and not the page', async () => {
  const { page } = await openGallery(browser, galleryData(900), '#task=hero');
  const task = page.getByRole('combobox', { name: 'task' });
  await page.getByRole('button', { name: 'Grid', exact: true }).click();
  await page.getByRole('button', { name: 'Filters' }).click();
  await task.selectOption('');
  await page.getByLabel('Picked only').check();
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await page.locator('#sheet figure:not(.picked)').count()).toBe(0);
  expect(await page.locator('#sheet figure.picked').count()).toBeGreaterThan(0);
  await page.getByLabel('Picked only').uncheck();
  await task.selectOption('hero');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await page.locator('#sheet figure').count()).toBe(300);
  expect(await page.locator('#app').isVisible()).toBe(false);
  expect(await page.locator('#sheet figure').first().textContent()).toContain('hero@p0001,warm');
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  expect(await page.locator('#sheet').count()).toBe(0);
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  expect((pdf.match(/\/Type\s*\/Page\b/g) ?? []).length).toBeGreaterThan(10);
});

test.skipIf(!hasAxe)('axe finds nothing in any view (MEDIABATCH_AXE says where axe.min.js is)', async () => {
  const { page } = await openGallery(browser, galleryData(90));
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of views) {
        await page.getByRole('button', { name, exact: true }).click();
        await page.getByRole('main', { name, exact: true }).waitFor();
        expect(await axeFindings(page), `${colorScheme} ${width} ${name}`).toEqual([]);
      }
      await page.keyboard.press('i');
      expect(await axeFindings(page), `${colorScheme} ${width} details`).toEqual([]);
      await page.keyboard.press('i');
    }
  }
});
