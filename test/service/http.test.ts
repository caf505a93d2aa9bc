import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../src/service/download.ts';
import { createHttp, type HttpAnswer } from '../../src/service/http.ts';

const redact = (text: string) => text;

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: { url: string; headers: IncomingMessage['headers']; port: number | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers, port: request.socket.remotePort });
    request.resume().on('end', () => handle(request, response));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

/** A port on which every connection meets the same fate. */
async function tcp(onSocket: (socket: Socket) => void): Promise<number> {
  return listen(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    }),
  );
}

function open(baseUrl: string) {
  const http = createHttp({ baseUrl: `${baseUrl}/api/v1`, token: 'acme_live_secret123', redact });
  onTestFinished(() => http.close());
  return http;
}

const create = (http: ReturnType<typeof open>, deadlineMs = 5000): Promise<HttpAnswer> =>
  http.call({ method: 'POST', path: '/create', body: '{}', deadlineMs, freshConnection: true });

describe('what is known of a request that got no answer', () => {
  test('nobody listens: nothing was sent', async () => {
    const port = await tcp(() => {});
    const closed = await new Promise<number>((resolve) => {
      const server = createTcpServer().listen(0, '127.0.0.1', () => {
        const free = (server.address() as AddressInfo).port;
        server.close(() => resolve(free));
      });
    });
    expect(closed).not.toBe(port);
    expect(await create(open(`http://127.0.0.1:${closed}`))).toMatchObject({ is: 'broken', sent: false });
  });

  test('reset inside the TLS handshake: nothing was sent', async () => {
    const port = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await create(open(`https://127.0.0.1:${port}`))).toMatchObject({ is: 'broken', sent: false });
  });

  test('reset after the request: it may have been sent', async () => {
    const port = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await create(open(`http://127.0.0.1:${port}`))).toMatchObject({ is: 'broken', sent: true });
  });

  test('no answer in time: it may have been sent', async () => {
    const port = await tcp(() => {});
    const answer = await create(open(`http://127.0.0.1:${port}`), 100);
    expect(answer).toMatchObject({ is: 'broken', sent: true });
    expect(answer.is === 'broken' && answer.message).toContain('no answer within');
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
  test('a create has a connection of its own, looks share a few', async () => {
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

describe('fetching outputs', () => {
  const signal = new AbortController().signal;
  const downloader = (base: string) => {
    const made = createDownloader({ baseUrl: `${base}/api/v1`, redact });
    onTestFinished(() => made.close());
    return made;
  };

  test('from the local service itself, without the key', async () => {
    const { url, seen } = await serve((_request, response) => response.end('bytes'));
    const answer = await downloader(url).open(`${url}/files/a.png`, signal);
    expect(answer.is).toBe('open');
    if (answer.is === 'open') {
      let text = '';
      for await (const chunk of answer.download.body) text += Buffer.from(chunk).toString();
      expect(text).toBe('bytes');
      expect(answer.download.bytes).toBe(5);
    }
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    ['another port of this machine', 'http://127.0.0.1:9/x'],
    ['another port, https', 'https://127.0.0.1:9/x'],
    ['an address of the cloud', 'http://169.254.169.254/latest'],
    ['a private network', 'https://192.168.1.1/x'],
    ['a number as address', 'https://2130706433/x'],
    ['IPv6 loopback', 'https://[::1]/x'],
    ['mapped IPv6', 'https://[::ffff:127.0.0.1]/x'],
    ['a file', 'file:///etc/passwd'],
    ['a login', 'https://user:pass@1.1.1.1/x'],
    ['no URL', 'nonsense'],
  ])('refuses %s', async (_name, link) => {
    const { url } = await serve((_request, response) => response.end());
    expect((await downloader(url).open(link, signal)).is).toBe('refused');
  });

  test('a redirect into a private network is refused at that hop', async () => {
    const { url, seen } = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end(),
    );
    expect(await downloader(url).open(`${url}/a`, signal)).toMatchObject({ is: 'refused' });
    expect(seen).toHaveLength(1);
  });

  test('redirects end', async () => {
    const { url, seen } = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
    expect(await downloader(url).open(`${url}/a`, signal)).toMatchObject({ is: 'refused' });
    expect(seen.length).toBeLessThan(6);
  });

  test.each([
    [403, 'expired'],
    [404, 'expired'],
    [410, 'expired'],
    [500, 'unreachable'],
    [429, 'unreachable'],
    [400, 'refused'],
  ])('HTTP %i is %s', async (status, is) => {
    const { url } = await serve((_request, response) => response.writeHead(status).end());
    expect((await downloader(url).open(`${url}/a`, signal)).is).toBe(is);
  });

  test('a body that ends early is an error of the body', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('short');
      setImmediate(() => response.destroy());
    });
    const answer = await downloader(url).open(`${url}/a`, signal);
    const read = async () => {
      if (answer.is === 'open') for await (const _chunk of answer.download.body);
    };
    await expect(read()).rejects.toThrow();
  });

  test('a body that is closed unread lets go of its connection', async () => {
    const body = Buffer.alloc(1 << 22);
    const { url } = await serve((_request, response) => response.end(body));
    const one = downloader(url);
    // More than there are connections: the next one would wait for ever.
    for (let count = 0; count < 20; count += 1) {
      const answer = await one.open(`${url}/${count}`, signal);
      expect(answer.is).toBe('open');
      if (answer.is === 'open') await answer.download.body[Symbol.asyncIterator]().return?.();
    }
  });

  test('a body that was read to its end leaves its connection to the next one, also when it is closed then', async () => {
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

  test('a sender waits for a reader that is slow', async () => {
    const size = 64 << 20;
    const block = Buffer.alloc(1 << 16);
    let sent = 0;
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': size });
      const push = () => {
        while (sent < size) {
          sent += block.length;
          if (!response.write(block)) return void response.once('drain', push);
        }
        response.end();
      };
      push();
    });
    const answer = await downloader(url).open(`${url}/a`, signal);
    let received = 0;
    let mostAhead = 0;
    if (answer.is === 'open') {
      for await (const chunk of answer.download.body) {
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        mostAhead = Math.max(mostAhead, sent - received);
        received += chunk.length;
      }
    }
    expect(received).toBe(size);
    // What the system's own buffers hold, and a few chunks.
    expect(mostAhead).toBeLessThan(24 << 20);
  });
});
