import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FileToUpload } from '../../../src/service/library.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listen } from './loopback.ts';
import { type Call, failure, key, type Reply, refusal, type Scripted, serveScript } from './scripted.ts';

const signal = new AbortController().signal;
const asset = { id: 'asset-1', name: 'a.png', url: 'https://cdn.example/a.png', mimeType: 'image/png' };
const taken: Reply = { json: { success: true, data: asset } };
const blobUrl = 'https://cdn.example/blob';
/** The smallest file that goes to storage. */
const large = 7_000_001;

function makeFile(bytes: number, name = 'a.png'): FileToUpload {
  const folder = makeFolder();
  const content = Buffer.alloc(bytes, 'mediabatch');
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, fileName: name, bytes, sha256: createHash('sha256').update(content).digest('hex') };
}

/** A service with a storage of its own beside it; `script` answers instead where it wants to. */
async function serveStorage(
  script: (call: Call, count: number) => Reply | undefined = () => undefined,
  minted: object = {},
): Promise<Scripted> {
  let origin = '';
  const scripted = await serveScript((call, count) => {
    const own = script(call, count);
    if (own !== undefined) return own;
    switch (call.name) {
      case 'POST /uploads/signed-url': {
        const data = {
          uploadUrl: `${origin}/storage/blob?signature=s3cret&try=${count}`,
          token: 't',
          publicUrl: blobUrl,
          blobName: 'uploads/blob',
          ...minted,
        };
        return { json: { success: true, data } };
      }
      case 'PUT //storage/blob':
        return { text: '' };
      case 'POST /uploads/complete':
        return taken;
      default:
        return refusal(404);
    }
  });
  origin = scripted.origin;
  return scripted;
}

const inward = { success: true, data: { id: 'x', url: 'http://10.0.0.1/x' } };
const wholeFlow = ['POST /uploads/signed-url', 'PUT //storage/blob', 'POST /uploads/complete'];

describe('small files', () => {
  it('travel in the request', async () => {
    const { library, calls } = await serveScript(() => taken);
    const file = makeFile(30);
    expect(await library.upload(file, signal)).toEqual({ id: 'asset-1', url: asset.url });
    expect(calls.map(({ name, json }) => [name, json])).toEqual([
      [
        'POST /uploads',
        { fileName: 'a.png', contentType: 'image/png', base64: 'bWVkaWFiYXRjaG1lZGlhYmF0Y2htZWRpYWJhdGNo' },
      ],
    ]);
  });

  it('by a URL that the service fetches', async () => {
    const { library, calls } = await serveScript(() => taken);
    expect((await library.uploadUrl('https://a.example/x.png', 'x.png')).id).toBe('asset-1');
    await library.uploadUrl('https://a.example/x.png');
    expect(calls.map(({ json }) => json)).toEqual([
      { url: 'https://a.example/x.png', fileName: 'x.png' },
      { url: 'https://a.example/x.png' },
    ]);
  });

  it.each<[string, unknown]>([
    ['no data', { success: true }],
    ['no id', { success: true, data: { url: asset.url } }],
    ['a link without https', { success: true, data: { ...asset, url: 'http://cdn.example/a.png' } }],
    ['a link to another name of this machine', { success: true, data: { ...asset, url: 'http://localhost:9/a.png' } }],
  ])('an answer with %s cannot be used', async (_name, json) => {
    const { library, calls } = await serveScript(() => ({ json }));
    expect((await failure(library.upload(makeFile(3), signal))).why).toBe('unusable');
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['service itself', (origin: string) => `${origin}/a.png`],
    ['storage beside it', () => 'http://127.0.0.1:9/a.png'],
  ])('a link to the local %s can be used', async (_name, linkTo) => {
    const served = await serveScript(() => ({
      json: { success: true, data: { ...asset, url: linkTo(served.origin) } },
    }));
    expect((await served.library.upload(makeFile(3), signal)).url).toBe(linkTo(served.origin));
  });
});

describe('large files', () => {
  it('go to storage, with their type and without the key', async () => {
    const { library, calls, names } = await serveStorage();
    const file = makeFile(large, 'film.mp4');
    const progress: number[] = [];
    expect(await library.upload(file, signal, (sent, bytes) => progress.push(sent / bytes))).toEqual({
      id: 'asset-1',
      url: asset.url,
    });
    expect(names()).toEqual(wholeFlow);
    const [minted, put, complete] = calls;
    expect(minted?.json).toEqual({ fileName: 'film.mp4' });
    expect(complete?.json).toEqual({ blobName: 'uploads/blob', fileName: 'film.mp4' });
    expect([put?.sha256, put?.bytes]).toEqual([file.sha256, large]);
    expect(put?.headers).toMatchObject({ 'content-type': 'video/mp4', 'content-length': String(large) });
    expect(put?.headers['transfer-encoding']).toBeUndefined();
    expect(put?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(put?.headers)).not.toContain(key);
    expect(progress.at(-1)).toBe(1);
    expect(progress.every((share, index) => share > (progress[index - 1] ?? 0))).toBe(true);
  });

  it.each<[string, unknown, string, { id: string; url: string }]>([
    ['nothing but its success', { success: true }, 'uploads/blob', { id: 'uploads/blob', url: blobUrl }],
    ['a link that cannot be used', inward, 'uploads/blob', { id: 'uploads/blob', url: blobUrl }],
    ['a name with spaces', { success: true }, 'Über uns.mp4', { id: 'w5xiZXIgdW5zLm1wNA', url: blobUrl }],
    ['the asset itself', asset, 'uploads/blob', { id: 'asset-1', url: asset.url }],
  ])('an answer to `complete` with %s', async (_name, json, blobName, expected) => {
    const { library } = await serveStorage(({ name }) => (name === 'POST /uploads/complete' ? { json } : undefined), {
      blobName,
    });
    expect(await library.upload(makeFile(large), signal)).toEqual(expected);
  });

  it('no usable link anywhere', async () => {
    const { library } = await serveStorage(({ name }) => (name.endsWith('/complete') ? { json: {} } : undefined), {
      publicUrl: 'http://cdn.example/blob',
    });
    expect((await failure(library.upload(makeFile(large), signal))).why).toBe('unusable');
  });

  it.each<[string, object]>([
    ['no URL', { uploadUrl: undefined }],
    ['a number for a URL', { uploadUrl: 7 }],
    ['no name', { blobName: '' }],
  ])('a signed URL with %s', async (_name, minted) => {
    const { library, names } = await serveStorage(undefined, minted);
    expect((await failure(library.upload(makeFile(large), signal))).why).toBe('unusable');
    expect(names()).toEqual(wholeFlow.slice(0, 1));
  });

  it('nothing is sent to an address that is not public', async () => {
    let reached = 0;
    const other = createServer((_request, response) => {
      reached += 1;
      response.end();
    });
    const port = await listen(other);
    const urls = [
      `http://127.0.0.2:${port}/x`,
      `http://me:secret@127.0.0.1:${port}/x`,
      'https://10.0.0.1/x',
      'https://user:pw@storage.example/x',
      'x',
    ];
    const file = makeFile(large);
    for (const uploadUrl of urls) {
      const { library, names } = await serveStorage(undefined, { uploadUrl });
      const { why, message } = await failure(library.upload(file, signal));
      expect([uploadUrl, why, names()]).toEqual([uploadUrl, 'refused', wholeFlow.slice(0, 1)]);
      expect(message).not.toContain('pw');
    }
    expect(reached).toBe(0);
  });

  it('a long answer of a storage that closes at once harms nobody', async () => {
    const { library } = await serveStorage(({ name }) =>
      name === 'PUT //storage/blob'
        ? (response) => {
            response.shouldKeepAlive = false;
            response.useChunkedEncodingByDefault = false;
            response.writeHead(200).end(Buffer.alloc(1 << 20, '<'));
          }
        : undefined,
    );
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
  });

  it('a redirect of the storage is not followed', async () => {
    const { library, names } = await serveStorage(({ name }) =>
      name === 'PUT //storage/blob' ? { status: 307, headers: { location: '/storage/other' } } : undefined,
    );
    expect(await failure(library.upload(makeFile(large), signal))).toMatchObject({ why: 'refused', status: 307 });
    expect(names()).toEqual(wholeFlow.slice(0, 2));
  });
});

describe('again', () => {
  it.each<[string, Reply]>([
    ['a server error', refusal(503)],
    ['a link that has run out', { status: 403, text: '<Error>' }],
    ['a broken connection', (response) => response.destroy()],
  ])('%s of the storage: from the start, with another signed URL', async (_name, reply) => {
    const { library, calls, names, pauses } = await serveStorage(({ name }, count) =>
      name === 'PUT //storage/blob' && count < 3 ? reply : undefined,
    );
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
    expect(names()).toEqual([...wholeFlow.slice(0, 2), ...wholeFlow.slice(0, 2), ...wholeFlow]);
    expect(calls.filter(({ method }) => method === 'PUT').map(({ query }) => query.get('try'))).toEqual([
      '1',
      '2',
      '3',
    ]);
    expect(pauses).toEqual([500, 1000]);
  });

  it('a lost answer to `complete` does not send the file again', async () => {
    const { library, names } = await serveStorage(({ name }, count) =>
      name === 'POST /uploads/complete' && count === 1 ? (response) => response.destroy() : undefined,
    );
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
    expect(names()).toEqual([...wholeFlow, 'POST /uploads/complete']);
  });

  it('not sooner than the service asks, and not later than is sensible', async () => {
    const busy = (count: number) => refusal(429, { 'retry-after': count === 1 ? '7' : '99999999' });
    const { library, pauses } = await serveScript((_call, count) => (count < 3 ? busy(count) : taken));
    expect((await library.upload(makeFile(3), signal)).id).toBe('asset-1');
    expect(pauses).toEqual([7500, 151_000]);
  });

  it.each<[string, Reply]>([
    ['429', refusal(429)],
    ['a server error', refusal(500)],
    ['a broken connection', (response) => response.destroy()],
  ])('%s for ever: four times', async (_name, reply) => {
    const { library, calls, pauses } = await serveScript(() => reply);
    expect((await failure(library.upload(makeFile(3), signal))).why).toBe('unreachable');
    expect(calls).toHaveLength(4);
    expect(pauses).toHaveLength(3);
  });

  it.each([400, 401, 402, 404, 413, 415])('%i is the last word', async (status) => {
    const { library, calls } = await serveScript(() => refusal(status));
    const error = await failure(library.uploadUrl('https://a.example/x.png'));
    expect([error.why, error.status]).toEqual([status === 401 ? 'auth' : 'refused', status]);
    expect(error.message).not.toContain(key);
    expect(calls).toHaveLength(1);
  });

  it('a storage that says nothing for two minutes is left, and asked again', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { library, names } = await serveStorage((call, count) => {
      if (call.name !== 'PUT //storage/blob' || count > 1) return undefined;
      asked();
      return () => {};
    });
    const file = makeFile(large);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const uploading = library.upload(file, signal);
    await isAsked;
    vi.advanceTimersByTime(119_999);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(names()).toEqual(wholeFlow.slice(0, 2));
    vi.advanceTimersByTime(1);
    expect((await uploading).id).toBe('asset-1');
    expect(names()).toEqual([...wholeFlow.slice(0, 2), ...wholeFlow]);
  });

  it('never after an interruption', async () => {
    const stop = new AbortController();
    const { library, names } = await serveStorage(({ name }) => {
      if (name !== 'PUT //storage/blob') return undefined;
      stop.abort();
      return () => {};
    });
    await failure(library.upload(makeFile(large), stop.signal));
    expect(names()).toEqual(wholeFlow.slice(0, 2));
  });
});

describe('the file that was planned, or none', () => {
  it.each<[string, number, (path: string) => void]>([
    ['small, and changed', 30, (path) => writeFileSync(path, 'x'.repeat(30))],
    ['small, and longer now', 30, (path) => appendFileSync(path, 'x')],
    ['small, and gone', 30, (path) => rmSync(path)],
    ['large, and changed', large, (path) => writeFileSync(path, Buffer.alloc(large, 'x'))],
    ['large, and longer now', large, (path) => appendFileSync(path, 'x')],
    ['large, and shorter now', large, (path) => writeFileSync(path, 'x')],
    ['a folder now', large, (path) => [rmSync(path), mkdirSync(path)]],
    [
      'a link now',
      30,
      (path) => {
        writeFileSync(`${path}.real`, Buffer.alloc(30, 'mediabatch'));
        rmSync(path);
        symlinkSync(`${path}.real`, path);
      },
    ],
  ])('%s', async (_name, bytes, change) => {
    const { library, names } = await serveStorage();
    const file = makeFile(bytes);
    change(file.path);
    const error = await failure(library.upload(file, signal));
    expect(error.why).toBe('refused');
    expect(error.message).toContain('a.png');
    expect(names()).not.toContain('POST /uploads');
    expect(names()).not.toContain('POST /uploads/complete');
  });

  it('a file that changes while it is read never arrives in full', async () => {
    let file = { path: '' };
    const { library, names, calls } = await serveStorage(({ name }) => {
      if (name === 'POST /uploads/signed-url') writeFileSync(file.path, Buffer.alloc(large, 'changed'));
      return undefined;
    });
    const planned = makeFile(large);
    file = planned;
    expect((await failure(library.upload(planned, signal))).message).toContain('plan again');
    expect(names()).not.toContain('POST /uploads/complete');
    expect(calls.filter(({ method, bytes }) => method === 'PUT' && bytes === large)).toEqual([]);
  });
});
