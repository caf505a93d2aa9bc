import { expect, test } from 'vitest';
import type { ReviewAsset, ReviewGroup } from '../../../src/contract/review.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign, file, products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

test('nothing is cut off at 320 px, in groups, loupe and compare', async () => {
  const data = products(3, 4);
  // A button for each reason, with words that are only heard.
  const reasons = ['hands', 'text', 'colour', 'light', 'edges'];
  data.groups = data.groups.map(
    (group) => ({ ...group, gate: group.gate && { ...group.gate, reasons } }) as ReviewGroup,
  );
  const { page, press } = await openReview(browser, data);
  await page.setViewportSize({ width: 320, height: 640 });
  for (const key of ['', 'Enter', 'c']) {
    if (key !== '') await press(key);
    await page.waitForTimeout(200);
    expect(await page.evaluate('document.documentElement.scrollWidth'), key).toBeLessThanOrEqual(320);
  }
});

test.each([1440, 1024, 390])(
  'opens at the head of the first undecided group, whose price is whole at %i px',
  async (width) => {
    const data = products(6, 3);
    const title = 'The old kitchen of the harbour restaurant, seen from the door of the yard';
    const gate = { waiting: 1, waitingWhat: 'film', waitingCredits: 12, note: 'calm light, and whole hands' };
    data.groups = data.groups.map(
      (group, index) =>
        ({ ...group, title, gate: { ...group.gate, ...gate, state: index < 2 ? 'decided' : 'open' } }) as ReviewGroup,
    );
    data.assets = data.assets.map((one) => ({ ...one, request: { prompt: 'a kitchen' } }));
    for (const one of [0, 3]) data.assets[one] = { ...data.assets[one], verdict: { is: 'picked' } } as ReviewAsset;
    const { page, isActive } = await openReview(browser, data);
    await page.setViewportSize({ width, height: 844 });
    await page.reload();
    await isActive('hero@p003,take:1');
    const head = page.locator('.has-active .head-line');
    const top = (await page.locator('.groups').boundingBox())?.y ?? 0;
    await expect.poll(async () => (await head.boundingBox())?.y).toBeLessThan(top + 20);
    const price = head.getByText('then 1 film, 12 credits');
    const [own, outer] = [await price.boundingBox(), await head.boundingBox()];
    expect(own?.width).toBeGreaterThan(100);
    expect((own?.x ?? 0) + (own?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0));
    expect((own?.y ?? 0) + (own?.height ?? 0)).toBeLessThanOrEqual((outer?.y ?? 0) + (outer?.height ?? 0) + 1);
  },
);

test('no name of a view is broken within a word at 390 px, with all five of them', async () => {
  const data = products(1, 2);
  data.assets = data.assets.map((one) => ({ ...one, earlier: [{ changed: [], request: {}, files: [file(9)] }] }));
  const { page } = await openReview(browser, data);
  await page.setViewportSize({ width: 390, height: 844 });
  const heights = await page.locator('.views button').evaluateAll((all) => all.map(({ scrollHeight }) => scrollHeight));
  expect(heights.length).toBe(5);
  expect(Math.max(...heights)).toBeLessThan(40);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
});

test('on a phone the loupe gives the picture three quarters of the height, and heads and buttons are whole', async () => {
  const data = products(3, 4);
  const reasons = ['too dark', 'wrong product'];
  data.groups = data.groups.map(
    (group) =>
      ({ ...group, title: 'Table lamp Aurora', gate: group.gate && { ...group.gate, reasons } }) as ReviewGroup,
  );
  const { page, press } = await openReview(browser, data);
  await page.setViewportSize({ width: 390, height: 844 });
  const heights = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  const isWhole =
    "(() => { const { clientWidth, scrollWidth } = document.querySelector('.group-head h2'); return scrollWidth <= clientWidth; })()";
  expect(await page.evaluate(isWhole)).toBe(true);
  await page.getByRole('button', { name: 'More' }).click();
  expect(Math.max(...(await heights('.bar button')))).toBeLessThan(60);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('searchbox', { name: 'Search' }).waitFor();
  await page.getByRole('button', { name: 'Filters' }).click();
  await press('Enter');
  const [stage = 0] = await heights('.stage');
  expect(stage / 844).toBeGreaterThanOrEqual(0.75);
});

test('what is active is in sight, in groups, a matrix and among sounds of more than a screen', async () => {
  const takes = (name: string, media: 'image' | 'audio') => ({
    name,
    assets: Array.from({ length: 20 }, (_, index) => asset(`${name}/${index + 1}`, { files: [file(index, media)] })),
  });
  const { page, press, isActive } = await openReview(
    browser,
    campaign([takes('hero', 'image'), takes('song', 'audio')]),
  );
  await page.setViewportSize({ width: 800, height: 500 });
  const isInSight = (address: string) =>
    expect
      .poll(() =>
        page.evaluate(`(() => {
          const [one, view] = ['.active[data-address="${address}"]', 'main'].map((name) =>
            document.querySelector(name)?.getBoundingClientRect());
          return one !== undefined && one.top >= view.top && one.bottom <= view.bottom && one.left >= 0 && one.right <= innerWidth;
        })()`),
      )
      .toBe(true);
  for (let n = 0; n < 15; n += 1) await press('ArrowRight');
  await isActive('hero/16');
  await isInSight('hero/16');
  await press('m');
  for (let n = 0; n < 4; n += 1) {
    await press('ArrowRight');
    await isInSight(`hero/${17 + n}`);
  }
  await press(']', 'Enter');
  for (let n = 0; n < 3; n += 1) await press('ArrowUp');
  await isActive('song/17');
  await isInSight('song/17');
});

test('the header keeps its height, whatever is said in it', async () => {
  const { page, host } = await openReview(browser, products(12, 2));
  await page.setViewportSize({ width: 1440, height: 800 });
  const height = async () => (await page.locator('.top').boundingBox())?.height;
  const before = await height();
  const text = '8 of 12 done, 4 waiting for a pick; 2 gates to decide, and each lets it go on, as far as was agreed to';
  host.change((data) => ({
    ...data,
    run: { is: 'waiting', text },
    next: { text: 'a hint that is long, too, about what can be bought', command: 'mediabatch apply with a long path' },
  }));
  await page.getByText('8 of 12 done').waitFor();
  expect(await height()).toBe(before);
});

test('digits are the numbers of takes, for pictures and sounds alike', async () => {
  const takes = (name: string, media: 'image' | 'audio') => ({
    name,
    assets: [1, 2, 3].map((take) =>
      take < 3 && media === 'audio'
        ? asset(`${name},take:${take}`, { take, state: 'failed', error: 'no voice', isJudged: false })
        : asset(`${name},take:${take}`, { take, files: [file(take + (media === 'audio' ? 10 : 0), media)] }),
    ),
  });
  const data = campaign([takes('hero@a', 'image'), takes('voice@b', 'audio')]);
  const [first, ...others] = data.groups;
  // A filter, or a take that was taken out, leaves the others their numbers.
  const { page, press, isActive } = await openReview(browser, {
    ...data,
    groups: first === undefined ? [] : [{ ...first, members: first.members.slice(1) }, ...others],
  });
  await press('3');
  await page.locator('.said').getByText('Picked hero@a,take:3').waitFor();
  await isActive('voice@b,take:3');
  await press('3');
  await press('1');
  await page.locator('.said').getByText('There is no sound 1 in this group. Sounds of the group: 3.').waitFor();
});

test('a picture that did not come while the connection was gone is asked for again', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(30, 4));
  expectTrouble();
  host.mode = 'down';
  host.disconnect();
  for (let n = 0; n < 14; n += 1) await press(']');
  await page.getByText('waits for mediabatch').first().waitFor();
  host.mode = 'open';
  await expect.poll(() => page.getByText('waits for mediabatch').count(), { timeout: 20_000 }).toBe(0);
  await page.locator('[data-address="hero@p015,take:1"] img').waitFor();
});

test('a tile has the shape of its picture, its digit and verdict on it, and buttons only where one works', async () => {
  const tall = (take: number) =>
    asset(`story@a,take:${take}`, { take, files: [file(take, 'image', { path: `tall-${take}` })] });
  const wide = (take: number) => asset(`hero@b,take:${take}`, { take, files: [file(10 + take)] });
  const { page, press } = await openReview(
    browser,
    campaign([
      {
        name: 'story@a',
        assets: [tall(1), tall(2), asset('story@a,take:3', { take: 3, credits: 7, files: [file(9)] })],
      },
      { name: 'hero@b', assets: [wide(1), wide(2)] },
    ]),
  );
  const shapeOf = async (address: string) => {
    const box = await page.locator(`[data-address="${address}"] .picture`).boundingBox();
    return (box?.width ?? 0) / (box?.height ?? 1);
  };
  await expect.poll(() => shapeOf('story@a,take:1')).toBeCloseTo(9 / 16, 1);
  await expect.poll(() => shapeOf('story@a,take:3')).toBeCloseTo(4 / 3, 1);
  expect(await shapeOf('hero@b,take:2')).toBeCloseTo(4 / 3, 1);
  const tile = (address: string) => page.locator(`.tile[data-address="${address}"]`);
  // What it cost is told where others of its group cost something else; its name is what sets it apart.
  expect(await tile('story@a,take:3').locator('.caption').textContent()).toMatch(/take 3\s*7 credits$/);
  expect(await tile('hero@b,take:1').locator('.caption').textContent()).toMatch(/take 1\s*$/);
  const seen = (address: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('.tile[data-address="${address}"] .verdicts')).opacity`);
  expect([await seen('story@a,take:1'), await seen('story@a,take:2')]).toEqual(['1', '0']);
  await tile('story@a,take:2').hover();
  expect(await seen('story@a,take:2')).toBe('1');
  await press('2');
  expect(await tile('story@a,take:2').locator('.picture .badges').textContent()).toMatch(/^2\s*✓ picked$/);
});
