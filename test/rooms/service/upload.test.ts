import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FileToUpload } from '../../../src/service/library.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listen } from './loopback.ts';
import { failure, key, type Reply, refusal, type Scripted, serveScript } from './scripted.ts';

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

const [mint, put, complete] = ['POST /uploads/signed-url', 'PUT //storage/blob', 'POST /uploads/complete'] as const;
const wholeFlow = [mint, put, complete];

/** A service with a storage of its own beside it; a script answers instead where it wants to. */
async function serveStorage(
  scripts: { [name: string]: (count: number) => Reply | undefined } = {},
  minted: object = {},
): Promise<Scripted> {
  let origin = '';
  const scripted = await serveScript(({ name }, count) => {
    const own = scripts[name]?.(count);
    if (own !== undefined) return own;
    if (name === put) return { text: '' };
    if (name === complete) return taken;
    if (name !== mint) return refusal(404);
    const uploadUrl = `${origin}/storage/blob?signature=s3cret&try=${count}`;
    const data = { uploadUrl, token: 't', publicUrl: blobUrl, blobName: 'uploads/blob', ...minted };
    return { json: { success: true, data } };
  });
  origin = scripted.origin;
  return scripted;
}

const inward = { success: true, data: { id: 'x', url: 'http://10.0.0.1/x' } };

describe('small files', () => {
  it('travel in the request', async () => {
    const { library, calls } = await serveScript(() => taken);
    const file = makeFile(30);
    expect(await library.upload(file, signal)).toEqual({ id: 'asset-1', url: asset.url });
    const sent = { fileName: 'a.png', contentType: 'image/png', base64: 'bWVkaWFiYXRjaG1lZGlhYmF0Y2htZWRpYWJhdGNo' };
    expect(calls.map(({ name, json }) => [name, json])).toEqual([['POST /uploads', sent]]);
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
    const data = () => ({ ...asset, url: linkTo(served.origin) });
    const served = await serveScript(() => ({ json: { success: true, data: data() } }));
    expect((await served.library.upload(makeFile(3), signal)).url).toBe(linkTo(served.origin));
  });
});

describe('large files', () => {
  it('go to storage, with their type and without the key', async () => {
    const { library, calls, names } = await serveStorage();
    const file = makeFile(large, 'film.mp4');
    const progress: number[] = [];
    const uploaded = await library.upload(file, signal, (sent, bytes) => progress.push(sent / bytes));
    expect(uploaded).toEqual({ id: 'asset-1', url: asset.url });
    expect(names()).toEqual(wholeFlow);
    const [minted, sent, completed] = calls;
    expect(minted?.json).toEqual({ fileName: 'film.mp4' });
    expect(completed?.json).toEqual({ blobName: 'uploads/blob', fileName: 'film.mp4' });
    expect([sent?.sha256, sent?.bytes]).toEqual([file.sha256, large]);
    expect(sent?.headers).toMatchObject({ 'content-type': 'video/mp4', 'content-length': String(large) });
    expect(sent?.headers['transfer-encoding']).toBeUndefined();
    expect(sent?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(sent?.headers)).not.toContain(key);
    expect(progress.at(-1)).toBe(1);
    expect(progress.every((share, index) => share > (progress[index - 1] ?? 0))).toBe(true);
  });

  it.each<[string, unknown, string, { id: string; url: string }]>([
    ['nothing but its success', { success: true }, 'uploads/blob', { id: 'uploads/blob', url: blobUrl }],
    ['a link that cannot be used', inward, 'uploads/blob', { id: 'uploads/blob', url: blobUrl }],
    ['a name with spaces', { success: true }, 'Über uns.mp4', { id: 'w5xiZXIgdW5zLm1wNA', url: blobUrl }],
    ['the asset itself', asset, 'uploads/blob', { id: 'asset-1', url: asset.url }],
  ])('an answer to `complete` with %s', async (_name, json, blobName, expected) => {
    const { library } = await serveStorage({ [complete]: () => ({ json }) }, { blobName });
    expect(await library.upload(makeFile(large), signal)).toEqual(expected);
  });

  it('no usable link anywhere', async () => {
    const publicUrl = 'http://cdn.example/blob';
    const { library } = await serveStorage({ [complete]: () => ({ json: {} }) }, { publicUrl });
    expect((await failure(library.upload(makeFile(large), signal))).why).toBe('unusable');
  });

  it.each<[string, object]>([
    ['no URL', { uploadUrl: undefined }],
    ['a number for a URL', { uploadUrl: 7 }],
    ['no name', { blobName: '' }],
  ])('a signed URL with %s', async (_name, minted) => {
    const { library, names } = await serveStorage({}, minted);
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
    const here = [`http://127.0.0.2:${port}/x`, `http://me:secret@127.0.0.1:${port}/x`];
    const urls = [...here, 'https://10.0.0.1/x', 'https://user:pw@storage.example/x', 'x'];
    const file = makeFile(large);
    for (const uploadUrl of urls) {
      const { library, names } = await serveStorage({}, { uploadUrl });
      const { why, message } = await failure(library.upload(file, signal));
      expect([uploadUrl, why, names()]).toEqual([uploadUrl, 'refused', wholeFlow.slice(0, 1)]);
      expect(message).not.toContain('pw');
    }
    expect(reached).toBe(0);
  });

  it('a long answer of a storage that closes at once harms nobody', async () => {
    const { library } = await serveStorage({
      [put]: () => (response) => {
        response.shouldKeepAlive = false;
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200).end(Buffer.alloc(1 << 20, '<'));
      },
    });
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
  });

  it('a redirect of the storage is not followed', async () => {
    const redirect = { status: 307, headers: { location: '/storage/other' } };
    const { library, names } = await serveStorage({ [put]: () => redirect });
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
    const script = (count: number) => (count < 3 ? reply : undefined);
    const { library, calls, names, pauses } = await serveStorage({ [put]: script });
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
    expect(names()).toEqual([...wholeFlow.slice(0, 2), ...wholeFlow.slice(0, 2), ...wholeFlow]);
    const tries = calls.filter(({ method }) => method === 'PUT').map(({ query }) => query.get('try'));
    expect(tries).toEqual(['1', '2', '3']);
    expect(pauses).toEqual([500, 1000]);
  });

  it('a lost answer to `complete` does not send the file again', async () => {
    const lose: Reply = (response) => response.destroy();
    const { library, names } = await serveStorage({ [complete]: (count) => (count === 1 ? lose : undefined) });
    expect((await library.upload(makeFile(large), signal)).id).toBe('asset-1');
    expect(names()).toEqual([...wholeFlow, complete]);
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
    const { library, names } = await serveStorage({
      [put](count) {
        if (count > 1) return undefined;
        asked();
        return () => {};
      },
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
    const { library, names } = await serveStorage({
      [put]() {
        stop.abort();
        return () => {};
      },
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
    ['a link now', 30, (path) => [renameSync(path, `${path}.real`), symlinkSync(`${path}.real`, path)]],
  ])('%s', async (_name, bytes, change) => {
    const { library, names } = await serveStorage();
    const file = makeFile(bytes);
    change(file.path);
    const error = await failure(library.upload(file, signal));
    expect(error.why).toBe('refused');
    expect(error.message).toContain('a.png');
    expect(names()).not.toContain('POST /uploads');
    expect(names()).not.toContain(complete);
  });

  it('a file that changes while it is read never arrives in full', async () => {
    const file = makeFile(large);
    const { library, names, calls } = await serveStorage({
      [mint]() {
        writeFileSync(file.path, Buffer.alloc(large, 'changed'));
        return undefined;
      },
    });
    expect((await failure(library.upload(file, signal))).message).toContain('plan again');
    expect(names()).not.toContain(complete);
    expect(calls.filter(({ method, bytes }) => method === 'PUT' && bytes === large)).toEqual([]);
  });
});
