import { existsSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firefox } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import type { ReviewData } from '../../../src/contract/review.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';
import { galleryData, openGallery } from '../../rig/review/gallery.ts';

const browser = await chromiumOfFile();

const views = ['grid', 'groups', 'matrix', 'changes'];

test('a campaign without steps, and one without anything to tell, open', async () => {
  const empty: ReviewData = { ...campaign([]), canDecide: false, report: { made: 0 } };
  const { page } = await openGallery(browser, empty);
  await page.getByText('The campaign has no steps.').waitFor();
  const bare = { ...campaign([{ name: 'a', assets: [asset('a')], options: { isFree: true } }]), canDecide: false };
  const other = await openGallery(browser, { ...bare, report: { made: 0 } });
  const names = (row: string) =>
    other.page.getByRole('navigation', { name: row }).getByRole('button').allTextContents();
  expect(await names('Views')).toEqual(['Grid', 'Groups', 'Matrix']);
  expect(await names('Sizes')).toEqual(['Loupe', 'Compare']);
  // Where nothing is to be decided, nobody is asked for a name.
  expect(await other.page.getByRole('button', { name: 'Save picks.json' }).count()).toBe(0);
  for (const name of [/^Pick/, /^Undecide/, /^Next undecided/])
    expect(await other.page.getByRole('button', { name }).count()).toBe(0);
});

test('what is missing, damaged, empty or no picture shows as what it is', async () => {
  const assets = [
    asset('gone', { files: [file(1)] }),
    asset('empty', { files: [file(2)] }),
    asset('foreign', { files: [file(3)] }),
    asset('lost', { files: [{ ...file(4), problem: 'missing' }] }),
    asset('damaged', { files: [{ ...file(5), problem: 'damaged' }] }),
    asset('json', { files: [file(6, 'other')] }),
    asset('silent', { kind: 'speech', files: [file(7, 'audio')] }),
    asset('failed', { state: 'failed', error: 'refused', files: [] }),
  ].map((one) => ({ ...one, isJudged: false }));
  const data = campaign(assets.map((one) => ({ name: one.address, assets: [one], options: { isFree: true } })));
  const gallery = await openGallery(browser, { ...data, canDecide: false, report: { made: 0 } });
  for (const kind of ['thumb', 'media']) {
    unlinkSync(join(gallery.folder, kind, '1.png'));
    truncateSync(join(gallery.folder, kind, '2.png'));
    writeFileSync(join(gallery.folder, kind, '3.png'), '<svg onload="alert(1)">');
  }
  gallery.expectTrouble(/ERR_FILE_NOT_FOUND/);
  await gallery.page.setViewportSize({ width: 1280, height: 2600 });
  await gallery.follow('#view=grid');
  const words = (address: string) => gallery.page.locator(`[data-address="${address}"] .words`);
  for (const address of ['gone', 'empty', 'foreign']) await words(address).getByText('cannot read').waitFor();
  expect(await words('lost').textContent()).toBe('image/4 is not on this disk');
  expect(await words('damaged').textContent()).toBe('image/5 has changed since it was saved');
  expect(await words('json').textContent()).toBe('other/6');
  expect(await words('failed').textContent()).toBe('failed: refused');
  await gallery.follow('#view=loupe&active=gone');
  await gallery.page.locator('main .words').getByText('cannot read').first().waitFor();
});

test('names and prompts of all scripts, and with markup in them, are only words in every view', async () => {
  const nasty = [
    '</script><img src=x onerror=alert(1)>',
    'a\'b"c#?%&',
    'लैम्प',
    'مصباح',
    '灯🪔',
    '\u202edrow',
    'x'.repeat(300),
  ];
  const plain = galleryData(nasty.length);
  const names = new Map(
    plain.assets.map(({ address }, index) => [address, `hero@${nasty[index % nasty.length]},${index}`]),
  );
  const rename = (text: string) => names.get(text) ?? text;
  const data: ReviewData = {
    ...plain,
    campaign: nasty[0] ?? '',
    groups: plain.groups.map((group) => ({ ...group, name: rename(group.name) })),
    assets: plain.assets.map((one, index) => ({
      ...one,
      ...{ address: rename(one.address), task: nasty[index % 3] ?? '', key: nasty[index % nasty.length] ?? '' },
      ...{ tags: nasty, request: { prompt: nasty.join(' ') }, madeFrom: [], usedBy: [] },
      ...(index % 2 === 1 && { state: 'failed', error: nasty[0] ?? '' }),
    })),
    report: {
      ...plain.report,
      made: 0,
      compare: { ref: nasty[0] ?? '', commit: '</style>' },
    },
  };
  const { page, follow } = await openGallery(browser, data);
  for (const view of views) {
    await follow(`#view=${view}&details=yes`);
    expect(await page.locator('#app img[onerror], #app script, #app [onload]').count(), view).toBe(0);
    const wide = `[...document.querySelectorAll('#app *')].filter((one) => document.documentElement.scrollWidth > innerWidth && one.getBoundingClientRect().right > innerWidth).map((one) => one.tagName + '.' + one.className + one.textContent.slice(0,40))`;
    expect(await page.evaluate(wide), view).toEqual([]);
  }
  // A link can be from anybody.
  await follow(
    `#view=${encodeURIComponent('<b>')}&task=${encodeURIComponent(nasty[0] ?? '')}&search=${'x'.repeat(5000)}`,
  );
});

test('of ten thousand assets no view has more than 120 in the page, but for whole rows of a wide matrix', async () => {
  const { page, follow, press, isActive } = await openGallery(browser, galleryData(10_000));
  const cards = () => page.locator('.box').count();
  for (const width of [320, 1280, 2560]) {
    await page.setViewportSize({ width, height: Math.max(640, width / 1.6) });
    for (const [view, scroller] of [
      ['grid', '.groups'],
      ['matrix', '.matrix-scroller'],
    ] as const) {
      await follow(`#view=${view}`);
      for (const part of [0, 0.5, 1]) {
        await page.locator(scroller).evaluate(`(one) => { one.scrollTop = one.scrollHeight * ${part}; }`);
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        expect(await cards(), `${view} ${width} ${part}`).toBeLessThanOrEqual(view === 'matrix' ? 200 : 120);
      }
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${view} ${width}`).toBe(true);
    }
  }
  await follow('#view=grid&active=clip%40p1000');
  await isActive('clip@p1000');
  await press('ArrowRight');
  await isActive('clip@p1001');
  const cdp = await browser.newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  await cdp.send('Performance.enable');
  const { metrics } = await cdp.send('Performance.getMetrics');
  expect(metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value).toBeLessThan(60e6);
});

test('a scrolled frame makes few cards anew, and lays out few times', async () => {
  const { page, follow } = await openGallery(browser, galleryData(2000));
  await follow('#view=grid');
  const cdp = await browser.newCDPSession(page);
  await cdp.send('Performance.enable');
  const layouts = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'LayoutCount')?.value ?? Number.NaN;
  };
  await page.locator('.groups .box').first().waitFor();
  const before = await layouts();
  const made = await page.evaluate<number>(`new Promise((done) => {
    const scroller = document.querySelector('.groups');
    let [frames, made] = [0, 0];
    const seen = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) made += node.querySelectorAll?.('.box').length ?? 0;
    });
    seen.observe(scroller, { childList: true, subtree: true });
    const go = () => {
      scroller.scrollTop += 120;
      frames += 1;
      if (frames < 100) requestAnimationFrame(go);
      else done(made);
    };
    requestAnimationFrame(go);
  })`);
  expect(made).toBeGreaterThan(100);
  expect(made).toBeLessThanOrEqual(600);
  expect((await layouts()) - before).toBeLessThanOrEqual(500);
});

const firefoxPath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
test.skipIf(!existsSync(firefoxPath))(
  'in Firefox every view opens from disk, too (FIREFOX says where it is)',
  async () => {
    const other = await firefox.launch({ channel: 'moz-firefox', executablePath: firefoxPath });
    onTestFinished(() => other.close());
    const { page, follow } = await openGallery(other, galleryData(90));
    for (const view of [...views, 'grid.loupe', 'grid.compare']) {
      await follow(`#view=${view}`);
      const pictures =
        'Promise.all([...document.images].filter((one) => one.loading !== "lazy").map((one) => one.decode())).then(() => true)';
      expect(await page.evaluate(pictures), view).toBe(true);
    }
  },
);
