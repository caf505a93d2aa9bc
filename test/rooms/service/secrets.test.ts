import { createHash } from 'node:crypto';
import type { LookupAddress, lookup } from 'node:dns';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServiceError } from '../../../src/contract/errors.ts';
import { judgeLink, makeCheckedLookup, RefusedAddressError } from '../../../src/service/links.ts';
import { reachService } from '../../../src/service/proxy.ts';
import { accountName, makeRedact, readCredential } from '../../../src/service/secrets.ts';
import { createService } from '../../../src/service/service.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listenHere } from '../../rig/listen.ts';
import { listen } from './loopback.ts';
import { type Call, key, type Reply, serveScript } from './scripted.ts';

describe('secrets', () => {
  const key = 'acme_live_s3cr"t/+ key~';

  describe('the credential in a text', () => {
    test.each([
      key,
      encodeURIComponent(key),
      JSON.stringify(key).slice(1, -1),
      Buffer.from(key).toString('base64'),
      Buffer.from(key).toString('base64').replace(/=+$/, ''),
      Buffer.from(key).toString('base64url'),
      key.slice(0, 16),
    ])('is taken out as %s, wherever it stands', (spelling) => {
      const seen = makeRedact(key)(`<${spelling}> and ${spelling}`);
      expect(seen).not.toContain(spelling);
      expect(seen.replace(/=/g, '')).toBe('<[key]> and [key]');
    });

    test('is taken out whole where it stands whole', () => {
      expect(makeRedact(key)(`${key}${key}x`)).toBe('[key][key]x');
    });

    test('is none where there is none, or one that is a word', () => {
      expect(makeRedact(undefined)('text')).toBe('text');
      expect(makeRedact('sevenxx')('a sevenxx')).toBe('a sevenxx');
      expect(makeRedact('eightxxx')('an eightxxx')).toBe('an [key]');
    });
  });

  test.each([
    ['GET https://cdn.x/a.png?X-Amz-Signature=S1&Expires=1: 403', 'GET https://cdn.x/a.png?… 403'],
    ['//cdn.x/a.png?sig=S1', '//cdn.x/a.png?…'],
    ['https://cdn.x/a#access_token=S1', 'https://cdn.x/a?…'],
    ['https%3A%2F%2Fcdn.x%2Fa.png%3Fsig%3DS1', 'https%3A%2F%2Fcdn.x%2Fa.png%3F…'],
    ['https://user:S1@cdn.x/a', 'https://cdn.x/a'],
    ['a.png?X-Goog-Signature=S1&x=1', 'a.png?X-Goog-Signature=…&x=1'],
    ['Authorization: Bearer S1S1S1S1', 'Authorization: Bearer …'],
  ])('the signature of any link in a text is removed: %s', (text, seen) => {
    expect(makeRedact(undefined)(text)).toBe(seen);
    expect(makeRedact(key)(seen)).toBe(seen);
  });

  test.each([
    ['acme_live_x', 'api-key'],
    ['a-b9_live_x', 'api-key'],
    ['_live_x', 'jwt'],
    ['eyJ.acme_live_x', 'jwt'],
    ['acme_test_x', 'jwt'],
  ])('%s is an %s', (token, is) => {
    expect(readCredential(token)).toEqual({ is, token });
  });

  describe('who signs in', () => {
    const jwt = (payload: unknown) => `h.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.s`;

    test.each([
      [jwt({ iss: 'https://id', sub: 'me', exp: 1 }), '["https://id","me"]'],
      [jwt({ sub: 'me' }), '["","me"]'],
      [jwt({ iss: 7, sub: 'me' }), '["","me"]'],
    ])('is the same person with each token', (token, name) => {
      expect(accountName(token)).toBe(name);
    });

    test.each([
      key,
      jwt({ iss: 'https://id' }),
      jwt({ sub: 7 }),
      jwt(null),
      'h.no json.s',
      'opaque',
      'a_live_.eyJzdWIiOiJ4In0.s',
    ])('is the credential itself: %s', (token) => {
      expect(accountName(token)).toBe(token);
    });
  });
});

const inward = { address: '10.0.0.7', family: 4 };
const four = { address: '93.184.216.34', family: 4 };
const six = { address: '2606:2800:220:1::1', family: 6 };

/** What a connection is told of a name with these addresses. */
function look(found: LookupAddress[] | Error, all: boolean): Promise<unknown[]> {
  const system = (_host: string, options: { all: true }, done: (error: Error | null, found?: unknown) => void) => {
    expect(options.all).toBe(true);
    if (found instanceof Error) done(found);
    else done(null, found);
  };
  const checked = makeCheckedLookup(system as unknown as typeof lookup);
  return new Promise((resolve) => checked('files.example', { all }, (...answer) => resolve(answer)));
}

describe('the addresses of a name', () => {
  test('are given as they are asked for', async () => {
    expect(await look([six, four], true)).toEqual([null, [six, four]]);
    expect(await look([six, four], false)).toEqual([null, six.address, 6]);
  });

  const notPublic = 'the link https://files.example leads to an address that is not public';
  test.each([
    ['one inward', [inward], notPublic],
    ['the first inward', [inward, four], notPublic],
    ['the last inward', [four, six, inward], notPublic],
    ['none', [], 'files.example has no IP address'],
  ])('are refused: %s', async (_name, found, message) => {
    for (const all of [true, false]) {
      const [error, address] = await look(found, all);
      expect(error).toBeInstanceOf(RefusedAddressError);
      expect([(error as Error).message, address]).toEqual([message, '']);
    }
  });

  test('that cannot be found now are no refusal', async () => {
    const error = new Error('EAI_AGAIN');
    expect(await look(error, true)).toEqual([error, '']);
  });
});

describe('a link', () => {
  test.each([
    ['nonsense', 'the link “nonsense” is not a URL'],
    ['https://user@cdn.example/x', 'the link to cdn.example contains credentials'],
    ['https://:pass@cdn.example/x', 'the link to cdn.example contains credentials'],
    ['http://cdn.example:81/x', 'the link http://cdn.example:81 is not https'],
    ['https://[::1]:9/x', 'the link https://[::1]:9 leads to an address that is not public'],
  ])('to %s is refused: %s', (text, message) => {
    expect(judgeLink(text, undefined)).toEqual({ is: 'refused', message });
    const own = /credentials|URL/.test(message) ? '' : '; only public https links and links to localhost are followed';
    expect(judgeLink(text, 'localhost')).toEqual({ is: 'refused', message: `${message}${own}` });
  });

  test.each([
    ['https://cdn.example/x', false],
    ['https://1.1.1.1/x', false],
    ['http://localhost:81/x', true],
    ['https://localhost/x', true],
  ])('to %s may be followed; to the own host: %s', (text, isOwn) => {
    expect(judgeLink(text, 'localhost')).toMatchObject({ is: 'allowed', isOwn, url: new URL(text) });
  });
});

const page: Reply = { text: '<html>Just a moment...</html>', headers: { 'content-type': 'text/html' } };
const empty: Reply = { text: '' };
const foreign: Reply = { json: { statusCode: 403, message: 'Forbidden' } };

/** The names of the calls that each place makes. */
const places = {
  create: 'POST /image-generations/create',
  poll: 'GET /image/status/j1',
  list: 'GET /videos/all',
  link: 'GET //files/j1',
  upload: 'POST /uploads',
};
const good: Record<string, Reply> = {
  [places.create]: { json: { success: true, generation: { id: 'j1', status: 'QUEUED' } } },
  [places.poll]: { json: { success: true, data: { id: 'j1', status: 'COMPLETED', outputUrl: '/files/j1' } } },
  [places.list]: { json: { success: true, generations: [] } },
  [places.link]: { text: 'bytes' },
  [places.upload]: { json: { success: true, data: { id: 'a1', url: 'https://files.example/a1' } } },
};

/** Performs one call of each place at a service that gives this reply `times` times, and then its own. */
async function meet(reply: Reply, times: number) {
  const { origin } = await serveScript(({ name }: Call, count) =>
    count <= times ? reply : (good[name] ?? { status: 404 }),
  );
  const path = makeFolder();
  writeFileSync(join(path, 'a.png'), 'png');
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
  };
  const clock = { now: () => now, random: () => 0.5, sleep };
  const service = createService({
    ...{ baseUrl: `${origin}/api/v1`, token: key, clock, folder: path },
    ...{ requestTimeoutMs: 2000, createTimeoutMs: 2000, patienceMs: Number.POSITIVE_INFINITY },
  });
  onTestFinished(() => service.close());
  const { signal } = new AbortController();
  const watching = { signal, fresh: false, onStatus() {}, notice() {} };
  const file = { path: 'a.png', sha256: createHash('sha256').update('png').digest('hex'), bytes: 3 };
  const created = await service.create({ kind: 'image', body: '{"prompt":"x"}', key: 'k' });
  const watched = await service.watch({ kind: 'image', jobId: 'j1' }, watching);
  const listed = await service.newestJob('video').then(
    () => 'listed',
    ({ why }: ServiceError) => why,
  );
  const opened = await service.open(`${origin}/files/j1`, signal);
  const uploaded = await service.upload(file, signal);
  return {
    create: created.is,
    poll: watched.is === 'unwatched' ? watched.because : watched.is,
    list: listed,
    link: opened.is,
    upload: uploaded.is === 'failed' ? uploaded.why : uploaded.is,
  };
}

const outage = { create: 'ambiguous', poll: 'unreachable', list: 'unreachable', upload: 'unreachable' };
const noRoute = { create: 'no-route', poll: 'unreachable', list: 'refused', upload: 'refused' };

/** What an answer without the documented body means at each place, where it is the answer for ever. */
test.each<[number, string, Reply, object]>([
  [400, 'page', page, { ...outage, link: 'expired' }],
  [401, 'empty body', empty, { ...outage, link: 'expired' }],
  [402, 'page', page, { ...outage, link: 'expired' }],
  [403, 'page', page, { ...outage, link: 'expired' }],
  [403, 'JSON of a gateway', foreign, { ...outage, link: 'expired' }],
  [407, 'page', page, { ...outage, link: 'expired' }],
  [422, 'page', page, { ...outage, link: 'expired' }],
  [429, 'page', page, { ...outage, create: 'throttled', link: 'unreachable' }],
  [451, 'page', page, { ...outage, link: 'expired' }],
  [503, 'page', page, { ...outage, link: 'unreachable' }],
  [511, 'page', page, { ...outage, link: 'unreachable' }],
  [200, 'page', page, { ...outage, link: 'open' }],
  [200, 'empty body', empty, { ...outage, link: 'open' }],
  [302, 'empty body', empty, { ...outage, link: 'expired' }],
  [404, 'page', page, { ...noRoute, link: 'expired' }],
  [405, 'page', page, { ...noRoute, link: 'expired' }],
])('%i with a %s is nobody’s word about the key, the job or the request', async (status, _body, reply, expected) => {
  const answer = { ...reply, status } as Reply;
  expect(await meet(answer, Number.POSITIVE_INFINITY)).toEqual(expected);
  // One odd answer ends neither the watching of a job nor, unless no such path is there, an upload.
  const { poll, upload } = await meet(answer, 1);
  expect(poll).toBe('completed');
  expect(upload).toBe(status === 404 || status === 405 ? 'refused' : 'uploaded');
});

/** What each try comes to; sleeps are counted, not slept. */
async function reach(...answers: (string | undefined)[]) {
  const failures: string[] = [];
  let sleptMs = 0;
  const found = await reachService('https://api.example/api/v1', {
    clock: {
      async sleep(ms) {
        sleptMs += ms;
      },
    },
    onFailure: ({ host, error, tries, of }) => failures.push(`${host} ${error} ${tries}/${of}`),
    connect: async () => answers.shift(),
  });
  return { found, failures, sleptMs };
}

const reachFrom = (url: string) => reachService(url, { clock: { async sleep() {} }, onFailure() {} });

describe('whether a service can be reached', () => {
  test('a hiccup is told, and tried again', async () => {
    expect(await reach('refused', undefined)).toEqual({
      found: { is: 'reached' },
      failures: ['api.example refused 1/3'],
      sleptMs: 1000,
    });
  });

  test('three times nothing is nobody, after two seconds of waiting', async () => {
    expect(await reach('a', 'b', 'c')).toEqual({
      found: { is: 'unreachable', host: 'api.example', error: 'c' },
      failures: ['api.example a 1/3', 'api.example b 2/3'],
      sleptMs: 2000,
    });
  });

  test('a port is asked, and nothing is said to it', async () => {
    const received: Buffer[] = [];
    const ended: Promise<void>[] = [];
    const server = createServer((socket) => {
      socket.on('data', (bytes) => received.push(bytes));
      ended.push(new Promise((resolve) => socket.on('close', () => resolve())));
      socket.on('error', () => {});
    });
    expect(await reachFrom(`${await listenHere(server)}/api/v1`)).toEqual({ is: 'reached' });
    await Promise.all(ended);
    expect(received).toEqual([]);
    // It does not speak TLS: a certificate is part of being there.
    const hangsUp = createServer((socket) => socket.destroy());
    const secure = await listen(hangsUp);
    expect(await reachFrom(`https://127.0.0.1:${secure}/api/v1`)).toMatchObject({ is: 'unreachable' });
    const error = expect.stringContaining('ECONNREFUSED');
    expect(await reachFrom('http://127.0.0.1:9/api/v1')).toMatchObject({ is: 'unreachable', error });
  });
});
