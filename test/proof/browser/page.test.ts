import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { openQuietPage } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

interface Opened {
  readonly page: Page;
  readonly clock: { now: number };
  create(path: string, body: object): Promise<void>;
  close(): Promise<void>;
}

/** The page on a sandbox whose clock stands still. */
async function openPage(options: SandboxOptions = {}): Promise<Opened> {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const sandbox = createSandbox({ now: () => clock.now, ...options });
  const { url, close } = await sandbox.listen();
  const origin = new URL(url).origin;
  onTestFinished(close);
  const { page, expectTrouble } = await openQuietPage(browser, origin);
  await page.goto(`${origin}/`);
  return {
    page,
    clock,
    async create(path, body) {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox_live_local', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status, await answer.text()).toBe(200);
    },
    async close() {
      expectTrouble();
      await close();
    },
  };
}

const seen = (page: Page, selector: string) => page.locator(`${selector}:visible`);

test('an empty sandbox says what to do first, and how to get here', async () => {
  const { page } = await openPage({ credits: 321 });
  await page.getByText('mediabatch apply campaign.yaml').waitFor();
  expect(await page.locator('#env').textContent()).toBe(
    `export MEDIABATCH_BASE_URL=${new URL(page.url()).origin}/api/v1\nexport MEDIABATCH_API_KEY=sandbox_live_local`,
  );
  expect(await page.locator('#balance').textContent()).toBe('321');
  expect(await seen(page, '.job').count()).toBe(0);
});

test('jobs appear, move on and show what they made; the newest comes first', async () => {
  const { page, clock, create } = await openPage({ credits: 100 });
  await create('/image-generations/create', { prompt: 'a lamp', resolution: '1k', aspectRatio: '16:9' });
  await create('/music-generations/create', { prompt: 'quiet', model: 'song-7.5' });
  await page.getByRole('button', { name: 'quiet' }).waitFor();
  expect(await page.locator('.job .title').allTextContents()).toEqual(['quiet', 'a lamp']);
  expect(await page.locator('.job').first().getAttribute('data-state')).toBe('QUEUED');
  expect(await page.locator('#balance').textContent()).toBe('94');
  const heightBefore = (await page.locator('.job').first().boundingBox())?.height;

  clock.now += 60_000;
  const picture = page.locator('.job img');
  await picture.waitFor();
  const size: { width: number; height: number } = await picture.evaluate(async (image: HTMLImage) => {
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  });
  expect(size.width / size.height).toBeCloseTo(16 / 9, 1);
  expect(size.width).toBeGreaterThan(1000);
  expect((await page.locator('.job').first().boundingBox())?.height).toBe(heightBefore);
  await page.getByRole('button', { name: 'Completed 2' }).waitFor();

  await page.locator('audio').evaluate((audio: HTMLMedia) => {
    audio.muted = true;
    return audio.play();
  });
  await create('/image-generations/create', { prompt: 'one more', resolution: '1k' });
  await page.getByRole('button', { name: 'one more' }).waitFor();
  expect(await page.locator('audio').evaluate((audio: HTMLMedia) => audio.paused)).toBe(false);
});

/** What of the browser's own types is used here: the types of the browser are not loaded for tests. */
interface HTMLImage {
  decode(): Promise<void>;
  readonly naturalWidth: number;
  readonly naturalHeight: number;
}
interface HTMLMedia {
  muted: boolean;
  readonly paused: boolean;
  play(): Promise<void>;
}

test('a hostile prompt stays text, in the card, in the details, in posts and uploads', async () => {
  const { page, clock, create } = await openPage();
  const hostile = '<img src=x onerror="alert(1)"> <b>bold</b>';
  await create('/image-generations/create', { prompt: hostile, resolution: '1k' });
  await create('/uploads', { base64: 'aGVsbG8=', fileName: `${hostile}.txt` });
  const { data } = (await page.evaluate(`fetch('/api/v1/accounts', {
    headers: { authorization: 'Bearer sandbox_live_local' },
  }).then((answer) => answer.json())`)) as { data: { id: string }[] };
  await create('/posts', { accountIds: [data[0]?.id], caption: hostile });
  clock.now += 60_000;
  await page.locator('.job img').waitFor();
  await page.locator('.job .title').click();
  expect(await page.locator('#sheet-title').textContent()).toBe(hostile);
  expect(await page.locator('.job .title').textContent()).toBe(hostile);
  expect(await page.locator('#posts .wrapped').textContent()).toBe(hostile);
  expect(await page.locator('#uploads a').textContent()).toBe(`${hostile}.txt`);
  expect(await page.locator('b:text("bold"), img[src="x"]').count()).toBe(0);
});

test('a job opens by keyboard to its id, its error and its links, and gives the focus back', async () => {
  const { page, clock, create } = await openPage({ failRate: 1 });
  await create('/image-generations/create', { prompt: 'it fails' });
  clock.now += 60_000;
  await page.getByRole('button', { name: 'Failed 1' }).waitFor();
  await page.locator('.job .title').focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'it fails' });
  await sheet.waitFor();
  expect(await sheet.locator('#sheet-problem').textContent()).toMatch(/fail/);
  expect(await sheet.textContent()).toContain(await page.locator('.job').getAttribute('data-id'));
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  expect(await page.evaluate('document.activeElement.className')).toBe('title');
});

test('kind and state filter, survive a reload and can be cleared', async () => {
  const { page, clock, create } = await openPage();
  await create('/image-generations/create', { prompt: 'done' });
  clock.now += 60_000;
  await create('/image-generations/create', { prompt: 'waits' });
  await create('/music-generations/create', { prompt: 'waits too', model: 'song-7.5' });
  await page.getByRole('button', { name: 'waits too' }).waitFor();
  await page.getByRole('button', { name: 'image 2' }).click();
  expect(await seen(page, '.job').locator('.title').allTextContents()).toEqual(['waits', 'done']);
  await page.getByRole('button', { name: 'Queued 2' }).click();
  expect(await seen(page, '.job').locator('.title').allTextContents()).toEqual(['waits']);
  expect(await page.locator('#shown').textContent()).toBe('1 of 3');
  await page.reload();
  await page.getByRole('button', { name: 'waits', exact: true }).waitFor();
  expect(await seen(page, '.job').count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Queued 2' }).getAttribute('aria-pressed')).toBe('true');
  await page.getByRole('button', { name: 'Failed 0' }).click();
  await page.getByRole('button', { name: 'Show all jobs' }).click();
  expect(await seen(page, '.job').count()).toBe(3);
});

test('nothing is wider than a phone, and nothing is lost on a wide screen', async () => {
  const { page, create } = await openPage();
  await create('/image-generations/create', { prompt: 'x'.repeat(400) });
  await create('/music-generations/create', { prompt: 'a song', model: 'song-7.5' });
  await create('/uploads', { base64: 'aGVsbG8=', fileName: `${'long'.repeat(40)}.txt` });
  await page.getByRole('button', { name: 'a song' }).waitFor();
  for (const width of [320, 380, 700, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth'), `at ${width} px`).toBeLessThanOrEqual(width);
  }
  await page.setViewportSize({ width: 380, height: 800 });
  await page.getByRole('button', { name: 'a song' }).click();
  const sheet = await page.locator('#sheet').boundingBox();
  expect(sheet?.width).toBeLessThanOrEqual(380);
});

test('a lost connection is said, with what stays on the screen', async () => {
  const { page, create, close } = await openPage();
  await create('/image-generations/create', { prompt: 'still here' });
  await page.getByRole('button', { name: 'still here' }).waitFor();
  await close();
  await page.getByText('The sandbox does not answer.').waitFor();
  expect(await page.locator('#link').textContent()).toBe('Connection lost');
  expect(await seen(page, '.job').count()).toBe(1);
});
