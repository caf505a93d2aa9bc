import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openChromium } from '../../rig/chromium.ts';
import { asset, campaign, file, products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';

const { browser, close: closeBrowser } = await openChromium();
afterAll(closeBrowser);

const at = (group: number, take: number) => `hero@p00${group},take:${take}`;
const stored = 'Object.keys(localStorage).filter((name) => name.startsWith("mediabatch verdict")).length';

test('verdicts are shown at once and sent in batches, in order', async () => {
  const { page, host, press } = await openReview(browser, products(9, 2));
  await press('x', '2', '1', 'x', '2');
  expect(await page.locator('.counts').textContent()).toContain('3 of 9 groups decided');
  await expect.poll(() => host.batches.flat().length).toBe(5);
  expect(host.batches.length).toBeLessThan(4);
  expect(host.batches.flat().map(({ address, is }) => [address, is])).toEqual([
    [at(1, 1), 'rejected'],
    [at(1, 2), 'picked'],
    [at(2, 1), 'picked'],
    [at(3, 1), 'rejected'],
    [at(3, 2), 'picked'],
  ]);
  expect(host.batches[0]?.[0]).toEqual({ address: at(1, 1), is: 'rejected', job: `job-${at(1, 1)}` });
  await expect.poll(() => page.evaluate(stored)).toBe(0);
});

test('a pick of another take takes the place of the first, on the page and at the host', async () => {
  const { page, host, press, isActive } = await openReview(browser, products(2, 3));
  await press('1');
  await expect.poll(() => host.batches.length).toBe(1);
  await press('[', '3');
  await page
    .locator('.said')
    .getByText(`Picked ${at(1, 3)}, instead of ${at(1, 1)}.`)
    .waitFor();
  await expect.poll(() => page.locator('.tile.picked').count()).toBe(1);
  await expect
    .poll(() => host.data.assets.filter(({ verdict }) => verdict).map(({ address }) => address))
    .toEqual([at(1, 3)]);
  await isActive(at(1, 3));
  await press('Control+z');
  await isActive(at(1, 3));
  await expect
    .poll(() => host.data.assets.filter(({ verdict }) => verdict).map(({ address }) => address))
    .toEqual([at(1, 1)]);
});

test('what the host refuses is taken back with a word, and leads to where it was', async () => {
  const { page, host, press, isActive } = await openReview(browser, products(3, 2));
  host.refuses.set(at(1, 2), 'was bought anew meanwhile');
  await press('2', '1');
  await page
    .getByRole('alert')
    .getByText(`Taken back: ${at(1, 2)} was bought anew meanwhile.`)
    .waitFor();
  await page.getByText('1 of 3 groups decided').waitFor();
  expect(await page.locator(`[data-address="${at(1, 2)}"]`).getAttribute('class')).not.toContain('picked');
  await page.getByRole('button', { name: 'Show' }).click();
  await isActive(at(1, 2));
  await page.getByRole('button', { name: 'Dismiss' }).click();
  expect(await page.getByText('Taken back').count()).toBe(0);
});

test('while another run has the lock verdicts wait in the page, over a reload too, and are recorded then', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(3, 2));
  expectTrouble();
  host.mode = 'held';
  await press('2', '1');
  await page.getByText('2 verdicts wait in this page').waitFor();
  await page.getByText('another run has the lock').waitFor();
  await page.getByText('2 of 3 groups decided').waitFor();
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    dialog.accept().catch(() => undefined);
  });
  await page.reload();
  expect(dialogs).toContain('beforeunload');
  await page.getByText('2 of 3 groups decided').waitFor();
  expect(host.data.assets.some(({ verdict }) => verdict !== undefined)).toBe(false);
  host.mode = 'open';
  await expect
    .poll(() => host.data.assets.filter(({ verdict }) => verdict?.is === 'picked').length, { timeout: 10_000 })
    .toBe(2);
  await expect.poll(() => page.getByText(/waits? in this page/).count()).toBe(0);
  expect(await page.evaluate(stored)).toBe(0);
});

test('a host that does not answer is asked again; nothing is lost', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(3, 2));
  expectTrouble();
  host.mode = 'down';
  await press('2');
  await page.getByText('mediabatch does not answer').waitFor();
  host.disconnect();
  // Should it never come back, they can leave the page.
  await page.getByRole('button', { name: 'Save picks.json' }).waitFor();
  host.mode = 'open';
  await expect.poll(() => host.data.assets[1]?.verdict?.is, { timeout: 10_000 }).toBe('picked');
});

test('a page whose host has gone says so, and finds it again', async () => {
  const { page, host, expectTrouble } = await openReview(browser, products(3, 2));
  expectTrouble();
  host.mode = 'down';
  host.disconnect();
  await page.getByText('mediabatch has ended, or does not answer').waitFor();
  host.mode = 'open';
  host.change((data) => ({ ...data, run: { is: 'waiting', text: 'back again' } }));
  await page.getByText('back again').waitFor();
  await expect.poll(() => page.getByText('has ended').count()).toBe(0);
});

test('a verdict kept for an output that was replaced is dropped', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(3, 2));
  expectTrouble();
  host.mode = 'held';
  await press('2');
  await page.getByText('1 verdict wait').waitFor();
  host.data = { ...host.data, assets: host.data.assets.map((one) => ({ ...one, job: `newer-${one.address}` })) };
  page.on('dialog', (dialog) => dialog.accept().catch(() => undefined));
  await page.reload();
  await page.getByText('0 of 3 groups decided').waitFor();
  expect(await page.evaluate(stored)).toBe(0);
});

test('later data take the place of what is shown; a verdict that was not recorded stays on top', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(3, 2));
  expectTrouble();
  host.mode = 'held';
  await press('2');
  await page.getByText('1 verdict wait').waitFor();
  host.change((data) => ({
    ...data,
    groups: data.groups.map((group, index) =>
      index === 2 && group.gate ? { ...group, gate: { ...group.gate, state: 'decided' } } : group,
    ),
    assets: data.assets.map((one) => (one.address === at(3, 1) ? { ...one, verdict: { is: 'picked' } } : one)),
  }));
  await page.getByText('2 of 3 groups decided').waitFor();
  expect(await page.locator('.tile.picked').count()).toBe(2);
});

test('two tabs show the same after each other', async () => {
  const first = await openReview(browser, products(3, 2));
  const second = await first.page.context().newPage();
  await second.goto(first.host.url);
  await second.locator('.active[data-address]').waitFor();
  await first.page.bringToFront();
  await first.press('2');
  await second.getByText('1 of 3 groups decided').waitFor();
  await second.bringToFront();
  await second.keyboard.press('j');
  await second.keyboard.press('1');
  await first.page.getByText('2 of 3 groups decided').waitFor();
  await second.close();
});

test('of a gate that takes two a third pick is refused in words', async () => {
  const assets = [1, 2, 3].map((take) => asset(`teaser,take:${take}`, { files: [file(take)] }));
  const { page, host, press } = await openReview(
    browser,
    campaign([{ name: 'teaser', assets, options: { choose: 2 } }]),
  );
  await press('1');
  await page.getByText('pick 2, 1 so far').waitFor();
  await press('2', '3');
  await page.getByText('Not picked: only 2 of teaser can be picked').waitFor();
  await expect.poll(() => host.batches.flat().length).toBe(2);
});

test('two tabs that wait with the same verdict send what was decided last, whoever sends it', async () => {
  const { page, host, press, expectTrouble } = await openReview(browser, products(2, 3));
  expectTrouble();
  host.mode = 'held';
  await press('1');
  await page.getByText('1 verdict waits in this page').waitFor();
  const other = await page.context().newPage();
  onTestFinished(() => other.close());
  await other.goto(host.url);
  await other.locator('.tile.picked[data-address="hero@p001,take:1"]').waitFor();
  await page.bringToFront();
  await press('Control+z', 'x');
  await other.locator('.tile.rejected[data-address="hero@p001,take:1"]').waitFor();
  host.mode = 'open';
  await page.waitForTimeout(5000);
  expect(host.data.assets[0]?.verdict?.is).toBe('rejected');
});
