import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { measureFiles, pictureSize } from '../../../src/disk/outputs/measure-files.ts';
import { KeptMeasures } from '../../../src/disk/state/kept-measures.ts';
import { temporaryFolder } from '../../rig/command.ts';

const blank = sharp({ create: { width: 301, height: 187, channels: 3, background: '#456' } });

/** A WAV of so many seconds of silence. */
function wav(seconds: number): Buffer {
  const rate = 8000;
  const bytes = Buffer.alloc(44 + rate * seconds, 128);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const) {
    bytes.writeUInt16LE(value, at);
  }
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate, 28);
  bytes.write('data', 36);
  bytes.writeUInt32LE(rate * seconds, 40);
  return bytes;
}

describe('pictureSize', () => {
  test.each([
    ['image/png', () => blank.clone().png()],
    ['image/jpeg', () => blank.clone().jpeg()],
    ['image/jpeg', () => blank.clone().jpeg({ progressive: true }).withIccProfile('p3').withExif({})],
    ['image/gif', () => blank.clone().gif()],
    ['image/webp', () => blank.clone().webp()],
    ['image/webp', () => blank.clone().webp({ lossless: true })],
    ['image/webp', () => blank.clone().ensureAlpha(0.5).webp().withIccProfile('p3')],
  ])('of %s is what the first bytes state', async (type, make) => {
    const bytes = await make().toBuffer();
    expect(pictureSize(type, bytes)).toEqual({ width: 301, height: 187 });
    for (let length = 0; length < Math.min(bytes.length, 700); length += 1) {
      const cut = pictureSize(type, bytes.subarray(0, length));
      expect(cut === undefined || (cut.width === 301 && cut.height === 187)).toBe(true);
    }
  });

  test('of anything else is not known', () => {
    expect(pictureSize('image/avif', Buffer.alloc(100))).toBeUndefined();
    expect(pictureSize('image/jpeg', Buffer.alloc(100, 0xff))).toBeUndefined();
    expect(pictureSize('image/png', Buffer.alloc(100))).toBeUndefined();
  });
});

describe('measureFiles', () => {
  function place(files: Record<string, Buffer>) {
    const { path: folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const outputs = Object.entries(files).map(([path, bytes]) => {
      writeFileSync(join(folder, path), bytes);
      const type = path.endsWith('.wav') ? 'audio/wav' : 'image/jpeg';
      return { path, type, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
    const state = join(folder, '.mediabatch');
    const written = () => existsSync(join(state, 'measures.json'));
    const wanted = outputs.map((output) => ({ output, aspects: ['size' as const] }));
    const measure = async () => {
      const kept = new KeptMeasures(state);
      const before = written();
      const measured = await measureFiles({ root: folder, kept }, wanted);
      expect(written()).toBe(before);
      await kept.keep();
      return measured;
    };
    return { folder, state, outputs, measure };
  }

  test('opens a file once: what has the same bytes measures the same', async () => {
    const { folder, state, outputs, measure } = place({ 'a.wav': wav(2), 'b.jpg': await blank.jpeg().toBuffer() });
    const [sound, picture] = outputs;
    if (sound === undefined || picture === undefined) throw new Error('two files');
    const first = await measure();
    expect(first.get(sound)).toEqual({ durationSeconds: 2 });
    expect(first.get(picture)).toEqual({ width: 301, height: 187 });
    expect(readFileSync(join(state, 'measures.json'), 'utf8')).toContain(sound.sha256);
    rmSync(join(folder, 'a.wav'));
    rmSync(join(folder, 'b.jpg'));
    expect(await measure()).toEqual(first);
  });

  test('keeps nothing of what could not be read: it may be readable the next time', async () => {
    const odd = Buffer.from('\xff\xd8 no picture', 'latin1');
    const { state, outputs, folder, measure } = place({ 'a.wav': wav(2), 'b.wav': wav(3), 'states-nothing.jpg': odd });
    rmSync(join(folder, 'a.wav'));
    await measure();
    const kept = readFileSync(join(state, 'measures.json'), 'utf8');
    expect(outputs.map(({ sha256 }) => kept.includes(sha256))).toEqual([false, true, true]);
  });

  test('believes no measures that somebody else has put there', async () => {
    const { state, outputs, measure } = place({ 'a.wav': wav(2) });
    mkdirSync(state);
    const measures = { [outputs[0]?.sha256 ?? '']: { size: { durationSeconds: 99 } } };
    writeFileSync(join(state, 'measures.json'), JSON.stringify({ version: 3, measures }));
    expect([...(await measure()).values()]).toEqual([{ durationSeconds: 2 }]);
  });
});
