import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/contract/clock.ts';
import { createService } from '../../../src/service/service.ts';
import { listen } from './loopback.ts';

const apiKey = 'acme_live_secret123456';
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
    token,
    clock: systemClock,
    requestTimeoutMs: 5000,
    createTimeoutMs: 5000,
    patienceMs: 5000,
    mayCreate,
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

  test('where keys are replayed, creates share a few', async () => {
    expect(await countConnections(apiKey, 'image')).toBeLessThan(4);
  });

  test.each([
    ['a kind without replay', apiKey, 'video'],
    ['a token for which nothing is replayed', jwt, 'image'],
  ])('%s: each create has one of its own', async (_name, token, kind) => {
    expect(await countConnections(token, kind)).toBe(keys.length);
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
    expect(await second).toEqual({ is: 'not-sent', message: 'it may no longer be sent from here' });
    expect([asked, ports().length, booked.size]).toEqual([2, 1, 1]);
    may = true;
    expect(await create(kind, 'b')).toMatchObject({ is: 'accepted' });
  });
});
