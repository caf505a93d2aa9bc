import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { apiKey, dataOf, goodBodies, type KindName, openRig, type Rig } from './rig.ts';

const infinite = { speed: Number.POSITIVE_INFINITY, credits: 100_000 };

async function fetchFile(rig: Rig, url: unknown) {
  const response = await rig.sandbox.fetch(new Request(String(url)));
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes };
}

/** What the first bytes say a file is. */
function sniff(bytes: Buffer): string {
  if (bytes.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (bytes.toString('latin1', 0, 4) === 'RIFF') return bytes.toString('latin1', 8, 12).trim().toLowerCase();
  if (bytes.readUInt16BE(0) === 0xffd8) return 'jpeg';
  if (bytes.readUInt16BE(0) >>> 5 === 0x7ff) return 'mp3';
  return bytes.toString('latin1', 0, 4).toLowerCase();
}

const film = { prompt: 'a slow push in', duration: 2 };

describe('what a job gives is what its type says', () => {
  test.each<[KindName, object, string, string]>([
    ['thumbnail', {}, 'image/jpeg', 'jpeg'],
    ['influencer', { aspectRatio: '16:9' }, 'image/webp', 'webp'],
    ['voiceover', {}, 'audio/mpeg', 'mp3'],
    ['voiceover', { output_format: 'wav' }, 'audio/wav', 'wave'],
    ['voiceover', { output_format: 'flac' }, 'audio/flac', 'flac'],
    ['video', film, 'video/webm', 'webm'],
  ])('%s %o', async (kind, fields, type, format) => {
    const rig = openRig(infinite);
    const id = await rig.jobId(kind, { ...goodBodies[kind], ...fields });
    const file = await fetchFile(rig, await rig.outputUrl(kind, id));
    expect([file.type, sniff(file.bytes)]).toEqual([type, format]);
  });

  test('a video has a poster; no other name is served', async () => {
    const rig = openRig(infinite);
    const { outputUrl, thumbnailUrl } = await rig.status('video', await rig.jobId('video', film));
    const poster = await fetchFile(rig, thumbnailUrl);
    expect([poster.type, sniff(poster.bytes)]).toEqual(['image/webp', 'webp']);
    expect((await fetchFile(rig, String(outputUrl).replace('video.webm', 'clip-1.webm'))).status).toBe(404);
  });

  test('a voice and an account have samples', async () => {
    const rig = openRig();
    const voices = (await rig.call('GET', '/api/v1/voiceovers/voices')).body.voices as { previewUrl: string }[];
    const sample = await fetchFile(rig, voices[4]?.previewUrl);
    expect([sample.type, sniff(sample.bytes)]).toEqual(['audio/mpeg', 'mp3']);
    const accounts = (await rig.call('GET', '/api/v1/accounts')).body.data as { profilePicture: string }[];
    const picture = await fetchFile(rig, accounts[0]?.profilePicture);
    expect([picture.type, sniff(picture.bytes)]).toEqual(['image/jpeg', 'jpeg']);
  });
});

describe('clips', () => {
  const clipsOf = async (rig: Rig, body: object) => {
    const { clips } = await rig.status('clipping', await rig.jobId('clipping', body));
    const urls = (clips as { outputAsset: { url: string } }[]).map(({ outputAsset }) => outputAsset.url);
    return Promise.all(urls.map((url) => fetchFile(rig, url)));
  };
  const total = (files: { bytes: Buffer }[]) => files.reduce((sum, { bytes }) => sum + bytes.length, 0);

  test('of a video of this sandbox are its pieces; of its copy in the library too', async () => {
    const rig = openRig(infinite);
    const videoUrl = await rig.outputUrl('video', await rig.jobId('video', film));
    const source = await fetchFile(rig, videoUrl);
    const copy = dataOf((await rig.call('POST', '/api/v1/uploads', { body: { url: videoUrl } })).body).url;
    for (const url of [videoUrl, copy]) {
      const clips = await clipsOf(rig, { videoUrl: url, maxClips: 2 });
      expect(clips.map(({ type, bytes }) => [type, sniff(bytes)])).toEqual(clips.map(() => ['video/webm', 'webm']));
      // Copied frames: together about as large as the film, whatever is written around them.
      expect(total(clips) / source.bytes.length).toBeGreaterThan(0.9);
      expect(total(clips) / source.bytes.length).toBeLessThan(1.1);
    }
  });

  test('of clips, also when the job that they came from has been deleted', async () => {
    const rig = openRig(infinite);
    const videoUrl = await rig.outputUrl('video', await rig.jobId('video', film));
    const first = await rig.jobId('clipping', { videoUrl, maxClips: 1 });
    const [clip] = (await rig.status('clipping', first)).clips as { outputAsset: { url: string } }[];
    const second = await rig.jobId('clipping', { videoUrl: clip?.outputAsset.url, maxClips: 1 });
    await rig.call('DELETE', `/api/v1/clippings/${first}`);
    const [again] = (await rig.status('clipping', second)).clips as { outputAsset: { url: string } }[];
    const [source, result] = [await fetchFile(rig, videoUrl), await fetchFile(rig, again?.outputAsset.url)];
    expect(total([result]) / source.bytes.length).toBeGreaterThan(0.9);
    expect(total([result]) / source.bytes.length).toBeLessThan(1.1);
  });
});

describe('large files', () => {
  let dataDir = '';
  const closers: (() => Promise<void> | void)[] = [];
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'sandbox-'));
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    rmSync(dataDir, { recursive: true });
  });

  const mebibyte = 1024 * 1024;

  async function post(url: string, body: object) {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, data: ((await answer.json()) as { data?: Record<string, string> }).data ?? {} };
  }

  function openPut(url: string, bytes: number, agent?: Agent): { request: ClientRequest; status: Promise<number> } {
    const headers = { 'content-type': 'video/mp4', 'content-length': bytes };
    const request = httpRequest(url, { method: 'PUT', headers, ...(agent && { agent }) });
    const status = new Promise<number>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
    });
    status.catch(() => undefined);
    return { request, status };
  }

  function* pieces(count: number) {
    const piece = Buffer.alloc(mebibyte);
    for (let index = 0; index < count; index += 1) {
      piece.fill(index % 251);
      yield Buffer.from(piece);
    }
  }

  async function launch(): Promise<{ child: ChildProcess; base: string }> {
    const script = fileURLToPath(new URL('serve-sandbox.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    closers.push(
      () =>
        new Promise<void>((resolve) => {
          child.once('exit', () => resolve());
          child.kill('SIGKILL');
        }),
    );
    const base = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      child.once('exit', (code) => reject(new Error(`the sandbox process ended with ${code}`)));
    });
    return { child, base };
  }

  test('a large file goes in and out without ever being in memory', async () => {
    const count = 260;
    const { child, base } = await launch();
    const { data } = await post(`${base}/uploads/signed-url`, { fileName: 'large.mp4' });
    const { request, status } = openPut(data.uploadUrl ?? '', count * mebibyte);
    const sent = createHash('sha256');
    await pipeline(
      Readable.from(pieces(count)),
      async function* (chunks) {
        for await (const chunk of chunks) {
          sent.update(chunk);
          yield chunk;
        }
      },
      request,
    );
    expect(await status).toBe(200);
    const asset = await post(`${base}/uploads/complete`, { blobName: data.blobName });
    expect(asset.data.fileSize).toBe(count * mebibyte);

    const received = createHash('sha256');
    const download = await fetch(asset.data.url ?? '');
    for await (const chunk of download.body ?? []) received.update(chunk);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    const part = await fetch(asset.data.url ?? '', {
      headers: { range: `bytes=${200 * mebibyte - 1}-${200 * mebibyte}` },
    });
    expect([...new Uint8Array(await part.arrayBuffer())]).toEqual([199, 200]);

    const process = `/proc/${child.pid}/status`;
    const peakKib = existsSync(process) ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(process, 'utf8'))?.[1]) : 0;
    expect(peakKib / 1024).toBeLessThan(200);
  });

  describe('an upload that goes wrong', () => {
    async function listen() {
      const sandbox = createSandbox({ dataDir });
      const { url } = await sandbox.listen();
      closers.push(() => sandbox.close());
      const { data } = await post(`${url}/uploads/signed-url`, { fileName: 'a.mp4' });
      return { sandbox, base: url, data };
    }

    test('a caller that goes away in the middle leaves nothing behind', async () => {
      const { sandbox, base, data } = await listen();
      const { request } = openPut(data.uploadUrl ?? '', 100 * mebibyte);
      request.write(Buffer.alloc(mebibyte));
      const uploads = join(dataDir, 'uploads');
      await expect.poll(() => existsSync(uploads) && readdirSync(uploads).length).toBe(1);
      request.destroy();
      await expect.poll(() => readdirSync(uploads)).toEqual([]);
      expect((await post(`${base}/uploads/complete`, { blobName: data.blobName })).status).toBe(404);
      const again = openPut(data.uploadUrl ?? '', 3);
      again.request.end('abc');
      expect(await again.status).toBe(200);
      expect(sandbox.requests().filter(({ method }) => method === 'PUT')).toHaveLength(2);
    });

    test('one that is refused is read to its end and answered, and the connection can be used again', async () => {
      const { data } = await listen();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      closers.push(() => agent.destroy());
      const wrong = String(data.uploadUrl).replace(/token=./, 'token=x');
      const refused = openPut(wrong, 20 * mebibyte, agent);
      await pipeline(Readable.from(pieces(20)), refused.request);
      expect(await refused.status).toBe(403);
      const good = openPut(data.uploadUrl ?? '', 2 * mebibyte, agent);
      await pipeline(Readable.from(pieces(2)), good.request);
      expect(await good.status).toBe(200);
      expect(good.request.reusedSocket).toBe(true);
    });
  });
});
