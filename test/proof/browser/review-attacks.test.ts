import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { serveHere } from '../../rig/listen.ts';
import { servedHost } from '../../rooms/review/memory-host.ts';

/** A foreign name that leads to this machine, as a name server of an attacker can make one. */
const foreign = 'evil.test';
const browser = await chromiumOfFile([`--host-resolver-rules=MAP ${foreign} 127.0.0.1`]);

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const attackScript = readFileSync(new URL('attack-page.js', import.meta.url), 'utf8');
const verdicts = JSON.stringify({ verdicts: [{ address: 'pic/1', is: 'picked', job: 'job-0' }] });

/** A page of somebody else on this machine, which knows the address of the review; and what the review answers it. */
async function attack(host: string): Promise<{
  page: Page;
  review: string;
  entrance: string;
  statuses: number[];
  /** Paths that the browser asked the review for. */
  asked: string[];
  answered(count: number): Promise<void>;
  judged: unknown[];
}> {
  const served = await servedHost([{ path: 'a.png', bytes: png, mediaType: 'image/png' }]);
  await fetch(`${served.running.url}data.json`);
  const other = await serveHere((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<!doctype html><title>other</title><body><script>${attackScript}</script>`);
  });
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const statuses: number[] = [];
  const asked: string[] = [];
  const { port } = new URL(served.running.url);
  page.on('request', (request) => {
    if (new URL(request.url()).port === port) asked.push(new URL(request.url()).pathname);
  });
  page.on('response', (response) => {
    if (new URL(response.url()).port === port) statuses.push(response.status());
  });
  await page.goto(`http://${host}:${new URL(other).port}/`);
  return {
    page,
    review: served.running.url,
    entrance: served.running.entrance,
    statuses,
    asked,
    async answered(count) {
      while (statuses.length < count) await page.waitForTimeout(10);
    },
    judged: served.host.judged,
  };
}

const nothing = {
  ...{ corsJson: 'error', corsText: 'error', noCorsJson: expect.anything(), noCorsText: expect.anything() },
  ...{ formText: 'sent', formFields: 'sent', formParts: 'sent', beacon: expect.anything() },
  ...{ data: 'error', dataBlind: expect.anything(), image: 'error', imageWithCors: 'error', small: 'error' },
  ...{ script: 'error', dataAsScript: 'error', style: 'error', video: 'error', object: 'error', events: 'error' },
};

test.each(['127.0.0.1', 'localhost', foreign])(
  'from another port of this machine, with the token known: nothing is read, and nothing is written (%s)',
  async (host) => {
    const { page, review, statuses, asked, judged } = await attack(host);
    const results = (await page.evaluate(`attack(${JSON.stringify({ review, body: verdicts })})`)) as Record<
      string,
      unknown
    >;
    expect(results).toEqual(nothing);
    // Whether blind or not, an answer without anything in it.
    for (const blind of [results.noCorsText, results.noCorsJson, results.dataBlind]) {
      expect(['error', 'opaque 0 0']).toContain(blind);
    }
    expect(judged).toEqual([]);
    expect([...new Set(statuses)]).toEqual([403]);
    // Of most the browser shows nothing to anybody.
    expect(asked.length).toBeGreaterThan(15);
  },
);

test('a link to it, a window and a frame of another page do not open it', async () => {
  const { page, review, statuses, answered } = await attack('127.0.0.1');
  await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), { src: '${review}' }))`);
  await answered(1);
  const opened = page.waitForEvent('popup');
  await page.evaluate(`void window.open('${review}')`);
  const popup = await opened;
  await popup.waitForLoadState();
  expect(await popup.textContent('body')).toBe('refused\n');
  await popup.close();
  await page.evaluate(`void (window.location.href = '${review}')`);
  await page.getByText('refused').waitFor();
  expect([...new Set(statuses)]).toEqual([403]);
});

test('under a foreign name that leads to this machine: refused', async () => {
  const { page, review, judged } = await attack(foreign);
  const { port, pathname } = new URL(review);
  const answer = await page.goto(`http://${foreign}:${port}${pathname}`);
  expect(answer?.status()).toBe(403);
  // This page has the same origin as what it asks, as after a rebinding.
  const statuses = await page.evaluate(
    async ({ path, body }) => {
      const paths = ['', 'data.json', 'media/0', 'changes', 'page.js'];
      const gets = await Promise.all(paths.map(async (one) => (await fetch(`${path}${one}`)).status));
      const post = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      return [...gets, (await fetch(`${path}verdicts`, post)).status];
    },
    { path: pathname, body: verdicts },
  );
  expect(statuses).toEqual(Array.from({ length: 6 }, () => 403));
  expect(judged).toEqual([]);
});

test('a person who opens it, and the page itself, are answered', async () => {
  const { page, review, entrance, judged } = await attack('127.0.0.1');
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  const answer = await page.goto(entrance);
  expect(answer?.status()).toBe(200);
  expect(page.url()).toBe(review);
  await page.getByText('pic/1').first().waitFor();
  await page.waitForTimeout(300);
  expect(complaints).toEqual([]);
  const results = (await page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'media/0';
    await image.decode();
    const inline = document.createElement('script');
    inline.textContent = 'document.title = "run"';
    document.head.append(inline);
    const post = { method: 'POST', body: ${JSON.stringify(verdicts)}, headers: { 'content-type': 'application/json' } };
    return {
      width: image.naturalWidth,
      data: (await fetch('data.json')).status,
      post: (await fetch('verdicts', post)).status,
      outside: await fetch('http://127.0.0.1:9/').then(() => 'left', () => 'kept in'),
      title: document.title,
    };
  })()`)) as Record<string, unknown>;
  expect(results).toMatchObject({ width: 1, data: 200, post: 200, outside: 'kept in' });
  expect(results.title).not.toBe('run');
  expect(judged).toHaveLength(1);
});
