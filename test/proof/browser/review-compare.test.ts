import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign as campaignOf, file, products } from '../../rig/review/campaign.ts';
import { openReview, openServed, serveCampaign } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();
const campaign = await serveCampaign(`version: 1
name: pairs
tasks:
  hero: { kind: image, foreach: [lamp, rug, vase], key: "{{row}}", takes: 4, gate: { choose: 1 }, with: { resolution: 1k, prompt: "{{row}}" } }
  clip: { kind: video, takes: 2, gate: { choose: 1 }, with: { prompt: a lamp turns } }
`);

/** Where the pictures of both sides lie in their panes. */
const places = (page: Page) =>
  page.evaluate<string[]>(
    "[...document.querySelectorAll('.zoomed-media')].map(({ style }) => style.transform + ' ' + style.width)",
  );
const arePlaced = (page: Page) =>
  expect.poll(async () => (await places(page)).filter((place) => place.trim() !== '').length).toBe(2);
const sides = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('.pane')].map(({ dataset }) => dataset.address)");
const wheel = async (page: Page, delta: number) => {
  await page.locator('.pane.left .zoomed').hover();
  await page.mouse.wheel(0, delta);
};

test('zoom and pan move both, and all of it by keys too', async () => {
  const { page, press } = await openServed(browser, campaign);
  await press('c');
  await arePlaced(page);
  const [whole] = await places(page);
  await wheel(page, -300);
  await expect.poll(async () => (await places(page))[0]).not.toBe(whole);
  const [left, right] = await places(page);
  expect(right).toBe(left);
  await page.mouse.down();
  await page.mouse.move(200, 300, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await places(page))[1]).not.toBe(right);
  const [dragged, followed] = await places(page);
  expect(followed).toBe(dragged);

  await press('Shift+ArrowDown');
  await expect.poll(async () => (await places(page))[0]).not.toBe(dragged);
  await press('0');
  expect(await places(page)).toEqual([whole, whole]);
  await press('z');
  await page.locator('output').getByText('1:1').waitFor();
  const [exact] = await places(page);
  expect(exact).toContain(' 1024px');
  await page.getByRole('button', { name: 'Whole' }).click();
  expect(await places(page)).toEqual([whole, whole]);
});

test('a verdict is about the active side alone; then the next one comes in against the one that stays', async () => {
  const { page, press, isActive, data } = await openServed(browser, campaign);
  await press('c');
  await isActive('hero@lamp/1');
  expect(await sides(page)).toEqual(['hero@lamp/1', 'hero@lamp/2']);
  await press('ArrowRight');
  await isActive('hero@lamp/2');
  await press('x');
  await isActive('hero@lamp/3');
  expect(await sides(page)).toEqual(['hero@lamp/1', 'hero@lamp/3']);
  await press('ArrowDown');
  await isActive('hero@lamp/4');
  await press('ArrowUp', 'o');
  await isActive('hero@lamp/1');
  await press('p');
  await isActive('hero@rug/1');
  expect(await sides(page)).toEqual(['hero@rug/1', 'hero@rug/2']);
  await expect
    .poll(async () => (await data()).assets.flatMap(({ address, verdict }) => (verdict ? [[address, verdict.is]] : [])))
    .toEqual([
      ['hero@lamp/1', 'picked'],
      ['hero@lamp/2', 'rejected'],
    ]);

  // What is picked stays on the left when somebody looks again.
  await press('Escape', '[', 'ArrowRight', 'ArrowRight', 'c');
  await isActive('hero@lamp/3');
  expect(await sides(page)).toEqual(['hero@lamp/1', 'hero@lamp/3']);
});

test('wipe and blink show the same place', async () => {
  const { page, press, isActive } = await openServed(browser, campaign);
  await press(']', 'c');
  await arePlaced(page);
  await wheel(page, -300);
  await press('w');
  await arePlaced(page);
  const clips = () =>
    page.evaluate<string[]>("[...document.querySelectorAll('.pane-picture')].map(({ style }) => style.clipPath)");
  expect(await clips()).toEqual(['inset(0px 50% 0px 0px)', 'inset(0px 0px 0px 50%)']);
  await press('ArrowLeft', 'ArrowLeft');
  expect(await clips()).toEqual(['inset(0px 60% 0px 0px)', 'inset(0px 0px 0px 40%)']);
  const panes = await page.locator('.panes').boundingBox();
  const x = (part: number) => (panes?.x ?? 0) + (panes?.width ?? 0) * part;
  const y = (panes?.y ?? 0) + 100;
  await page.mouse.move(x(0.4) + 6, y);
  await page.mouse.down();
  await page.mouse.move(x(0.5), y);
  await page.mouse.move(x(0.75), y);
  await page.mouse.up();
  await page.mouse.move(x(0.2), y);
  expect((await clips())[0]).toMatch(/^inset\(0px 25(?:\.\d+)?% /);
  await page.mouse.click(x(0.3), y);
  expect((await clips())[0]).toMatch(/^inset\(0px (?:70|69\.9|70\.)\d*% /);
  // A drag beside the line pans the picture.
  await page.mouse.move(x(0.1), y);
  await page.mouse.down();
  await page.mouse.move(x(0.2), y);
  await page.mouse.up();
  expect((await clips())[0]).toMatch(/^inset\(0px (?:70|69\.9|70\.)\d*% /);

  await press('b');
  const seen = () =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('.pane')].filter((pane) => getComputedStyle(pane.querySelector('.pane-picture')).visibility === 'visible').map(({ dataset }) => dataset.address)",
    );
  const [left, right] = await sides(page);
  expect(await seen()).toEqual([left]);
  await press('b');
  expect(await seen()).toEqual([right]);
  await isActive(right ?? '');
  const [first, second] = await places(page);
  expect(second).toBe(first);

  // Held, it changes once: flashes harm some people.
  const [held] = await seen();
  await page.keyboard.down('b');
  await page.keyboard.down('b');
  await page.keyboard.down('b');
  await page.keyboard.up('b');
  expect(await seen()).toEqual([held === left ? right : left]);
  await press('c');
  expect(await seen()).toHaveLength(2);
});

test('what cannot be seen says why, and what stands alone says so', async () => {
  const missing = file(2, 'image', { path: 'images/gone.png', problem: 'missing' });
  const { page, press } = await openReview(
    browser,
    campaignOf([
      {
        name: 'hero',
        assets: [
          asset('hero/1', { files: [file(1, 'image', { path: 'broken' })] }),
          asset('hero/2', { files: [missing] }),
          asset('hero/3', { state: 'failed', error: 'refused by moderation', isJudged: false }),
        ],
      },
      { name: 'poster', assets: [asset('poster', { files: [file(3)] })], options: { is: 'approve' } },
    ]),
  );
  await press('c');
  const [left, right] = [page.locator('.pane.left'), page.locator('.pane.right')];
  await left.getByText('This browser cannot read broken').waitFor();
  await right.getByText('images/gone.png is not on this disk').waitFor();
  await press('o', 'ArrowDown');
  await right.getByText('failed: refused by moderation').waitFor();
  await press(']');
  await page
    .getByText('There is nothing to compare it with: poster has one output, and is made from no picture.')
    .waitFor();
  expect(await page.getByRole('button', { name: 'Wipe' }).count()).toBe(0);
});

test('until a picture is there the small one stands in its place, once and whole', async () => {
  const { page, host, press } = await openReview(browser, products(2, 2));
  const shown = '.on-stage:not([hidden]) .zoomed, .pane .zoomed';
  let send = () => {};
  host.media = new Promise((resolve) => {
    send = resolve;
  });
  for (const key of ['Enter', 'c']) {
    await press(key);
    await page.locator(shown).first().waitFor();
    const style = await page.evaluate(`(() => {
      const { backgroundRepeat, backgroundSize, backgroundImage } = getComputedStyle(document.querySelector('${shown}'));
      return [backgroundRepeat, backgroundSize, backgroundImage.includes('thumb/')];
    })()`);
    expect(style).toEqual(['no-repeat', 'contain', true]);
  }
  send();
  await page.locator('.pane .zoomed-media:not(.unknown)').first().waitFor();
});

test('the space bar plays the film that is active, and pauses it', async () => {
  const { page, press } = await openServed(browser, campaign);
  await page.locator('[data-asset="clip/1"]').click();
  const isPaused = () => page.evaluate("document.querySelector('.active video').paused");
  await expect.poll(() => page.locator('.active .film-length').textContent()).toMatch(/^▶ 0:/);
  await press(' ');
  await expect.poll(isPaused).toBe(false);
  await press(' ');
  await expect.poll(isPaused).toBe(true);
});
