import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openTunnel, proxyFor } from '../../../src/service/proxy.ts';

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const tunnel = openTunnel(new URL(`http://me:word@127.0.0.1:${port}`), {
    host: 'api.example',
    port: 443,
    timeoutMs: 5000,
  });
  const error: Error = await tunnel.then(Promise.reject, (thrown: Error) => thrown);
  expect(error.message).toMatch(/^the proxy 127\.0\.0\.1:\d+ refuses the login in HTTPS_PROXY \(HTTP 407\)/);
  expect(error.message).not.toContain('word');
  expect(asked).toEqual(['api.example:443', `Basic ${Buffer.from('me:word').toString('base64')}`]);
});
