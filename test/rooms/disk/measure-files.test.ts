import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it, test } from 'vitest';
import { checkOutputs, inspectOutput } from '../../../src/disk/outputs/check-outputs.ts';
import { measureFiles } from '../../../src/disk/outputs/measure-files.ts';
import { hasPictureEnd } from '../../../src/disk/outputs/outputs.ts';
import { describeBytes, isCutShort, knownExtensions, sniffMedia } from '../../../src/disk/outputs/sniff.ts';
import { KeptMeasures } from '../../../src/disk/state/caches.ts';
import { makeFolder } from '../../rig/folder.ts';
import { forAll } from '../../rig/runs.ts';
import { jpeg, media, pause, png, wav } from './media.ts';
import { recorded, sha256 } from './targets.ts';

const blank = sharp({ create: { width: 301, height: 187, channels: 3, background: '#456' } });

const silence = (seconds: number) => wav([pause(seconds)], { bits: 8 });

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
    const root = makeFolder();
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
    const folder = makeFolder();
    const outputs = Object.entries(files).map(([path, bytes]) => {
      writeFileSync(join(folder, path), bytes);
      const type = path.endsWith('.wav') ? 'audio/wav' : 'image/jpeg';
      return { ...recorded(path, bytes), type };
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
    const { folder, state, outputs, measure } = place({ 'a.wav': silence(2), 'b.jpg': await blank.jpeg().toBuffer() });
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
    const files = { 'a.wav': silence(2), 'b.wav': silence(3), 'states-nothing.jpg': odd };
    const { state, outputs, folder, measure } = place(files);
    rmSync(join(folder, 'a.wav'));
    await measure();
    const kept = readFileSync(join(state, 'measures.json'), 'utf8');
    expect(outputs.map(({ sha256 }) => kept.includes(sha256))).toEqual([false, true, true]);
  });

  test('believes no measures that somebody else has put there', async () => {
    const { state, outputs, measure } = place({ 'a.wav': silence(2) });
    mkdirSync(state);
    const measures = { [outputs[0]?.sha256 ?? '']: { size: { durationSeconds: 99 } } };
    writeFileSync(join(state, 'measures.json'), JSON.stringify({ version: 3, measures }));
    expect([...(await measure()).values()]).toEqual([{ durationSeconds: 2 }]);
  });
});

function folder(): string {
  const root = makeFolder();
  mkdirSync(join(root, 'folder.png'));
  writeFileSync(join(root, 'same.png'), png);
  writeFileSync(join(root, 'edited.png'), jpeg);
  writeFileSync(join(root, 'longer.png'), Buffer.concat([png, Buffer.from('x')]));
  writeFileSync(join(root, 'text.png'), 'no picture');
  writeFileSync(join(root, 'empty.png'), '');
  symlinkSync('same.png', join(root, 'link.png'));
  return root;
}

const edited = (path: string, bytes: Uint8Array, type: string) => ({
  is: 'edited',
  output: { path, sha256: sha256(bytes), bytes: bytes.length, type, edited: true },
});

test.each([
  ['same.png', { is: 'intact' }],
  ['none.png', { is: 'missing' }],
  ['same.png/below.png', { is: 'missing' }],
  ['edited.png', edited('edited.png', jpeg, 'image/jpeg')],
  ['longer.png', edited('longer.png', Buffer.concat([png, Buffer.from('x')]), 'image/png')],
  ['text.png', { is: 'unusable', why: 'is not a known image, sound or video' }],
  ['empty.png', { is: 'unusable', why: 'is not a known image, sound or video' }],
  ['folder.png', { is: 'unusable', why: 'is not a readable plain file' }],
  ['link.png', { is: 'unusable', why: 'is not a readable plain file' }],
  ['../out.png', { is: 'unusable', why: 'is not a plain path' }],
])('%s', async (path, seen) => {
  expect(await inspectOutput(folder(), recorded(path, png))).toEqual(seen);
});

function ends(bytes: Buffer) {
  const read = (at: number) => bytes.subarray(at, at + 512);
  return { tail: bytes.subarray(-512), bytes: bytes.length, read };
}

describe('what a file is', () => {
  it.each(media)('$name', ({ bytes, type, extension, media: kind }) => {
    expect(sniffMedia(bytes)).toEqual({ media: kind, type, extension });
    expect(knownExtensions).toContain(extension);
  });

  it.each([
    ['', 'an empty file'],
    ['<!DOCTYPE html><p>login', 'an HTML page'],
    ['  <html>', 'an HTML page'],
    ['<?xml version="1.0"?>', 'an XML or HTML text'],
    ['<svg xmlns="x">', 'an SVG text'],
    ['{"success":false}', 'a JSON text'],
    ['Access denied', 'a text'],
    ['\0\0\0\x20ftypheic\0\0\0\0', 'a video or picture of a format that is not supported'],
    ['MZ\x90\0', 'a file of an unknown format'],
    ['\xff\xd8', 'a file of an unknown format'],
    ['\xff\xf1\x50\x80', 'a file of an unknown format'],
    ['\xff\xff\xff\xff', 'a file of an unknown format'],
    ['RIFF\0\0\0\0AVI ', 'a file of an unknown format'],
  ])('%j is no media', (text, described) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(sniffMedia(bytes)).toBeUndefined();
    expect(describeBytes(bytes)).toBe(described);
  });

  forAll([fc.uint8Array({ maxLength: 40 })])('can be asked of any bytes', (bytes) => {
    sniffMedia(bytes);
    expect(describeBytes(bytes)).not.toBe('');
  });
});

const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const videoTypes = ['video/webm', 'video/x-matroska', 'video/mp4', 'video/quicktime'];

describe('whether it is whole', () => {
  it.each(['png', 'jpeg', 'gif'] as const)('finds the end of a %s before other bytes, unless cut', async (format) => {
    const picture = sharp({ create: { width: 32, height: 24, channels: 3, background: '#a03010' } });
    const bytes = await picture.toFormat(format).toBuffer();
    expect(hasPictureEnd(`image/${format}`, Buffer.concat([bytes, Buffer.from('trailer')]))).toBe(true);
    expect(hasPictureEnd(`image/${format}`, bytes.subarray(0, -3))).toBe(false);
  });

  it.each(media)('$name', ({ bytes, type }) => {
    expect(isCutShort(type, ends(bytes))).toBe(false);
    const tells = [...pictureTypes, 'audio/wav', ...videoTypes].includes(type);
    expect(isCutShort(type, ends(bytes.subarray(0, -1)))).toBe(tells);
  });

  it.each<[string, string, Buffer]>([
    ['an MP4 with its index first', 'video/mp4', Buffer.concat([box('ftyp', 24), box('moov', 2000), box('mdat', 90)])],
    ['an MP4 in fragments', 'video/mp4', Buffer.concat([box('moov', 900), box('moof', 90), box('mdat', 900)])],
    ['an animated AVIF', 'image/avif', Buffer.concat([box('ftyp', 32), box('meta', 700), box('mdat', 300)])],
    ['an M4A', 'audio/mp4', Buffer.concat([box('ftyp', 32), box('mdat', 3000), box('moov', 600)])],
    ['an Ogg', 'audio/ogg', Buffer.concat([oggPage(30, 255), oggPage(255, 1, 3)])],
  ])('finds the end of %s, also before other bytes', (_what, type, bytes) => {
    for (const after of ['', '\r\n', '\0'.repeat(600), 'a trailer of a camera'.repeat(30)]) {
      expect(isCutShort(type, ends(Buffer.concat([bytes, Buffer.from(after)])))).toBe(false);
    }
    for (const cut of [1, 40, 250]) expect(isCutShort(type, ends(bytes.subarray(0, -cut)))).toBe(true);
  });
});

function box(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(size, 1);
  bytes.writeUInt32BE(size);
  bytes.write(name, 4, 'latin1');
  return bytes;
}

function oggPage(...segments: number[]): Buffer {
  const head = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.of(segments.length, ...segments)]);
  return Buffer.concat([head, ...segments.map((size) => Buffer.alloc(size, 2))]);
}

/** As long as before, and all but the last byte the same. */
function withOtherEnd(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, -1), Uint8Array.of(255 - (bytes.at(-1) ?? 0))]);
}

describe('checking outputs', () => {
  it('tells intact files from missing and changed ones', async () => {
    const root = makeFolder();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'good.png'), png);
    writeFileSync(join(root, 'd', 'other-size.png'), png.subarray(1));
    writeFileSync(join(root, 'd', 'same-size.png'), Buffer.alloc(png.length));
    mkdirSync(join(root, 'd', 'folder.png'));
    symlinkSync('good.png', join(root, 'd', 'link.png'));
    symlinkSync('d', join(root, 'linked'));
    const expected = {
      'd/first.png': 'missing',
      'd/good.png': 'intact',
      'd/other-size.png': 'changed',
      'd/same-size.png': 'changed',
      'd/folder.png': 'changed',
      'd/link.png': 'changed',
      'd/none.png': 'missing',
      'nowhere/x.png': 'missing',
      'linked/good.png': 'missing',
      'd/good.png/x.png': 'missing',
      '../x.png': 'changed',
      __proto__: 'missing',
    };
    const outputs = Object.keys(expected).map((path) => recorded(path, png));
    const states = await checkOutputs(root, outputs);
    expect(Object.fromEntries(states)).toEqual(expected);
    const nowhere = await checkOutputs(join(root, 'not-there'), outputs.slice(0, 2));
    expect(Object.fromEntries(nowhere)).toEqual({ 'd/first.png': 'missing', 'd/good.png': 'missing' });
  });

  it('looks at many files, small, large and empty ones', async () => {
    const root = makeFolder();
    const large = Buffer.alloc(1 << 20, png);
    const contents = [png, large, Buffer.alloc(0), large.subarray(0, 1 << 17), large.subarray(0, (1 << 17) + 1)];
    const outputs = Array.from({ length: 60 }, (_, index) => {
      const bytes = contents[index % contents.length] ?? png;
      const isChanged = index % 7 === 0 && bytes.length > 0;
      writeFileSync(join(root, `${index}.png`), isChanged ? withOtherEnd(bytes) : bytes);
      return { output: recorded(`${index}.png`, bytes), state: isChanged ? 'changed' : 'intact' };
    });
    const recordedOnes = outputs.map(({ output }) => output);
    const expected = new Map(outputs.map(({ output, state }) => [output.path, state]));
    expect(await checkOutputs(root, recordedOnes)).toEqual(expected);
  });

  it('calls a path intact only when all records of it say the same', async () => {
    const root = makeFolder();
    writeFileSync(join(root, 'a.png'), png);
    const [first, other] = [recorded('a.png', png), recorded('a.png', jpeg)];
    expect((await checkOutputs(root, [first, first])).get('a.png')).toBe('intact');
    expect((await checkOutputs(root, [first, other])).get('a.png')).toBe('changed');
    expect((await checkOutputs(root, [other, first])).get('a.png')).toBe('changed');
  });
});
