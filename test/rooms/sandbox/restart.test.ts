import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { makeFolder } from '../../rig/folder.ts';
import { dataOf, goodBodies, idOf, jsonHeaders, openRig, type Rig } from './rig.ts';

let dataDir = '';
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  dataDir = makeFolder();
});

afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
});

function start(clock?: { now: number }): Rig {
  const rig = openRig({ files: { dataDir }, ...(clock ? { now: () => clock.now } : {}) });
  open.push(rig.sandbox);
  return rig;
}

const song = { prompt: 'calm', model: 'song-7.5' };

describe('after a restart', () => {
  test('jobs, balance, ledger, replays and deletions are as they were', async () => {
    const before = start();
    const created = await before.createImage({ prompt: 'x', resolution: '1k', extra: [1, { a: null }] }, { key: 'k' });
    const kept = idOf(created);
    const deleted = await before.musicId(song);
    await before.call('DELETE', `/api/v1/music-generations/${deleted}`);
    before.clock.now += 60_000;
    const status = await before.call('GET', `/api/v1/image/status/${kept}`);
    const bytes = await before.output('image', kept);
    await before.sandbox.close();

    const after = start(before.clock);
    expect(after.sandbox.ledger()).toEqual(before.sandbox.ledger());
    expect(after.sandbox.balance()).toBe(1000 - 2 - 4);
    expect((await after.call('GET', `/api/v1/image/status/${kept}`)).text).toBe(status.text);
    expect((await after.output('image', kept)).equals(bytes)).toBe(true);
    expect((await after.call('GET', `/api/v1/music/status/${deleted}`)).status).toBe(404);
    const replay = await after.createImage({ prompt: 'x', resolution: '1k', extra: [1, { a: null }] }, { key: 'k' });
    expect([replay.status, replay.text]).toEqual([created.status, created.text]);
    expect((await after.createImage({ prompt: 'y' }, { key: 'k' })).status).toBe(409);
    expect(after.sandbox.ledger()).toHaveLength(2);
  });

  test('every list, every record, uploads and posts are as they were', async () => {
    const before = start();
    const accounts = (await before.call('GET', '/api/v1/accounts')).body.data as { id: string }[];
    const ids: Record<string, string> = {};
    for (const kind of ['video', 'voiceover', 'influencer', 'thumbnail', 'clipping'] as const) {
      for (let take = 0; take < 2; take += 1) ids[kind] = await before.jobId(kind, goodBodies[kind]);
    }
    const thumbnails = (await before.call('GET', '/api/v1/thumbnails')).body.data as { id: string }[];
    await before.call('DELETE', `/api/v1/thumbnails/${thumbnails[1]?.id}`);
    await before.call('POST', '/api/v1/posts', { body: { accountIds: [accounts[0]?.id], caption: 'x' } });
    await before.call('POST', '/api/v1/uploads', { body: { base64: 'AAAA', fileName: 'a.png' } });
    const signed = dataOf(
      (await before.call('POST', '/api/v1/uploads/signed-url', { body: { fileName: 'b.mp4' } })).body,
    );
    const put = { method: 'PUT', body: 'bytes', headers: { 'content-type': 'video/mp4' } };
    expect((await before.sandbox.fetch(new Request(String(signed.uploadUrl), put))).status).toBe(200);
    const clip = `/api/v1/clippings/status/${ids.clipping}`;
    before.clock.now += 44_000;
    expect(dataOf((await before.call('GET', clip)).body).status).toBe('PROCESSING');
    before.clock.now += 90_000;
    const paths = [
      '/api/v1/videos/all',
      '/api/v1/voiceovers/all',
      '/api/v1/thumbnails',
      '/api/v1/clippings/all',
      '/api/v1/uploads',
      `/api/v1/image/status/${ids.influencer}`,
      `/api/v1/clippings/${ids.clipping}`,
    ];
    const show = (rig: Rig) => Promise.all(paths.map(async (path) => (await rig.call('GET', path)).text));
    const state = async (rig: Rig) => (await rig.sandbox.fetch(new Request('http://localhost/sandbox/state'))).text();
    const [shown, stated] = [await show(before), await state(before)];
    expect(shown.at(-1)).toContain('PROCESSING');
    expect(stated).toContain('PUBLISHED');
    await before.sandbox.close();

    const after = start(before.clock);
    expect(await show(after)).toEqual(shown);
    expect(await state(after)).toBe(stated);
    expect(after.sandbox.ledger()).toEqual(before.sandbox.ledger());
    const late = { ...put, body: 'other' };
    expect((await after.sandbox.fetch(new Request(String(signed.uploadUrl), late))).status).toBe(200);
    const body = { blobName: signed.blobName };
    const asset = await after.call('POST', '/api/v1/uploads/complete', { body });
    expect(dataOf(asset.body)).toMatchObject({ name: 'b.mp4', url: signed.publicUrl });
    const file = await after.sandbox.fetch(new Request(String(signed.publicUrl)));
    expect(await file.text()).toBe('other');
    await after.sandbox.close();

    const last = start(before.clock);
    expect((await last.call('POST', '/api/v1/uploads/complete', { body })).text).toBe(asset.text);
    expect(dataOf((await last.call('GET', clip)).body).status).toBe('COMPLETED');
  });

  test('records of uploads that name files elsewhere are refused', async () => {
    await start().sandbox.close();
    const promised = { type: 'promised', at: 'x', user: 'u', token: 't', fileName: 'a.png' };
    const stored = { type: 'stored', at: 'x', token: 't', mediaType: 'image/png', place: 't-1', size: 1, etag: '"1"' };
    const write = (...lines: object[]) =>
      writeFileSync(join(dataDir, 'uploads.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    for (const lines of [
      [{ ...promised, token: '../../t' }],
      [promised, { ...stored, place: '../../precious' }],
      [promised, { ...stored, place: '..' }],
      [promised, { ...stored, size: -1 }],
    ]) {
      write(...lines);
      expect(() => createSandbox({ files: { dataDir } })).toThrow('uploads.jsonl contains an invalid entry');
    }
    write(promised, stored);
    start();
  });

  test('a torn last line is cut, and what follows stands on its own line', async () => {
    const before = start();
    await before.createImage({ prompt: 'x' });
    await before.sandbox.close();
    appendFileSync(join(dataDir, 'ledger.jsonl'), '{"at":"2030-01-01T00:00:00.000Z","id":"torn","cred');
    const after = start();
    expect(after.sandbox.ledger()).toEqual(before.sandbox.ledger());
    await after.createImage({ prompt: 'y' });
    await after.sandbox.close();
    expect(start().sandbox.ledger()).toEqual(after.sandbox.ledger());
    expect(after.sandbox.ledger()).toHaveLength(2);
  });

  test('a damaged line in the middle is refused with its place, and the folder is free again', async () => {
    const before = start();
    await before.createImage({ prompt: 'x' });
    await before.sandbox.close();
    const path = join(dataDir, 'ledger.jsonl');
    const good = readFileSync(path, 'utf8');
    writeFileSync(path, `${good}{"half\n${good}`);
    expect(() => createSandbox({ files: { dataDir } })).toThrow('ledger.jsonl:2: this line');
    writeFileSync(path, `${good}{}\n`);
    expect(() => createSandbox({ files: { dataDir } })).toThrow('contains an invalid entry');
    writeFileSync(path, good);
    expect(start().sandbox.ledger()).toHaveLength(1);
  });
});

test('a second sandbox in the same folder is refused', async () => {
  const first = start();
  expect(() => createSandbox({ files: { dataDir } })).toThrow(`in use by the process ${process.pid}`);
  expect(() => createSandbox({ files: { dataDir: `${dataDir}/.` } })).toThrow('in use');
  await first.sandbox.close();
  start();
});

describe('another process', () => {
  async function launch(): Promise<{ child: ChildProcess; url: string }> {
    const script = fileURLToPath(new URL('serve-sandbox.ts', import.meta.url));
    const words = ['--import', 'tsx', script, dataDir];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    open.push({ close: () => kill(child) });
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
      child.once('exit', (code) => reject(new Error(`the sandbox process ended with ${code}`)));
    });
    return { child, url };
  }

  function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  }

  test('killed before it answered, it has booked; its folder is refused while it lives and taken over after', async () => {
    const { child, url } = await launch();
    expect(() => createSandbox({ files: { dataDir } })).toThrow(`in use by the process ${child.pid}`);
    const headers = { ...jsonHeaders, 'idempotency-key': 'k' };
    const options = { method: 'POST', headers, body: JSON.stringify({ prompt: 'x' }) };
    // This one hangs after booking: the scripted fault of the process.
    const create = fetch(`${url}/image-generations/create`, options).catch(() => 'no answer');
    await expect.poll(() => readFileSync(join(dataDir, 'ledger.jsonl'), 'utf8')).toContain('"k"');
    await kill(child);
    expect(await create).toBe('no answer');

    expect(existsSync(join(dataDir, 'sandbox.pid'))).toBe(true);
    const sandbox = createSandbox({ files: { dataDir } });
    open.push(sandbox);
    expect(sandbox.ledger()).toMatchObject([{ key: 'k', credits: 3, balance: 997 }]);
    const id = sandbox.ledger()[0]?.id;
    const again = new Request('http://sandbox.test/api/v1/image-generations/create', options);
    const replay = await sandbox.fetch(again);
    expect(await replay.json()).toMatchObject({ generation: { id }, creditsRemaining: 997 });
    expect(sandbox.ledger()).toHaveLength(1);
  });
});
