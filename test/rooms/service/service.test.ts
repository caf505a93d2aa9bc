import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/contract/clock.ts';
import type { Json } from '../../../src/ground/json.ts';
import { createService, type ServiceOptions } from '../../../src/service/service.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listen, serve } from './loopback.ts';

const apiKey = 'acme_live_secret123456';
const clock = { now: () => 0, random: () => 0, sleep: async () => {} };
const times = { requestTimeoutMs: 5000, createTimeoutMs: 5000, patienceMs: 5000 };
const { signal } = new AbortController();

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Handler => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
};

async function open(handle: Handler, options: Partial<ServiceOptions> = {}) {
  const { url, seen } = await serve(handle);
  const service = createService({
    ...{ baseUrl: `${url}/api/v1`, token: apiKey, clock, ...times },
    ...options,
  });
  onTestFinished(() => service.close());
  return { service, seen, url };
}

const job = { success: true, generation: { id: 'j1' }, creditsDeducted: 3, creditsRemaining: 7 };
const call = { kind: 'image', body: '{"prompt":"x"}', key: 'key-1' };

describe('a create', () => {
  test.each<[Json, number | null]>([
    [4.5, 5],
    ['30', 30],
    ['2.1', 3],
    [0, 0],
    [-1, null],
    ['many', null],
    [true, null],
    [1e12, null],
  ])('that is charged %j costs %j', async (creditsDeducted, credits) => {
    const { service } = await open(json(200, { ...job, creditsDeducted }));
    expect(await service.create(call)).toMatchObject({ is: 'accepted', job: { credits } });
  });

  test('carries its key where the service promises to know it again, and nowhere else', async () => {
    const { service, seen } = await open(json(200, job));
    expect(await service.create(call)).toMatchObject({ is: 'accepted', job: { jobId: 'j1', credits: 3, balance: 7 } });
    await service.create({ ...call, kind: 'video' });
    expect(seen.map(({ url, headers }) => [url, headers['idempotency-key']])).toEqual([
      ['/api/v1/image-generations/create', 'key-1'],
      ['/api/v1/videos/create', undefined],
    ]);
  });

  test('goes where the document of the service says', async () => {
    const { service, seen } = await open(json(200, job), { createRoutes: { image: { path: '/images/new' } } });
    await service.create(call);
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/images/new']);
  });

  test('of a kind that is not made there is not sent, and said so as often as it is asked', async () => {
    const createRoutes = { image: { missing: 'none in the document' } };
    const { service, seen } = await open(json(200, job), { createRoutes });
    const answer = { is: 'no-route', message: 'not sent: none in the document [MB1511]' };
    expect([await service.create(call), await service.create(call)]).toEqual([answer, answer]);
    expect(seen).toEqual([]);
  });

  test('of a kind that was not there a moment ago is not asked for again; other kinds are', async () => {
    const { service, seen } = await open(json(405, {}));
    for (const message of [/the service has no POST \/image-generations\/create/, /^not sent: the service/]) {
      expect(await service.create(call)).toMatchObject({ is: 'no-route', message: expect.stringMatching(message) });
    }
    expect(seen).toHaveLength(1);
    await service.create({ ...call, kind: 'music' });
    expect(seen).toHaveLength(2);
  });

  test.each([
    ['an API key, a kind with replay', apiKey, 'image', true],
    ['an API key, a kind without', apiKey, 'video', false],
    ['a token of an identity provider', 'eyJhbGciOiJIUzI1NiJ9.e30.x', 'image', false],
    ['a token that holds what a key begins with', 'eyJ.acme_live_x', 'image', false],
    ['no kind', apiKey, 'none', false],
  ])('can be asked again: %s', async (_name, token, kind, replays) => {
    expect((await open(json(200, {}), { token })).service.replays(kind)).toBe(replays);
  });
});

describe('the clock of the service', () => {
  const at = (date: string) => json(200, {}, { date });

  test.each([
    ['Thu, 01 Jan 1970 01:00:00 GMT', 3_600_000],
    ['Thu, 01 Jan 1970 00:00:02 GMT', 2000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
    ['Wed, 31 Dec 1969 23:59:58 GMT', -2000],
    ['Wed, 31 Dec 1969 23:59:59 GMT', 0],
    ['yesterday', 0],
  ])('that says “%s” is so much ahead of one at 0: %i ms', async (date, aheadMs) => {
    const { service, seen } = await open(at(date));
    expect(await service.clockAheadMs()).toBe(aheadMs);
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/accounts']);
    await service.clockAheadMs();
    expect(seen).toHaveLength(1);
  });

  test('is read from any answer, and asked anew where it must be fresh, once for many', async () => {
    let date = 'Thu, 01 Jan 1970 01:00:00 GMT';
    const { service, seen } = await open((request, response) => at(date)(request, response));
    await service.create(call);
    expect(await service.clockAheadMs()).toBe(3_600_000);
    expect(seen).toHaveLength(1);
    date = 'Thu, 01 Jan 1970 02:00:00 GMT';
    const fresh = { fresh: true };
    const twice = [service.clockAheadMs(fresh), service.clockAheadMs(fresh)];
    expect(await Promise.all(twice)).toEqual([7_200_000, 7_200_000]);
    expect(seen).toHaveLength(2);
    date = 'nonsense';
    expect(await service.clockAheadMs(fresh)).toBe(7_200_000);
  });

  test('of a service that does not answer is not known', async () => {
    const { service } = await open((_request, response) => response.destroy());
    expect(await service.clockAheadMs()).toEqual({ unreachable: expect.any(String) });
  });
});

test('a list of jobs is asked for one kind, with the key', async () => {
  const generations = ['v2', 'v1'].map((id, at) => ({
    id,
    status: 'COMPLETED',
    createdAt: new Date(9000 - at * 1000),
  }));
  const { service, seen } = await open(json(200, { generations, pagination: { hasNextPage: false } }));
  expect(await service.newestJob('video')).toBe('v2');
  const walk = await service.walkJobs('video', ['v1']);
  expect([walk.complete, walk.jobs.map(({ jobId }) => jobId)]).toEqual([true, ['v2']]);
  expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/api/v1/videos/all?page=1&limit=10', `Bearer ${apiKey}`],
    ['/api/v1/videos/all?page=1&limit=100', `Bearer ${apiKey}`],
  ]);
});

describe('an upload', () => {
  const asset = { id: 'a1', url: 'https://cdn.example/a.png' };

  function file() {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.png'), 'bytes');
    const sha256 = createHash('sha256').update('bytes').digest('hex');
    return { folder, order: { path: 'a.png', sha256, bytes: 5 } };
  }

  test('of a file below the folder, and of a link', async () => {
    const { folder, order } = file();
    const { service } = await open(json(200, { success: true, data: asset }), { folder });
    const uploaded = { is: 'uploaded', assetId: 'a1', url: asset.url };
    expect(await service.upload(order, signal)).toEqual(uploaded);
    expect(await service.upload({ url: 'https://a.example/x.png', fileName: 'x.png' }, signal)).toEqual(uploaded);
  });

  test.each<[Handler, object]>([
    [json(401, { success: false, error: `no ${apiKey}` }), { why: 'auth', message: 'HTTP 401: no [key]' }],
    [json(503, { success: false }), { why: 'unreachable' }],
    [json(200, { success: true }), { why: 'refused' }],
  ])('that comes to nothing has failed (%#)', async (handle, failed) => {
    const { folder, order } = file();
    const { service } = await open(handle, { folder });
    expect(await service.upload(order, signal)).toMatchObject({ is: 'failed', ...failed });
  });

  test('that was interrupted says no more', async () => {
    const { folder, order } = file();
    const { service } = await open(json(200, {}), { folder });
    const answer = { is: 'failed', why: 'interrupted', message: 'interrupted' };
    expect(await service.upload(order, AbortSignal.abort())).toEqual(answer);
  });
});

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln';

interface Create {
  /** The other end of the connection. */
  port: number | undefined;
  request: IncomingMessage;
  response: ServerResponse;
  job: string;
}

/** A service that books each key once, before it answers; `meet` may do something else than answer. */
async function serveCreates(
  token: string,
  meet: (create: Create, nth: number) => boolean = () => false,
  mayCreate: () => boolean = () => true,
) {
  const creates: Create[] = [];
  const booked = new Map<string, string>();
  const closed = new Map<Socket, Promise<void>>();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const key = String(request.headers['idempotency-key'] ?? creates.length);
      const job = booked.get(key) ?? `job-${booked.size + 1}`;
      booked.set(key, job);
      const create = { port: request.socket.remotePort, request, response, job };
      creates.push(create);
      if (!meet(create, creates.length)) answer(create);
    });
  });
  server.on('connection', (socket) => closed.set(socket, new Promise((resolve) => socket.once('close', resolve))));
  const service = createService({
    baseUrl: `http://127.0.0.1:${await listen(server)}/api/v1`,
    ...{ token, clock: systemClock, ...times, mayCreate },
  });
  onTestFinished(() => service.close());
  return {
    create: (kind: string, key: string) => service.create({ kind, body: '{}', key }),
    booked,
    closed,
    ports: () => creates.map(({ port }) => port),
  };
}

function answer({ response, job }: Create): void {
  response.end(JSON.stringify({ success: true, generation: { id: job }, creditsDeducted: 1, creditsRemaining: 9 }));
}

describe('the connections of creates', () => {
  const keys = [...'abcdefghij'];

  async function countConnections(token: string, kind: string): Promise<number> {
    const { create, ports } = await serveCreates(token);
    for (const key of keys) expect(await create(kind, key)).toMatchObject({ is: 'accepted' });
    return new Set(ports()).size;
  }

  test('are shared where keys are replayed, and otherwise each create has one of its own', async () => {
    expect(await countConnections(apiKey, 'image')).toBeLessThan(4);
    expect(await countConnections(apiKey, 'video')).toBe(keys.length);
    expect(await countConnections(jwt, 'image')).toBe(keys.length);
  });

  test('one that was closed while it was idle is not used again', async () => {
    const { create, closed, ports } = await serveCreates(apiKey, ({ request, response }) => {
      response.once('finish', () => request.socket.end());
      return false;
    });
    for (const key of ['a', 'b', 'c']) {
      expect(await create('image', key)).toMatchObject({ is: 'accepted' });
      await Promise.all(closed.values());
    }
    expect(new Set(ports()).size).toBe(3);
  });

  test('a kept one that is reset with a create on it: it may be paid, and the same key finds it', async () => {
    const used = new Set<Socket>();
    let resets = 0;
    const { create, booked } = await serveCreates(apiKey, ({ request: { socket } }) => {
      const isReset = resets === 0 && used.has(socket);
      used.add(socket);
      if (isReset) {
        resets += 1;
        socket.resetAndDestroy();
      }
      return isReset;
    });
    const first: string[] = [];
    for (const key of keys) {
      const seen = await create('image', key);
      first.push(seen.is);
      const found = seen.is === 'ambiguous' ? await create('image', key) : seen;
      expect(found).toMatchObject({ is: 'accepted', job: { jobId: booked.get(key) } });
    }
    expect(first.filter((is) => is === 'ambiguous')).toHaveLength(1);
    expect(resets).toBe(1);
    expect(booked.size).toBe(keys.length);
  });

  test.each([
    ['a kind without replay', 'video'],
    ['a kind with replay', 'image'],
  ])('I35 %s: whether it may leave is asked when its connection is there', async (_name, kind) => {
    let may = true;
    let asked = 0;
    const { create, booked, ports } = await serveCreates(apiKey, undefined, () => {
      asked += 1;
      return may;
    });
    const first = create(kind, 'a');
    expect(asked).toBe(0);
    expect(await first).toMatchObject({ is: 'accepted' });
    expect(asked).toBe(1);
    const second = create(kind, 'b');
    may = false;
    expect(await second).toEqual({ is: 'not-sent', message: 'this process may no longer send the request' });
    expect([asked, ports().length, booked.size]).toEqual([2, 1, 1]);
    may = true;
    expect(await create(kind, 'b')).toMatchObject({ is: 'accepted' });
  });
});
