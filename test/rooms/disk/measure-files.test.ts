import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { measureFiles } from '../../../src/disk/outputs/measure-files.ts';
import { sniffMedia } from '../../../src/disk/outputs/sniff.ts';
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

describe('the size of a picture', () => {
  const turned = blank.clone().withMetadata({ orientation: 6 });

  test.each([
    ['png', blank.clone().png(), [301, 187]],
    ['progressive JPEG', blank.clone().jpeg({ progressive: true }).withIccProfile('p3').withExif({}), [301, 187]],
    ['lossless WebP', blank.clone().webp({ lossless: true }), [301, 187]],
    ['JPEG turned by EXIF', turned.clone().jpeg(), [187, 301]],
    ['WebP turned by EXIF', turned.clone().webp(), [187, 301]],
    ['PNG turned by EXIF', turned.clone().png(), [187, 301]],
    ['GIF', blank.clone().gif(), [301, 187]],
    ['AVIF', blank.clone().avif({ effort: 0 }), [301, 187]],
  ])('%s', async (_name, picture, [width, height]) => {
    const { path: root, remove } = temporaryFolder();
    onTestFinished(remove);
    const bytes = await picture.toBuffer();
    writeFileSync(join(root, 'a'), bytes);
    const type = sniffMedia(bytes)?.type ?? '';
    const output = { path: 'a', type, bytes: bytes.length, sha256: 'a' };
    const measured = await measureFiles({ root }, [{ output, aspects: ['size'] }]);
    expect(measured.get(output)).toEqual({ width, height });
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
