import { once } from 'node:events';
import { symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CampaignError } from '../../../src/contract/failure.ts';
import type { ReviewData } from '../../../src/contract/review.ts';
import { servedHost } from './memory-host.ts';
import { rawRequest } from './raw-request.ts';

const bytes = Buffer.from(Array.from({ length: 100 }, (_, index) => index));
const files = [{ path: 'a.png', bytes, mediaType: 'image/png' }];
const verdicts = JSON.stringify({ verdicts: [{ address: 'pic/1', is: 'picked', job: 'job-0' }] });
const json = 'application/json';

async function served(given = files) {
  const all = await servedHost(given);
  const { running, origin } = all;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    rawRequest(running.url, { path: `${new URL(running.url).pathname}${path}`, headers, method });
  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    rawRequest(running.url, {
      method: 'POST',
      path: `${new URL(running.url).pathname}verdicts`,
      headers: { origin, 'content-type': json, ...headers },
      body,
    });
  await get('data.json');
  return { ...all, get, post };
}

describe('who may ask', () => {
  test('the address has a token of 128 bits, and is of 127.0.0.1', async () => {
    const { running } = await served();
    expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  });

  test.each([
    ['no token', { path: '/' }],
    ['another token', { path: `/${'0'.repeat(32)}/` }],
    ['a part of the token', { cut: 31 }],
    ['the token and more', { more: '0' }],
    ['a foreign name', { headers: { host: 'evil.test' } }],
    ['a foreign name with the port', { headers: { host: 'evil.test:80' } }],
    ['a name that begins like one', { headers: { host: '127.0.0.1.evil.test' } }],
    ['a name that ends like one', { headers: { host: 'evil.localhost' } }],
    ['another origin', { headers: { origin: 'http://evil.test' } }],
    ['another port', { headers: { origin: 'http://127.0.0.1:1' } }],
    ['another scheme', { headers: { origin: 'https://127.0.0.1' } }],
    ['no origin', { headers: { origin: 'null' } }],
    ['another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['another port of this site', { headers: { 'sec-fetch-site': 'same-site' } }],
    [
      'a person who opens a file',
      { path: 'media/0', headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' } },
    ],
    ['nobody, without navigating', { headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'no-cors' } }],
    ['a frame', { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe' } }],
    ['another method', { method: 'PUT' }],
    ['an answer to everybody', { method: 'OPTIONS' }],
    ['a way up', { path: '../../etc/passwd', headers: {} }],
    ['a query', { query: '?x' }],
  ])('%s is refused, and nothing is revealed', async (_, given: Record<string, unknown>) => {
    const { running, host } = await served();
    const own = new URL(running.url).pathname;
    const {
      cut,
      more = '',
      query = '',
      path = '',
      headers = {},
      method = 'GET',
    } = given as {
      [name: string]: never;
    } & { path?: string };
    const asked = path.startsWith('/')
      ? path
      : cut !== undefined
        ? `${own.slice(0, cut)}/`
        : `${own.slice(0, -1)}${more}/${path}${query}`;
    const answer = await rawRequest(running.url, { method, path: asked, headers });
    // What was never there is told to the page alone.
    const isOwn = path.startsWith('..');
    expect(answer.status).toBe(isOwn ? 404 : 403);
    if (!isOwn) {
      expect(String(answer.body)).toBe('refused\n');
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
    expect(JSON.stringify(answer.headers) + answer.body).not.toContain(host.folder);
  });

  test('the page itself, a person who opens it, and whoever forwards a port, are answered', async () => {
    const { get } = await served();
    for (const host of ['localhost', 'localhost:4020', '127.0.0.1:1', '127.9.8.7:65535', '[::1]:4020', 'LOCALHOST']) {
      expect((await get('', { host })).status, host).toBe(200);
    }
    expect(
      (await get('', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).status,
    ).toBe(200);
    expect((await get('media/0', { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' })).status).toBe(200);
    expect((await get('data.json', { host: 'localhost:4020', origin: 'http://localhost:4020' })).status).toBe(200);
  });

  test.skipIf(process.platform !== 'linux')('nothing but 127.0.0.1 is listened on', async () => {
    const { running } = await served();
    const socket = connect(Number(new URL(running.url).port), '127.0.0.2');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('the entrance leads to the page once, and only an allowed caller', async () => {
    const { running } = await served();
    const { pathname } = new URL(running.entrance);
    const enter = (headers: Record<string, string> = {}, path = pathname, method = 'GET') =>
      rawRequest(running.url, { path, headers, method });
    expect(pathname).not.toBe(new URL(running.url).pathname);
    const refused = [
      await enter({ host: 'evil.test' }),
      await enter({ 'sec-fetch-site': 'same-site' }),
      await enter({}, `${pathname}data.json`),
      await enter({}, pathname, 'HEAD'),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    const first = await enter({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' });
    expect(first).toMatchObject({ status: 303, headers: { location: new URL(running.url).pathname } });
    expect((await enter()).status).toBe(403);
  });

  test('without the slash at its end the address leads to the page', async () => {
    const { running } = await served();
    const { pathname } = new URL(running.url);
    const answer = await rawRequest(running.url, { path: pathname.slice(0, -1) });
    expect(answer).toMatchObject({ status: 308, headers: { location: pathname } });
  });

  test('every answer has the headers that keep others out', async () => {
    const { running, get, post } = await served();
    const answers = [
      await get(''),
      await get('icon.svg'),
      await get('media/0'),
      await get('media/9'),
      await get('nothing'),
      await get('media/0', { range: 'bytes=200-' }),
      await rawRequest(running.url, { path: '/' }),
      await post('{}'),
      await post('x'.repeat(70_000)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 404, 416, 403, 400, 413]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none';.*frame-ancestors 'none'; base-uri 'none'; form-action 'none'/,
      );
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/);
      expect(headers['set-cookie']).toBeUndefined();
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });
});

describe('files', () => {
  test('are asked for by number, and sent whole or in one range', async () => {
    const { get } = await served();
    const data = JSON.parse(String((await get('data.json')).body)) as ReviewData;
    expect(data.assets[0]?.files[0]).toMatchObject({ url: 'media/0', thumb: 'thumb/0' });
    const whole = await get('media/0');
    expect(whole.body).toEqual(bytes);
    expect(whole.headers).toMatchObject({
      'content-type': 'image/png',
      'accept-ranges': 'bytes',
      'content-length': '100',
    });
    const ranges: [string, number, number, number][] = [
      ['bytes=0-9', 206, 0, 9],
      ['bytes=90-', 206, 90, 99],
      ['bytes=90-900', 206, 90, 99],
      ['bytes=-10', 206, 90, 99],
      ['bytes=-1000', 206, 0, 99],
      ['bytes=5-5', 206, 5, 5],
      ['bytes=9-5', 200, 0, 99],
      ['bytes=0-1,5-6', 200, 0, 99],
      ['bytes=-', 200, 0, 99],
      ['rows=1-2', 200, 0, 99],
    ];
    for (const [range, status, start, end] of ranges) {
      const answer = await get('media/0', { range });
      expect(answer.status, range).toBe(status);
      expect(answer.body, range).toEqual(bytes.subarray(start, end + 1));
      if (status === 206) expect(answer.headers['content-range']).toBe(`bytes ${start}-${end}/100`);
    }
    for (const range of ['bytes=100-', 'bytes=100-101', 'bytes=-0']) {
      expect(await get('media/0', { range }), range).toMatchObject({
        status: 416,
        headers: { 'content-range': 'bytes */100' },
      });
    }
    const head = await get('media/0', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': '100' } });
    expect(head.body).toHaveLength(0);
  });

  test.each(['image/svg+xml', 'text/html', 'application/xhtml+xml', 'text/javascript', 'image/png; charset=x'])(
    'what the lock calls %s is never shown as that',
    async (mediaType) => {
      const { get } = await served([{ path: 'a.png', bytes, mediaType }]);
      const { headers } = await get('media/0');
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
      });
      expect(headers['content-security-policy']).toMatch(/; sandbox$/);
    },
  );

  test('that became a link, a pipe of bytes of another length, or nothing, are not sent', async () => {
    const { get, host } = await served();
    const path = join(host.folder, 'a.png');
    truncateSync(path, 50);
    expect((await get('media/0')).status).toBe(404);
    unlinkSync(path);
    expect((await get('media/0')).status).toBe(404);
    writeFileSync(join(host.folder, 'secret'), bytes);
    symlinkSync('secret', path);
    const answer = await get('media/0');
    expect(answer.status).toBe(404);
    expect(String(answer.body)).not.toContain(host.folder);
  });

  test('whose place other bytes of the same length have taken are not sent', async () => {
    const { get, host } = await served();
    expect((await get('media/0')).body).toEqual(bytes);
    const other = Buffer.from(bytes).reverse();
    writeFileSync(join(host.folder, 'a.png'), other);
    expect((await get('media/0')).status).toBe(404);
    expect((await get('media/0', { range: 'bytes=0-9' })).status).toBe(404);
    writeFileSync(join(host.folder, 'a.png'), bytes);
    expect((await get('media/0', { range: 'bytes=0-9' })).body).toEqual(bytes.subarray(0, 10));
  });

  test('that shrink while they are sent end their connection: nothing else is taken for the rest', async () => {
    const long = Buffer.alloc(64 << 20, 'x');
    const { running, host } = await served([{ path: 'a.png', bytes: long, mediaType: 'image/png' }]);
    const { port, pathname } = new URL(running.url);
    const socket = connect(Number(port), '127.0.0.1');
    const ask = (path: string) => `GET ${pathname}${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(ask('media/0') + ask('icon.svg'));
    await once(socket, 'readable');
    truncateSync(join(host.folder, 'a.png'), 10);
    let [length, heads] = [0, 0];
    socket
      .on('error', () => undefined)
      .on('data', (piece: Buffer) => {
        length += piece.length;
        heads += piece.includes('HTTP/1.1 ') ? 1 : 0;
      });
    await once(socket, 'close');
    expect(length).toBeLessThan(long.length);
    expect(heads).toBe(1);
  });

  test.each([
    'media/0/',
    'media/00000000000',
    'media/-1',
    'media/a.png',
    'media/..%2fa.png',
    'media/%2e%2e/a.png',
    'media//0',
    '%6dedia/0',
    'media\\0',
    'page.js%00',
    '__proto__',
    'constructor',
  ])('there is nothing at %s', async (path) => {
    const { get } = await served();
    expect((await get(path)).status).toBe(404);
  });
});

describe('verdicts', () => {
  test('go to the host in the order given', async () => {
    const { post, host } = await served();
    const answer = await post(
      JSON.stringify({
        verdicts: [
          { address: 'pic/1', is: 'picked', job: 'job-0', note: 'calm' },
          { address: 'pic/1', is: 'undecided', job: 'job-0', note: '', more: 1 },
        ],
      }),
      { 'content-type': 'application/json; charset=utf-8' },
    );
    expect(answer.status).toBe(200);
    expect(JSON.parse(String(answer.body))).toEqual({
      ...{ is: 'recorded', revision: 2, refused: [] },
      change: { since: 1, revision: 2, assets: [], groups: [] },
    });
    expect(host.judged).toEqual([
      [
        { address: 'pic/1', is: 'picked', job: 'job-0', note: 'calm' },
        { address: 'pic/1', is: 'undecided', job: 'job-0', note: '' },
      ],
    ]);
  });

  test.each([
    ['no origin', { origin: '' }],
    ['another origin', { origin: 'http://127.0.0.1:1' }],
    ['a form', { 'content-type': 'text/plain' }],
    ['a form with fields', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['parts', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['no type', { 'content-type': '' }],
    ['a type like it', { 'content-type': 'application/json+x' }],
    ['two types', { 'content-type': 'text/plain, application/json' }],
    ['another charset', { 'content-type': 'application/json; charset=utf-7' }],
    ['another site', { 'sec-fetch-site': 'same-site' }],
    ['a person who navigates', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ])('with %s are refused and written nowhere', async (_, headers) => {
    const { post, host } = await served();
    expect((await post(verdicts, headers as Record<string, string>)).status).toBe(403);
    expect(host.judged).toEqual([]);
  });

  test('of other forms are no verdicts', async () => {
    const { post, host } = await served();
    const one = { address: 'pic/1', is: 'picked', job: 'job-0' };
    const bad = [
      {},
      { verdicts: {} },
      { verdicts: [{ ...one, is: 'liked' }] },
      { verdicts: [{ ...one, job: 5 }] },
      { verdicts: [{ address: 'pic/1', is: 'picked' }] },
      { verdicts: [{ ...one, note: 'x'.repeat(501) }] },
      { verdicts: [{ ...one, note: 'two\nlines' }] },
      { verdicts: [{ ...one, note: '\ud800' }] },
      { verdicts: [one, null] },
      [one],
      'verdicts',
    ];
    for (const document of bad) {
      expect((await post(JSON.stringify(document))).status, JSON.stringify(document)).toBe(400);
    }
    for (const text of ['', '{', `{"verdicts":[${JSON.stringify(one)}],}`]) expect((await post(text)).status).toBe(400);
    expect(host.judged).toEqual([]);
  });

  test('beyond 64 KiB are not read, whether their length is said or not', async () => {
    const { post, host, running, origin } = await served();
    const long = Buffer.alloc(65 * 1024, ' ');
    expect((await post(long)).status).toBe(413);
    const chunked = await rawRequest(running.url, {
      method: 'POST',
      path: `${new URL(running.url).pathname}verdicts`,
      headers: { origin, 'content-type': json, 'transfer-encoding': 'chunked' },
      body: Buffer.concat([Buffer.from(verdicts), long]),
    });
    expect(chunked.status).toBe(413);
    expect((await post(Buffer.concat([Buffer.from(verdicts), Buffer.alloc(60 * 1024, ' ')]))).status).toBe(200);
    expect(host.judged).toHaveLength(1);
  });

  test('wait in the page while a run holds the lock; what fails is said, and a defect is not shown', async () => {
    const { post, host, errors } = await served();
    host.onJudge = async () => ({ is: 'held', text: 'another run holds it' });
    expect(await post(verdicts)).toMatchObject({ status: 423 });
    host.onJudge = async () => {
      throw new CampaignError({ code: 'MB3301', message: 'the disk is full', hint: 'make room' });
    };
    const failed = await post(verdicts);
    expect(failed.status).toBe(500);
    expect(JSON.parse(String(failed.body))).toEqual({ error: { text: 'the disk is full', hint: 'make room' } });
    expect(errors).toEqual([]);
    host.onJudge = async () => {
      throw new TypeError(`x is not a function at ${host.folder}`);
    };
    const broken = await post(verdicts);
    expect(broken.status).toBe(500);
    expect(String(broken.body)).not.toContain(host.folder);
    expect(errors).toHaveLength(1);
  });

  test('that have arrived are written before it ends', async () => {
    const { post, host, running } = await served();
    let finish: () => void = () => {};
    let isWritten = false;
    host.onJudge = () =>
      new Promise((resolve) => {
        finish = () => {
          isWritten = true;
          resolve({ is: 'recorded', revision: 2, refused: [] });
        };
      });
    const posted = post(verdicts).catch(() => undefined);
    while (host.judged.length === 0) await wait(2);
    const closed = running.close();
    finish();
    await closed;
    expect(isWritten).toBe(true);
    await posted;
    expect(host.listeners.size).toBe(0);
  });
});

test('changes are sent to every listener; of too many listeners the oldest is disconnected', async () => {
  const { running, host } = await served();
  const listen = async () => {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
    socket.write(`GET ${new URL(running.url).pathname}changes HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const ended = once(socket, 'end');
    while (!text.includes('"revision":')) await wait(2);
    return { socket, ended, text: () => text };
  };
  const first = await listen();
  expect(first.text()).toContain('event: change\ndata: {"revision":1}\n\n');
  host.change();
  while (!first.text().includes('data: {"revision":2,"since":1,')) await wait(2);
  const others = [];
  for (let count = 0; count < 16; count += 1) others.push(await listen());
  await first.ended;
  host.change();
  for (const one of others) while (!one.text().includes('data: {"revision":3,"since":2,')) await wait(2);
  for (const { socket } of [first, ...others]) socket.destroy();
});

test('a thousand connections that say nothing, or half of something, keep nobody out', async () => {
  const { running, get } = await served();
  const port = Number(new URL(running.url).port);
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, async (_, index) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      if (index % 2 === 1) socket.write(`GET ${new URL(running.url).pathname} HTTP/1.1\r\nX-Half: `);
      return socket;
    }),
  );
  expect((await get('')).status).toBe(200);
  expect((await get('media/0')).body).toEqual(bytes);
  for (const socket of sockets) socket.destroy();
});
