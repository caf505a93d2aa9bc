import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHttp, type HttpAnswer } from '../../../src/service/http.ts';
import { openTunnel, proxyFor } from '../../../src/service/proxy.ts';
import { freePort } from '../../rig/free-port.ts';
import { listen, raw, serve, tcp } from './loopback.ts';

const redact = (text: string) => text;

function open(baseUrl: string) {
  const http = createHttp({ baseUrl: `${baseUrl}/api/v1`, token: 'acme_live_secret123', redact });
  onTestFinished(() => http.close());
  return http;
}

const create = (http: ReturnType<typeof open>, deadlineMs = 5000): Promise<HttpAnswer> =>
  http.call({ method: 'POST', path: '/create', body: '{}', deadlineMs, freshConnection: true });

describe('what is known of a request that got no answer', () => {
  const reset = () => tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const switches = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';

  test.each<[string, string, () => Promise<number | string>, boolean]>([
    ['nobody listens: nothing was sent', 'http', freePort, false],
    ['reset inside the TLS handshake: nothing was sent', 'https', reset, false],
    ['reset after the request: it may have been sent', 'http', reset, true],
    ['what changes the protocol instead of answering: it may have been sent', 'http', () => raw(switches), true],
  ])('%s', async (_name, protocol, portOf, sent) => {
    const http = open(`${protocol}://127.0.0.1:${await portOf()}`);
    expect(await create(http)).toMatchObject({ is: 'broken', sent });
  });

  test('what cannot be written was not sent, and harms nobody', async () => {
    const http = createHttp({ baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key\nwith-a-line-break', redact });
    expect(await create(http)).toMatchObject({ is: 'broken', sent: false });
  });

  test('given up before a connection stands: nothing was sent, and nothing will be', async () => {
    let bytes = 0;
    const port = await tcp((socket) => socket.on('data', (chunk: Buffer) => (bytes += chunk.length)));
    // Nobody shakes hands there.
    const http = open(`https://127.0.0.1:${port}`);
    expect(await create(http, 100)).toMatchObject({ is: 'broken', sent: false });
    const stop = new AbortController();
    const call = http.call({ method: 'POST', path: '/x', body: 'secret', deadlineMs: 5000, signal: stop.signal });
    stop.abort(new Error('enough'));
    expect(await call).toEqual({ is: 'broken', sent: false, message: 'enough' });
    await http.close();
    expect(bytes).toBeLessThan(2000);
  });

  test('no answer in time: it may have been sent', async () => {
    const port = await tcp(() => {});
    const answer = await create(open(`http://127.0.0.1:${port}`), 100);
    expect(answer).toMatchObject({ is: 'broken', sent: true });
    expect(answer.is === 'broken' && answer.message).toMatch(/^127\.0\.0\.1:\d+: no answer within/);
  });

  test('an answer that drips for ever: the deadline holds', async () => {
    const port = await tcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        const drip = setInterval(() => socket.write('x'), 20);
        socket.on('close', () => clearInterval(drip));
      });
    });
    expect(await create(open(`http://127.0.0.1:${port}`), 200)).toMatchObject({ is: 'broken', sent: true });
  });

  test.each([
    ['as long as they may be', 8 << 20, 'answer'],
    ['longer by a byte', (8 << 20) + 1, 'broken'],
  ])('answers %s', async (_name, bytes, is) => {
    const { url } = await serve((_request, response) => response.end(Buffer.alloc(bytes, ' ')));
    expect((await create(open(url))).is).toBe(is);
  });

  test('an answer without end is cut off', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(1 << 20, 'x');
      const push = () => {
        while (response.writable && response.write(chunk)) {
          // until the client is full or gone
        }
      };
      response.on('drain', push);
      push();
    });
    expect(await create(open(url))).toMatchObject({ is: 'broken', sent: true });
  });
});

describe('how requests travel', () => {
  test('"100 Continue", which nobody asked for, leaves open whether it was accepted', async () => {
    const port = await raw('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 8\r\n\r\n{"a": 1}');
    expect(await create(open(`http://127.0.0.1:${port}`))).toMatchObject({ is: 'broken', sent: true });
  });

  test.each([
    ['with a mark of byte order', '\ufeff{"a":"ü"}', { a: 'ü' }],
    ['without a length, on a connection that closes at once', '{"a":"ü"}', { a: 'ü' }],
    ['that is no JSON', '<html>', undefined],
  ])('an answer %s', async (_name, text, json) => {
    const port = await raw(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${text}`, { end: true });
    expect(await create(open(`http://127.0.0.1:${port}`))).toMatchObject({ is: 'answer', status: 200, json });
  });

  test('what must not be asked twice has a connection of its own, looks share a few', async () => {
    const { url, seen } = await serve((_request, response) => response.end('{}'));
    const http = open(url);
    for (let count = 0; count < 3; count += 1) await create(http);
    expect(new Set(seen.map(({ port }) => port)).size).toBe(3);
    for (let count = 0; count < 20; count += 1) await http.call({ method: 'GET', path: '/status', deadlineMs: 5000 });
    expect(new Set(seen.slice(3).map(({ port }) => port)).size).toBeLessThan(4);
  });

  test('a redirect is an answer, never followed', async () => {
    const other = await serve((_request, response) => response.end('{}'));
    const { url } = await serve((_request, response) => response.writeHead(307, { location: `${other.url}/` }).end());
    expect(await create(open(url))).toMatchObject({ is: 'answer', status: 307 });
    expect(other.seen).toEqual([]);
  });
});

const address = new URL('https://api.example:8443/api/v1');
const proxy = 'http://proxy.example:3128';

test.each<[Record<string, string>, string, boolean]>([
  [{ HTTPS_PROXY: proxy }, address.href, true],
  [{ HTTP_PROXY: proxy }, address.href, true],
  [{ https_proxy: 'proxy.example:3128' }, address.href, true],
  [{ HTTPS_PROXY: '' }, address.href, false],
  [{ NODE_USE_ENV_PROXY: '1' }, address.href, false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: 'other.example,.example' }, address.href, false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: 'api.example:443' }, address.href, true],
  [{ HTTPS_PROXY: proxy, NO_PROXY: '*' }, address.href, false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: '*.example' }, address.href, false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: 'other, api.example:8443' }, address.href, false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: '192.0.2.7' }, 'https://192.0.2.7/x', false],
  [{ HTTPS_PROXY: proxy, NO_PROXY: '192.0.2.0/24' }, 'https://192.0.2.7/x', true],
  [{ HTTPS_PROXY: proxy, NO_PROXY: 'ample' }, address.href, true],
  [{ HTTPS_PROXY: proxy, HTTP_PROXY: proxy }, 'http://127.0.0.1:4000/api/v1', false],
  [{ HTTPS_PROXY: proxy }, 'https://localhost:4000/api/v1', false],
])('%j, for %s', (env, url, isUsed) => {
  expect(proxyFor(new URL(url), env)?.host).toBe(isUsed ? 'proxy.example:3128' : undefined);
});

test('names the proxy that refuses, and never its login', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer().on('connect', (request, socket) => {
    asked.push(request.url, request.headers['proxy-authorization']);
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  const port = await listen(server);
  const api = { host: 'api.example', port: 443, timeoutMs: 5000 };
  const tunnel = openTunnel(new URL(`http://me:word@127.0.0.1:${port}`), api);
  const error: Error = await tunnel.then(Promise.reject, (thrown: Error) => thrown);
  expect(error.message).toMatch(/^the proxy 127\.0\.0\.1:\d+ rejected the credentials in HTTPS_PROXY \(HTTP 407\)/);
  expect(error.message).not.toContain('word');
  expect(asked).toEqual(['api.example:443', `Basic ${Buffer.from('me:word').toString('base64')}`]);
});
