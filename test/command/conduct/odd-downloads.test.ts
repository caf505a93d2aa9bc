import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../../rig/command.ts';

const size = 12 << 20;
/** A picture that is as big as is wanted: zeros between the head and the end of a PNG. */
const picture = Buffer.alloc(size);
Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwC', 'base64').copy(picture);
Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]).copy(picture, size - 12);

const heads: [string, string][] = [
  ['no length', 'connection: close\r\n'],
  ['no length, and no word about it', ''],
  ['a length, and a connection that ends', `content-length: ${size}\r\nconnection: close\r\n`],
];

test.each(heads)(
  'files with %s, all at once, from a storage beside the service, one of them cut at first',
  async (_name, head) => {
    let cut = 0;
    const storage = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (request) => {
        const isCut = String(request).includes('/job3 ') && cut === 0;
        if (isCut) cut += 1;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n${head}\r\n`);
        socket.end(isCut ? picture.subarray(0, size / 2) : picture);
      });
    });
    await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve));
    const files = `http://127.0.0.1:${(storage.address() as AddressInfo).port}/files`;
    let jobs = 0;
    const server = createServer((request, response) => {
      const { url = '' } = request;
      request.resume().on('end', () => {
        if (url.endsWith('/create')) {
          jobs += 1;
          const created = { success: true, generation: { id: `job${jobs}` }, creditsDeducted: 1, creditsRemaining: 9 };
          response.end(JSON.stringify(created));
          return;
        }
        const id = url.split('/').at(-1);
        response.end(JSON.stringify({ success: true, data: { id, status: 'COMPLETED', outputUrl: `${files}/${id}` } }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { path: folder, remove } = temporaryFolder();
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
      storage.close();
      remove();
    });
    const rows = Array.from({ length: 6 }, (_, index) => `p${index}`);
    writeFileSync(
      join(folder, 'campaign.yaml'),
      `version: 1
name: odd
prices: { image: 1 }
tasks:
  pic: { kind: image, foreach: [${rows.join(', ')}], with: { prompt: "{{row}}" }, save: "{{row}}" }
`,
    );
    const done = await command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
      cwd: folder,
      env: {
        MEDIABATCH_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
        MEDIABATCH_API_KEY: 'acme_live_secret123456',
      },
    });
    expect(done.code, done.err).toBe(0);
    expect([jobs, cut]).toEqual([6, 1]);
    for (const row of rows) expect(statSync(join(folder, `${row}.png`)).size).toBe(size);
  },
);
