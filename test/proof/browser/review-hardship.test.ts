import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';
import { drawPng } from '../../rig/review/png.ts';
import { servedHost } from '../../rooms/review/memory-host.ts';

const browser = await chromiumOfFile();

const picture = drawPng(64, 48, 40);

async function serve() {
  const names = ['a.png', 'b.png', 'c.png'];
  return servedHost(names.map((path) => ({ path, bytes: picture, mediaType: 'image/png' })));
}

async function open(url: string): Promise<Page> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(url);
  await page.locator('.active[data-address]').waitFor();
  return page;
}

test('a store with things of others in it opens the page, and sends none of them', async () => {
  const { host, running } = await serve();
  const page = await open(running.url);
  const prefix = `mediabatch verdict ${JSON.stringify(['a <b> & "c"', 'campaign.yaml'])} `;
  const own = { address: 'pic/1', job: 'job-0', is: 'picked' };
  const kept = [null, 5, 'text', [], {}, { ...own, is: 'liked' }, { ...own, job: 7 }, { is: 'picked' }, own];
  const whole = { address: 'pic/2', job: 'job-1', is: 'picked', note: 'a\tb', more: 1 };
  const store = Object.fromEntries([
    ...kept.map((one, index) => [`${prefix}${index}`, JSON.stringify(one)]),
    [`${prefix}["pic/2","job-1"]`, JSON.stringify(whole)],
  ]);
  await page.evaluate(`Object.assign(localStorage, ${JSON.stringify(store)})`);
  await page.reload();
  await page.locator('.active[data-address]').waitFor();
  // What was decided long ago does not come back unsaid.
  await page.locator('.said').getByText('1 verdict from your last visit: recorded now.').waitFor();
  await expect.poll(() => host.judged).toEqual([[{ address: 'pic/2', is: 'picked', job: 'job-1', note: 'a b' }]]);
  await expect.poll(() => page.evaluate('localStorage.length')).toBe(0);
});

test('tabs that are not seen leave the connections of the browser to the one that is', async () => {
  const { host, running } = await serve();
  for (let count = 0; count < 8; count += 1) {
    const page = await open(running.url);
    await see(page, 'hidden');
  }
  const page = await open(running.url);
  await page.keyboard.press('1');
  await expect.poll(() => host.judged.flat().length).toBe(1);
  // Back in sight it shows what has changed since.
  await see(page, 'hidden');
  const look = host.read.bind(host);
  host.read = async () => ({ ...(await look()), run: { is: 'running', text: 'gone on' } });
  host.change();
  await see(page, 'visible');
  await page.getByText('gone on').waitFor();
});

/** As a browser says it of a tab behind another one. */
function see(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  return page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

test('the keyboard is where the active asset is, also where its row comes into the page after the view', async () => {
  const { page, press, isActive } = await openReview(browser, products(60, 3));
  const focused = () => page.evaluate('document.activeElement.getAttribute("data-asset")');
  await press(...Array.from({ length: 55 }, () => ']'));
  const far = 'hero@p056,take:1';
  await isActive(far);
  await expect.poll(focused).toBe(far);
  for (const key of ['m', 'Escape', 'Enter', 'Escape', 's', 'Escape']) {
    await press(key);
    await expect.poll(focused, { message: key }).toBe(far);
  }
  await press('/');
  await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search');
  await page.keyboard.type('p05');
  await press('Escape');
  await expect.poll(focused).toBe(far);
});
