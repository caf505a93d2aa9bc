import { createServer, type Server } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectOnce, reachService } from '../../../src/service/reach.ts';

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

describe('whether a service can be reached', () => {
  test('one connection is enough', async () => {
    expect(await reach(undefined)).toEqual({ found: { is: 'reached' }, failures: [], sleptMs: 0 });
  });

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
    const server: Server = createServer((socket) => {
      socket.on('data', (bytes) => received.push(bytes));
      ended.push(new Promise((resolve) => socket.on('close', () => resolve())));
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await connectOnce(new URL(`http://127.0.0.1:${port}/api/v1`), 5000)).toBeUndefined();
    await Promise.all(ended);
    expect(received).toEqual([]);
    // It does not speak TLS: a certificate is part of being there.
    const hangsUp = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => hangsUp.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      hangsUp.close();
    });
    const other = hangsUp.address();
    const secure = typeof other === 'object' && other !== null ? other.port : 0;
    expect(await connectOnce(new URL(`https://127.0.0.1:${secure}/api/v1`), 5000)).toEqual(expect.any(String));
    expect(await connectOnce(new URL('http://127.0.0.1:9/api/v1'), 5000)).toContain('ECONNREFUSED');
  });
});
