import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { products } from '../../rig/review/campaign.ts';
import { openReview } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

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
