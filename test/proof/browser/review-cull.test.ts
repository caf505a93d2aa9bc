import { expect, onTestFinished, test } from 'vitest';
import type { ReviewData, ReviewHost } from '../../../src/contract/review.ts';
import { serveReview } from '../../../src/review/serve/serve-review.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { makeFolder } from '../../rig/folder.ts';
import { asset, campaign, file, products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

const at = (group: number, take: number) => `hero@p00${group},take:${take}`;

test('a filmstrip stands under the loupe: what a digit means is seen, and a press leads there', async () => {
  const { page, press, isActive } = await openReview(browser, products(2, 4));
  await press('Enter');
  const strip = page.locator('.loupe .filmstrip button');
  await expect.poll(() => strip.allTextContents()).toEqual(['1 take 1', '2 take 2', '3 take 3', '4 take 4']);
  expect(await strip.nth(0).getAttribute('aria-pressed')).toBe('true');
  await strip.nth(2).click();
  await isActive(at(1, 3));
  await press('x', '[');
  expect(await strip.nth(2).textContent()).toBe('3 take 3 · rejected');
});

test('a note is part of a verdict: without one it is refused, and a press elsewhere keeps what was typed', async () => {
  const { page, press, host, isActive } = await openReview(browser, products(2, 3));
  await press('n');
  await page.locator('.said').getByText('Pick or reject the output first: a note is part of a verdict.').waitFor();
  expect(await page.locator('.note').count()).toBe(0);
  await press('x');
  await isActive(at(1, 2));
  await press('n');
  expect(await page.locator('.note').count()).toBe(0);
  await press('ArrowLeft', 'n');
  await page.keyboard.type('the hand is too small');
  await page.locator(`[data-asset="${at(1, 3)}"]`).click();
  await expect.poll(() => host.data.assets[0]?.verdict).toEqual({ is: 'rejected', note: 'the hand is too small' });
  expect(await page.locator('.note').count()).toBe(0);
});

test('Shift and a digit reject for a reason that the gate names; a slash is a slash, however it is typed', async () => {
  const assets = [1, 2, 3].map((take) => asset(`hero@a,take:${take}`, { take, files: [file(take)] }));
  const options = { reasons: ['hands', 'text in the picture'] };
  const { page, host, press, isActive } = await openReview(browser, campaign([{ name: 'hero@a', assets, options }]));
  await press('Shift+Digit2');
  await isActive('hero@a,take:2');
  await press('Shift+Digit3');
  await page.getByText('There is no reason 3 here').waitFor();
  await page.getByRole('button', { name: 'Reject: hands' }).click();
  await expect
    .poll(() => host.data.assets.map(({ verdict }) => verdict?.reason))
    .toEqual(['text in the picture', 'hands', undefined]);
  await page.locator('[data-address="hero@a,take:1"] .facts').getByText('text in the picture').waitFor();
  await page.evaluate(
    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', code: 'Digit7', shiftKey: true, bubbles: true }))",
  );
  expect(await page.evaluate('document.activeElement.id')).toBe('search');
});

// The browser may report a focus late, which makes the take before active again.
test('a finger leads to the next take, unless it moves a picture that is larger', { retry: 2 }, async () => {
  const { page, press, isActive } = await openReview(browser, products(2, 3));
  await press('Enter');
  await page.locator('.loupe').waitFor();
  const swipe = (to: number) =>
    page.evaluate(`for (const [type, x] of [['pointerdown', 300], ['pointerup', ${to}]])
      document.querySelector('.loupe .stage').dispatchEvent(
        new PointerEvent(type, { pointerType: 'touch', clientX: x, clientY: 200, bubbles: true }))`);
  await swipe(200);
  await isActive(at(1, 2));
  await swipe(290);
  await isActive(at(1, 2));
  await swipe(400);
  await isActive(at(1, 1));
  await press('+');
  await swipe(200);
  await isActive(at(1, 1));
});

test('where all are rejected, others are offered with their price and the command', async () => {
  const { page, press } = await openReview(browser, products(1, 2));
  await press('x', 'x');
  const others = page.getByRole('button', { name: 'Copy the command for 2 replacements, ≈ 4 credits' });
  await others.waitFor();
  expect(await others.getAttribute('title')).toBe('mediabatch apply campaign.yaml --redo hero@p001');
  await others.click();
  await page
    .locator('.said')
    .getByText(/^Copied|^Copy this command/)
    .waitFor();
});

test('a page of an earlier start on the same port says that it was started again, and keeps what is decided', async () => {
  const folder = makeFolder();
  const data: ReviewData = products(2, 2);
  const noted: string[] = [];
  const host: ReviewHost = {
    read: async () => data,
    judge: async (verdicts) => {
      noted.push(...verdicts.map(({ address }) => address));
      return { is: 'recorded', revision: 1, refused: [] };
    },
    watch: () => () => undefined,
    find: () => undefined,
  };
  const serve = (port: number) => serveReview(host, { port, state: folder, paste: () => '', onError: () => undefined });
  const first = await serve(0);
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(first.url);
  await page.locator('.active[data-address]').waitFor();
  await first.close();
  const second = await serve(Number(new URL(first.url).port));
  onTestFinished(() => second.close());
  await page.keyboard.press('2');
  await page.locator('.unsent').getByText('1 verdict waits in this page: mediabatch was started again').waitFor();
  // At the new address it is recorded: the browser keeps it by port.
  await page.goto(second.url);
  await expect.poll(() => noted).toEqual([at(1, 2)]);
});
