import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { type Incoming, type IncomingLimits, openIncoming } from '../../src/service/incoming.ts';

/** A service that does with every answer what it is told, and a way to ask it. */
async function serve(answer: (response: ServerResponse) => void) {
  const ends: Promise<void>[] = [];
  const server = createServer((_request, response) => {
    ends.push(new Promise((resolve) => response.on('close', resolve)));
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  onTestFinished(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = (limits: Partial<IncomingLimits> = {}): Promise<Incoming> => {
    const all = { signal: new AbortController().signal, leastBytesPerSecond: 1000, ...limits };
    return openIncoming(agent, { origin, path: '/', method: 'GET' }, all);
  };
  return { open, ends };
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('tells status and headers, and then the bytes in their order, however late they are asked for', async () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join('');
  const { open } = await serve((response) => response.writeHead(200, { 'x-is': 'here' }).end(text));
  const { status, headers, body } = await open();
  expect([status, headers['x-is']]).toEqual([200, 'here']);
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await readAll(body)).toBe(text);
  expect(await body.next()).toEqual({ done: true, value: undefined });
});

test('an answer without a body ends at once', async () => {
  const { open } = await serve((response) => response.writeHead(204).end());
  const { status, body } = await open();
  expect([status, await readAll(body)]).toEqual([204, '']);
});

test('an interruption ends it: before it was sent, before the answer, and within the body', async () => {
  let answer: (response: ServerResponse) => void = () => {};
  const { open, ends } = await serve((response) => answer(response));
  await expect(open({ signal: AbortSignal.abort(new Error('no more')) })).rejects.toThrow('no more');
  const before = new AbortController();
  answer = () => before.abort(new Error('not now'));
  await expect(open({ signal: before.signal })).rejects.toThrow('not now');
  const within = new AbortController();
  answer = (response) => response.writeHead(200).write('first');
  const { body } = await open({ signal: within.signal });
  expect((await body.next()).value?.length).toBe(5);
  const next = body.next();
  within.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await expect(body.next()).rejects.toThrow('enough');
  // The connections are let go of.
  await Promise.all(ends);
});

test('a body that drips for a minute is given up; a quick one may take as long as it likes', async () => {
  const { open, ends } = await serve((response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'.repeat(100)), 5);
    response.on('close', () => clearInterval(drip));
  });
  let now = 0;
  const slow = await open({ now: () => (now += 7000), leastBytesPerSecond: 1000 });
  await expect(readAll(slow.body)).rejects.toThrow('slower than 1000 bytes a second');
  await Promise.all(ends);
  now = 0;
  const quick = await open({ now: () => (now += 7000), leastBytesPerSecond: 10 });
  for (let count = 0; count < 30; count += 1) expect((await quick.body.next()).done).toBe(false);
  expect(now).toBeGreaterThan(120_000);
  await quick.body.return?.();
  await Promise.all(ends);
});
