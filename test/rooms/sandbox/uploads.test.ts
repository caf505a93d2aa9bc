import { describe, expect, test } from 'vitest';
import { freePort } from '../../rig/free-port.ts';
import { serveHere } from '../../rig/listen.ts';
import { dataOf, openRig, type Rig } from './rig.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

const upload = (rig: Rig, body: unknown) => rig.call('POST', '/api/v1/uploads', { body });
const sign = async (rig: Rig, fileName = 'film.mp4') =>
  dataOf((await rig.call('POST', '/api/v1/uploads/signed-url', { body: { fileName } })).body) as Record<string, string>;
const complete = (rig: Rig, body: unknown) => rig.call('POST', '/api/v1/uploads/complete', { body });
const list = async (rig: Rig) => (await rig.call('GET', '/api/v1/uploads')).body.data as object[];

async function put(rig: Rig, url: string | undefined, body: string | Uint8Array<ArrayBuffer>) {
  const request = new Request(String(url), { method: 'PUT', body, headers: { 'content-type': 'video/mp4' } });
  const response = await rig.sandbox.fetch(request);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function fetchBytes(rig: Rig, url: unknown) {
  const response = await rig.sandbox.fetch(new Request(String(url)));
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const base64 = png.toString('base64');

test.each<[string, object, string, string, string]>([
  ['raw', { base64, fileName: 'a.png' }, 'a.png', 'image/png', 'IMAGE'],
  ['a data: URL', { base64: `data:image/webp;base64,${base64}`, fileName: 'a' }, 'a', 'image/webp', 'IMAGE'],
  ['a named type', { base64, fileName: 'a.png', contentType: 'video/mp4' }, 'a.png', 'video/mp4', 'VIDEO'],
  ['white space', { base64: ` ${png.toString('base64url')}\n`, fileName: 'a.mp3' }, 'a.mp3', 'audio/mpeg', 'AUDIO'],
  ['an unknown type', { base64, fileName: '../é ?.bin' }, '../é ?.bin', 'application/octet-stream', 'DOCUMENT'],
])('base64: %s', async (_name, body, name, mimeType, type) => {
  const rig = openRig();
  const { status, body: answer } = await upload(rig, body);
  expect(status).toBe(200);
  const asset = {
    id: expect.any(String),
    name,
    url: expect.stringMatching(/^http:\/\/sandbox\.test\/storage\/public\/[0-9a-f]{40}\/[\w.-]+$/),
    mimeType,
    type,
    fileSize: png.length,
    createdAt: new Date(rig.clock.now).toISOString(),
  };
  expect(answer).toEqual({ success: true, data: asset });
  expect(await list(rig)).toEqual([dataOf(answer)]);
  const { response, bytes } = await fetchBytes(rig, dataOf(answer).url);
  expect(bytes.equals(png)).toBe(true);
  expect(response.headers.get('content-type')).toBe(mimeType);
  expect(rig.sandbox.ledger()).toEqual([]);
  expect(rig.sandbox.balance()).toBe(1000);
});

describe('url', () => {
  test('a file of this machine; its answer names the type', async () => {
    const base = await serveHere((request, response) => {
      response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'audio/flac' }).end(png);
    });
    const rig = openRig();
    expect(dataOf((await upload(rig, { url: `${base}/a%20b.bin?x=1` })).body)).toMatchObject({
      name: 'a b.bin',
      mimeType: 'audio/flac',
      type: 'AUDIO',
      fileSize: png.length,
    });
    expect((await upload(rig, { url: `${base}/missing` })).body.message).toContain('answered 404');
  });

  test('a redirect is not followed, and nobody who listens is no file', async () => {
    const base = await serveHere((_request, response) => {
      response.writeHead(302, { location: 'https://example.com/' }).end();
    });
    expect((await upload(openRig(), { url: base })).body.message).toContain('answered 302');
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect((await upload(openRig(), { url: nobody })).body).toMatchObject({ code: 'url_not_fetched' });
  });

  test.each([
    'https://10.0.0.1/a.png',
    'http://10.0.0.1/a.png',
    'http://localhost.example.com/a.png',
    'http://127.0.0.1.example.com/',
    'file:///etc/passwd',
    'ftp://127.0.0.1/a',
    'a.png',
    `http://sandbox.test/files/${'0'.repeat(40)}/image.png`,
  ])('%s: the sandbox never leaves this machine', async (url) => {
    const { status, body } = await upload(openRig(), { url });
    const message = expect.stringContaining('never leaves this machine');
    expect([status, body]).toEqual([400, expect.objectContaining({ code: 'url_not_local', message })]);
  });

  test.each([
    ['https://cdn.example.com/a.png', {}, { name: 'a.png (stand-in)', mimeType: 'image/png', type: 'IMAGE' }],
    ['https://cdn.example.com/film.mp4', {}, { name: 'film.mp4 (stand-in)', mimeType: 'video/mp4', type: 'VIDEO' }],
    ['https://cdn.example.com/?id=7', { fileName: 'b.gif' }, { name: 'b.gif (stand-in)', mimeType: 'image/png' }],
  ])('%s gets a stand-in that says so, without being asked', async (url, more, asset) => {
    const rig = openRig();
    const { status, body } = await upload(rig, { url, ...more });
    expect(status).toBe(200);
    expect(body.data).toMatchObject(asset);
    expect(await list(rig)).toHaveLength(1);
  });
});

describe('a signed URL', () => {
  test('three steps bring a file into the library', async () => {
    const rig = openRig();
    const { uploadUrl, token, publicUrl, blobName } = await sign(rig, 'my film.mp4');
    expect(uploadUrl).toBe(`http://sandbox.test/storage/upload/${blobName}?token=${token}`);
    expect(publicUrl).toBe(`http://sandbox.test/storage/public/${blobName}`);
    expect((await fetchBytes(rig, publicUrl)).response.status).toBe(404);
    const early = await complete(rig, { blobName });
    expect([early.status, early.body.message]).toEqual([404, expect.stringContaining('No file has been sent')]);

    expect(await put(rig, uploadUrl, png)).toMatchObject({ status: 200, body: { success: true } });
    expect(await list(rig)).toEqual([]);
    expect((await fetchBytes(rig, publicUrl)).bytes.equals(png)).toBe(true);

    const done = await complete(rig, { blobName, fileName: 'Film' });
    const asset = { name: 'Film', url: publicUrl, mimeType: 'video/mp4', type: 'VIDEO', fileSize: png.length };
    expect(dataOf(done.body)).toMatchObject(asset);
    expect(await list(rig)).toEqual([dataOf(done.body)]);
    expect((await complete(rig, { blobName })).text).toBe(done.text);
    expect(await put(rig, uploadUrl, 'other')).toMatchObject({ status: 409, body: { code: 'upload_completed' } });
    expect((await fetchBytes(rig, publicUrl)).bytes.equals(png)).toBe(true);
  });

  test('is good for 15 minutes, for its own blob, and for PUT', async () => {
    const rig = openRig();
    const [first, second] = [await sign(rig, 'a.mp4'), await sign(rig, 'a.mp4')];
    const wrong = [
      String(first.uploadUrl).replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      `http://sandbox.test/storage/upload/${second.blobName}?token=${first.token}`,
      `http://sandbox.test/storage/upload/${first.blobName}?token=${String(first.token).replace('1', '2')}`,
      `http://sandbox.test/storage/upload/${first.blobName}`,
    ];
    for (const url of wrong) {
      expect(await put(rig, url, png)).toMatchObject({ status: 403, body: { code: 'invalid_signature' } });
    }
    const path = String(first.uploadUrl).slice('http://sandbox.test'.length);
    for (const method of ['GET', 'POST', 'DELETE']) expect((await rig.call(method, path)).status).toBe(405);
    rig.clock.now += 15 * 60 * 1000 - 1;
    expect((await put(rig, first.uploadUrl, png)).status).toBe(200);
    rig.clock.now += 1;
    expect(await put(rig, first.uploadUrl, png)).toMatchObject({ status: 403, body: { code: 'upload_url_expired' } });
    expect((await complete(rig, { blobName: first.blobName })).status).toBe(200);
  });
});
