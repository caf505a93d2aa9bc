import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDownloader } from '../../../src/service/download.ts';
import { createHttp } from '../../../src/service/http.ts';
import { command } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listen, serve } from './loopback.ts';

type DownloaderOptions = Parameters<typeof createDownloader>[0];

const redact = (text: string) => text;
const key = 'acme_live_secret123456';
/** Makes certificates. Where it is not installed, these tests are skipped. */
const openssl = ['/usr/bin/openssl', '/usr/local/bin/openssl', '/opt/homebrew/bin/openssl'].find(existsSync);

interface Encrypted {
  port: number;
  folder: string;
  certificate: string;
  /** As they were read; empty while nobody got through. */
  requests: string[];
  connections: () => number;
}

/** A key and its certificate, made once for all tests. */
let made: { key: string; cert: string } | undefined;

function makeCertificate(): { key: string; cert: string } {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=x'];
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:files.example'];
  const files = ['-keyout', '-', '-out', '-'];
  const text = execFileSync(openssl ?? '', ['req', '-x509', ...kind, ...names, ...files], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const [key = '', cert = ''] = text.match(/-----BEGIN[\s\S]*?-----END.*\n/g) ?? [];
  return { key, cert };
}

/** A service behind TLS. */
async function encrypted(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end('{}'),
): Promise<Encrypted> {
  made ??= makeCertificate();
  const folder = makeFolder();
  const certificate = join(folder, 'certificate.pem');
  writeFileSync(certificate, made.cert);
  const requests: string[] = [];
  let connections = 0;
  const server = createServer(made, (request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no key'}`);
    request.resume().on('end', () => answer(request, response));
  });
  server.on('connection', () => (connections += 1));
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  return { port, folder, certificate, requests, connections: () => connections };
}

describe.skipIf(openssl === undefined)('a certificate', () => {
  test('that nobody vouches for: a create is not sent, and no byte of the key leaves', async () => {
    const { port, requests, connections } = await encrypted();
    const http = createHttp({ baseUrl: `https://127.0.0.1:${port}/api/v1`, token: key, redact });
    onTestFinished(() => http.close());
    for (const freshConnection of [true, false]) {
      const call = { method: 'POST', path: '/create', body: '{}', deadlineMs: 5000, freshConnection } as const;
      expect(await http.call(call)).toEqual({
        is: 'broken',
        sent: false,
        message: expect.stringMatching(/self.signed certificate/),
      });
    }
    expect([connections(), requests]).toEqual([2, []]);
  });

  const manifest = `version: 1
name: encrypted
prices: { image: 1 }
tasks:
  pic: { kind: image, foreach: [a, b, c], with: { prompt: "{{row}}" }, save: "out/{{row}}" }
`;
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    'base64',
  );

  test('that is right: all goes over it, and the key to the service alone', async () => {
    let jobs = 0;
    const { port, folder, certificate, requests } = await encrypted(({ url = '' }, response) => {
      const job = { id: url.split('/').at(-1), status: 'COMPLETED', outputUrl: `https://127.0.0.1:${port}/files/a` };
      if (url.startsWith('/files/')) response.end(picture);
      else if (url.endsWith('/create')) {
        jobs += 1;
        response.end(JSON.stringify({ success: true, generation: { id: `job${jobs}` }, creditsDeducted: 1 }));
      } else response.end(JSON.stringify({ success: true, data: job }));
    });
    writeFileSync(join(folder, 'campaign.yaml'), manifest);
    const done = await command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
      cwd: folder,
      env: {
        MEDIABATCH_BASE_URL: `https://127.0.0.1:${port}/api/v1`,
        MEDIABATCH_API_KEY: key,
        NODE_EXTRA_CA_CERTS: certificate,
      },
    });
    expect(done.code, done.err).toBe(0);
    expect(jobs).toBe(3);
    expect(requests.filter((line) => line.startsWith('GET /files/'))).toEqual(Array(3).fill('GET /files/a no key'));
    expect(requests.filter((line) => line.endsWith(`Bearer ${key}`)).length).toBeGreaterThanOrEqual(6);
  }, 120_000);

  test('of another host does not let it redirect to this machine', async () => {
    const own = await serve((_request, response) => response.end('secret'));
    const { port } = await encrypted((_request, response) =>
      response.writeHead(302, { location: `${own.url}/secret` }).end(),
    );
    // The name has a public address, and the proxy leads to this machine.
    const proxy = createProxy().on('connect', (_request, socket) => {
      const there = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      socket
        .on('error', () => {})
        .pipe(there.on('error', () => {}))
        .pipe(socket);
    });
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${await listen(proxy)}`);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const lookup = ((_host: string, _options: unknown, done: (error: null, found: unknown) => void) =>
      done(null, [{ address: '93.184.216.34', family: 4 }])) as unknown as NonNullable<DownloaderOptions['lookup']>;
    const made = createDownloader({ baseUrl: own.url, redact, requestTimeoutMs: 5000, lookup });
    onTestFinished(() => made.close());
    const answer = await made.open('https://files.example/a', new AbortController().signal);
    expect([answer.is, own.seen]).toEqual(['refused', []]);
  });
});

test('what speaks no TLS at all gets no byte of a request', async () => {
  let seen = '';
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      socket.end('HTTP/1.1 200 OK\r\n\r\n');
    });
  });
  const port = await listen(server);
  const http = createHttp({ baseUrl: `https://127.0.0.1:${port}/api/v1`, token: key, redact });
  const call = { method: 'POST', path: '/create', body: '{"prompt":"x"}', deadlineMs: 5000 } as const;
  expect(await http.call(call)).toMatchObject({ is: 'broken', sent: false });
  await http.close();
  expect(seen).not.toContain('prompt');
  expect(seen).not.toContain(key);
});
