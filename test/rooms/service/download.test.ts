import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Download } from '../../../src/contract/answer.ts';
import { createDownloader } from '../../../src/service/download.ts';
import { freePort } from '../../rig/free-port.ts';
import { raw, serve } from './loopback.ts';

type DownloaderOptions = Parameters<typeof createDownloader>[0];

const { signal } = new AbortController();
setMaxListeners(0, signal);

afterEach(() => void vi.useRealTimers());

function downloader(base: string, more: Partial<DownloaderOptions> = {}) {
  const options = { baseUrl: `${base}/api/v1`, redact: (text: string) => text, requestTimeoutMs: 5000 };
  const made = createDownloader({ ...options, ...more });
  onTestFinished(() => made.close());
  return made;
}

async function openOne(base: string, link = `${base}/a.png`): Promise<Download> {
  const answer = await downloader(base).open(link, signal);
  if (answer.is !== 'open') throw new Error(`${answer.is}: ${answer.message}`);
  return answer.download;
}

async function readAll({ body }: Download, between: () => Promise<void> = async () => {}): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    chunks.push(chunk);
    await between();
  }
  return Buffer.concat(chunks);
}

/** A reader that is behind: whatever the other side has sent has come, and its end too. */
async function fallBehind(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('where links may lead', () => {
  test('to the local service itself, without the key', async () => {
    const { url, seen } = await serve((_request, response) => response.end('bytes'));
    const download = await openOne(url);
    expect([String(await readAll(download)), download.bytes]).toEqual(['bytes', 5]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  test('to another port of the very host of a local service, as a storage beside it has one', async () => {
    const storage = await serve((_request, response) => response.end('stored'));
    const location = `${storage.url}/b.png`;
    const { url } = await serve((_request, response) => response.writeHead(302, { location }).end());
    expect(String(await readAll(await openOne(url, `${storage.url}/a.png`)))).toBe('stored');
    // And at each hop.
    expect(String(await readAll(await openOne(url)))).toBe('stored');
    expect(storage.seen.map(({ url: path, headers }) => [path, headers.authorization])).toEqual([
      ['/a.png', undefined],
      ['/b.png', undefined],
    ]);
  });

  test.each([
    ['another name of this machine', 'http://localhost:9/x'],
    ['an address of the cloud', 'http://169.254.169.254/latest'],
    ['a number as address', 'https://2130706434/x'],
    ['mapped IPv6', 'https://[::ffff:127.0.0.1]/x'],
    ['the own host, by another protocol', 'ftp://127.0.0.1/x'],
    ['a login at the own host', 'http://user:pass@127.0.0.1:9/x'],
  ])('never to %s', async (_name, link) => {
    const { url } = await serve((_request, response) => response.end());
    const answer = await downloader(url).open(link, signal);
    expect(answer).toMatchObject({ is: 'refused' });
    expect(answer.is === 'refused' && answer.message).not.toContain('pass@');
  });

  test('a name is refused when one of its addresses is not public', async () => {
    const asked: string[] = [];
    const addresses = ['93.184.216.34', '10.0.0.7'].map((address) => ({ address, family: 4 }));
    const lookup = ((host: string, _options: unknown, done: (error: null, found: unknown) => void) => {
      asked.push(host);
      done(null, addresses);
    }) as unknown as NonNullable<DownloaderOptions['lookup']>;
    const location = 'https://files.example/secret';
    const { url } = await serve((_request, response) => response.writeHead(302, { location }).end());
    const one = downloader(url, { lookup });
    const message = 'the link https://files.example leads to an address that is not public';
    for (const link of [location, `${url}/redirects`]) {
      expect(await one.open(link, signal)).toEqual({ is: 'refused', message });
    }
    expect(asked).toEqual(['files.example', 'files.example']);
  });

  test('a name that is not found just now may be found later', async () => {
    const lookup = ((_host: string, _options: unknown, done: (error: Error) => void) => {
      done(Object.assign(new Error('getaddrinfo EAI_AGAIN files.example'), { code: 'EAI_AGAIN' }));
    }) as unknown as NonNullable<DownloaderOptions['lookup']>;
    const answer = await downloader('https://api.example', { lookup }).open('https://files.example/x', signal);
    expect(answer).toEqual({ is: 'unreachable', message: 'files.example: getaddrinfo EAI_AGAIN files.example' });
  });
});

test.each([
  [3, 'open'],
  [4, 'expired'],
])('redirects: %i of them: %s', async (count, is) => {
  const { url, seen } = await serve(({ url: path = '' }, response) => {
    const left = Number(path.slice(1));
    if (left === 0) response.end('here');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  expect((await downloader(url).open(`${url}/${count}`, signal)).is).toBe(is);
  expect(seen).toHaveLength(4);
});

describe('answers', () => {
  test.each<[string, number, OutgoingHttpHeaders, string]>([
    ['a link that has run out', 403, {}, 'expired'],
    ['a bad request', 400, { location: '/b' }, 'expired'],
    ['a file that is gone, with a way on', 404, { location: '/b' }, 'expired'],
    ['a server error', 500, {}, 'unreachable'],
    ['too many requests', 429, {}, 'unreachable'],
    ['an empty answer', 204, {}, 'expired'],
    ['a redirect to nowhere', 302, {}, 'expired'],
    ['the end of a file', 206, { 'content-range': 'bytes 5-9/10' }, 'expired'],
    ['an unknown part of a file', 206, {}, 'expired'],
  ])('%s is reported with its status (HTTP %i)', async (_name, status, headers, is) => {
    const { url, seen } = await serve((_request, response) => response.writeHead(status, headers).end());
    const answer = await downloader(url).open(`${url}/a`, signal);
    expect(answer).toEqual({ is, message: `${new URL(url).host} answered HTTP ${status}` });
    expect(seen).toHaveLength(1);
  });

  const switches = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
  test.each([
    ['nobody listens', freePort],
    ['what answers is no server of HTTP', () => raw('nonsense', { end: true })],
    ['it changes the protocol', () => raw(switches, { end: true })],
    ['it hangs up', () => raw('', { end: true })],
  ])('%s: unreachable', async (_name, portOf) => {
    const base = `http://127.0.0.1:${await portOf()}`;
    expect(await downloader(base).open(`${base}/x`, signal)).toMatchObject({ is: 'unreachable' });
  });
});

describe('a body', () => {
  /** All at once, and then the end, while nobody reads. */
  const size = 300_000;
  const heads: [string, string, 'whole' | 'broken'][] = [
    ['without a length', 'connection: close', 'whole'],
    ['without a length and without a word about it', 'x-y: z', 'whole'],
    ['with its length', `content-length: ${size}`, 'whole'],
    ['with its length, and a connection that closes', `content-length: ${size}\r\nconnection: close`, 'whole'],
    ['cut before its length', `content-length: ${size * 2}`, 'broken'],
    ['cut before its length, closing', `content-length: ${size * 2}\r\nconnection: close`, 'broken'],
    ['in chunks, cut', 'transfer-encoding: chunked', 'broken'],
    ['in chunks, cut, and a connection that closes', 'transfer-encoding: chunked\r\nconnection: close', 'broken'],
  ];
  for (const http of ['1.0', '1.1']) {
    test.each(heads)(`%s ends while its reader is behind (HTTP/${http})`, async (_name, head, expected) => {
      const isChunked = head.includes('chunked');
      if (isChunked && http === '1.0') return;
      const start = `HTTP/${http} 200 OK\r\ncontent-type: image/png\r\n${head}\r\n\r\n${isChunked ? `${size.toString(16)}\r\n` : ''}`;
      const port = await raw(Buffer.concat([Buffer.from(start), Buffer.alloc(size, 'x')]), { end: true });
      const download = await openOne(`http://127.0.0.1:${port}`);
      await fallBehind();
      const read = readAll(download, fallBehind);
      if (expected === 'whole') expect((await read).length).toBe(size);
      else await expect(read).rejects.toThrow();
    });
  }

  const plain = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), randomBytes(size)]);
  const matroska = Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x86, 0x81]), randomBytes(size)]);
  test.each<[string, string | undefined, Buffer, Buffer]>([
    ['gzip', 'gzip', gzipSync(plain), plain],
    ['gzip without its header', undefined, gzipSync(plain), plain],
    ['gzip, named otherwise', 'br', gzipSync(plain), plain],
    ['deflate', 'Deflate', deflateSync(plain), plain],
    ['deflate without a header of its own', 'deflate', deflateRawSync(plain), plain],
    ['brotli', 'br', brotliCompressSync(plain), plain],
    ...['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'identity'].flatMap((named) =>
      [plain, matroska].map((bytes): [string, string, Buffer, Buffer] => [
        `plain, and ${named} named`,
        named,
        bytes,
        bytes,
      ]),
    ),
    ['empty, and gzip named', 'gzip', Buffer.alloc(0), Buffer.alloc(0)],
    ['short, and gzip named', 'gzip', Buffer.from('x'), Buffer.from('x')],
  ])('in %s is read', async (_name, encoding, sent, wanted) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': sent.length, ...(encoding && { 'content-encoding': encoding }) });
      // Its first bytes come one by one.
      for (const byte of sent.subarray(0, 3)) response.write(Buffer.from([byte]));
      setImmediate(() => response.end(sent.subarray(3)));
    });
    const download = await openOne(url);
    expect((await readAll(download)).equals(wanted)).toBe(true);
    expect(download.bytes).toBe(sent.equals(wanted) ? sent.length : undefined);
  });

  test('in gzip that is cut is broken', async () => {
    const { url } = await serve((_request, response) => response.end(gzipSync(plain).subarray(0, -100)));
    await expect(readAll(await openOne(url))).rejects.toThrow('unexpected end of file');
  });

  test('ends at once where there is none', async () => {
    const { url } = await serve((_request, response) => response.writeHead(200, { 'content-length': 0 }).end());
    const { body } = await openOne(url);
    expect(await body[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  test('that is closed unread lets go of its connection', async () => {
    const bytes = Buffer.alloc(1 << 22);
    const { url } = await serve((_request, response) => response.end(bytes));
    const one = downloader(url);
    // More than there are connections: the next one would wait for ever.
    for (let count = 0; count < 20; count += 1) {
      const answer = await one.open(`${url}/${count}`, signal);
      if (answer.is !== 'open') throw new Error(answer.is);
      await answer.download.body[Symbol.asyncIterator]().return?.();
    }
  });

  test('that was read to its end leaves its connection to the next one, also when it is closed then', async () => {
    const { url, seen } = await serve((_request, response) => response.end(Buffer.alloc(1 << 20)));
    const one = downloader(url);
    for (let count = 0; count < 10; count += 1) {
      const answer = await one.open(`${url}/${count}`, signal);
      if (answer.is !== 'open') throw new Error(answer.is);
      const chunks = answer.download.body[Symbol.asyncIterator]();
      while ((await chunks.next()).done !== true);
      await chunks.return?.();
    }
    expect(new Set(seen.map(({ port }) => port)).size).toBeLessThan(4);
  });
});

describe('waiting', () => {
  /** An answer counts as begun once its coding is known. */
  const begun = Buffer.alloc(512);

  /** Sockets stay real; only what this program waits by is moved on by hand. */
  const useOwnTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  /** Requests as they come, answered when it is told. */
  async function serveByHand() {
    const waiting: ServerResponse[] = [];
    let heard = () => {};
    const { url } = await serve((_request, response) => {
      waiting.push(response);
      heard();
    });
    const until = async (count: number) => {
      while (waiting.length < count) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    };
    return { url, waiting, until };
  }

  test('for an answer to begin: no longer than --request-timeout', async () => {
    useOwnTime();
    const { url, waiting, until } = await serveByHand();
    const one = downloader(url, { requestTimeoutMs: 7000 });
    const first = one.open(`${url}/a`, signal);
    await until(1);
    vi.advanceTimersByTime(6999);
    waiting[0]?.end('in time');
    expect((await first).is).toBe('open');
    const second = one.open(`${url}/b`, signal);
    await until(2);
    vi.advanceTimersByTime(7000);
    const host = new URL(url).host;
    expect(await second).toEqual({ is: 'unreachable', message: `${host}: no answer within 7 s` });
  });

  test('for a free connection is no waiting for an answer', async () => {
    useOwnTime();
    const { url, waiting, until } = await serveByHand();
    const one = downloader(url, { requestTimeoutMs: 1000 });
    const opening = Array.from({ length: 17 }, (_, index) => one.open(`${url}/${index}`, signal));
    await until(16);
    for (const response of waiting) response.writeHead(200).write(begun);
    await Promise.all(opening.slice(0, 16));
    vi.advanceTimersByTime(60_000);
    waiting[0]?.end();
    const [first] = await Promise.all(opening.slice(0, 1));
    if (first?.is !== 'open') throw new Error(first?.is);
    await readAll(first.download);
    await until(17);
    waiting[16]?.end('here');
    expect((await opening[16])?.is).toBe('open');
  });

  test('an interruption ends it: before it was sent, before the answer, and within the body', async () => {
    const { url, waiting, until } = await serveByHand();
    const one = downloader(url);
    const aborted = AbortSignal.abort(new Error('no more'));
    expect(await one.open(url, aborted)).toMatchObject({
      is: 'unreachable',
      message: expect.stringContaining('no more'),
    });
    const before = new AbortController();
    const unanswered = one.open(url, before.signal);
    await until(1);
    before.abort(new Error('not now'));
    expect(await unanswered).toMatchObject({ is: 'unreachable', message: expect.stringContaining('not now') });
    const within = new AbortController();
    const opened = one.open(url, within.signal);
    await until(2);
    const closed = new Promise((resolve) => waiting[1]?.once('close', resolve));
    waiting[1]?.writeHead(200).write(begun);
    const answer = await opened;
    if (answer.is !== 'open') throw new Error(answer.is);
    const chunks = answer.download.body[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toEqual(begun);
    const next = chunks.next();
    within.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect(chunks.next()).rejects.toThrow('enough');
    await closed;
  });
});
