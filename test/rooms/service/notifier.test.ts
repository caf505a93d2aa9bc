import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createNotifier } from '../../../src/service/notifier.ts';
import { listen, tcp } from './loopback.ts';

/** Sleeps are noted, and are over at once. */
function notifier(address: string, more: { deadlineMs?: number } = {}) {
  const slept: number[] = [];
  const clock = {
    async sleep(ms: number) {
      slept.push(ms);
    },
  };
  return { ...createNotifier({ address, clock, ...more }), slept };
}

const secret = 'T0000/B1111/x2y3z4secret';

async function hook(answer: (response: ServerResponse, times: number) => void) {
  const seen: { path: string | undefined; type: string | undefined; body: string; auth: string | undefined }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      const { 'content-type': type, authorization: auth } = request.headers;
      seen.push({ path: request.url, type, body, auth });
      answer(response, seen.length);
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/services/${secret}?sig=abc`, seen };
}

test('posts one JSON document, without a key', async () => {
  const { url, seen } = await hook((response) => response.end('ok'));
  const { send, slept } = notifier(url);
  expect(await send('{"text":"done"}')).toEqual({ is: 'sent' });
  expect(seen).toEqual([
    { path: `/services/${secret}?sig=abc`, type: 'application/json', body: '{"text":"done"}', auth: undefined },
  ]);
  expect(slept).toEqual([]);
});

test.each([[500], [503], [429], [408]])('HTTP %i is tried three times', async (status) => {
  const { url, seen } = await hook((response) => response.writeHead(status).end('no'));
  const { send, slept } = notifier(url);
  expect(await send('{}')).toEqual({ is: 'unsent', why: `HTTP ${status}, 3 times` });
  expect(seen).toHaveLength(3);
  expect(slept).toEqual([1000, 2000]);
});

test('the third time may be the one', async () => {
  const { url, seen } = await hook((response, times) => response.writeHead(times < 3 ? 502 : 204).end());
  expect(await notifier(url).send('{}')).toEqual({ is: 'sent' });
  expect(seen).toHaveLength(3);
});

test.each([[400], [403], [404], [410]])('HTTP %i is an answer: it is not tried again', async (status) => {
  const { url, seen } = await hook((response) => response.writeHead(status).end('invalid_token'));
  expect(await notifier(url).send('{}')).toEqual({ is: 'unsent', why: `HTTP ${status}` });
  expect(seen).toHaveLength(1);
});

test.each([[301], [302], [307], [308]])('HTTP %i leads nowhere', async (status) => {
  const elsewhere = await hook((response) => response.end());
  const { url, seen } = await hook((response) => response.writeHead(status, { location: elsewhere.url }).end());
  expect(await notifier(url).send('{}')).toEqual({
    is: 'unsent',
    why: `it redirects (HTTP ${status}), which is not followed`,
  });
  expect(seen).toHaveLength(1);
  expect(elsewhere.seen).toEqual([]);
});

test('who says nothing is given up, three times', async () => {
  let requests = 0;
  const port = await tcp((socket) => {
    socket.once('data', () => {
      requests += 1;
    });
    onTestFinished(() => void socket.destroy());
  });
  const { send, slept } = notifier(`http://127.0.0.1:${port}/${secret}`, { deadlineMs: 60 });
  expect(await send('{}')).toEqual({ is: 'unsent', why: 'no answer within 0.06 s, 3 times' });
  expect(requests).toBe(3);
  expect(slept).toEqual([1000, 2000]);
});

test('of nobody there, and of a connection that breaks, nothing is told but that', async () => {
  const gone = createServer();
  const port = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  expect(await notifier(`http://127.0.0.1:${port}/${secret}`).send('{}')).toEqual({
    is: 'unsent',
    why: 'no connection (ECONNREFUSED), 3 times',
  });
  const broken = await tcp((socket) => socket.destroy());
  const end = await notifier(`http://127.0.0.1:${broken}/${secret}`).send('{}');
  expect(end).toMatchObject({ is: 'unsent', why: expect.stringMatching(/^no connection( \([A-Z_]+\))?, 3 times$/) });
});
