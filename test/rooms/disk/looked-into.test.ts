import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { createMp3Encoder } from 'wasm-media-encoders';
import { measureFile } from '../../../src/disk/outputs/measure-files.ts';
import type { Expectation } from '../../../src/manifest/manifest.ts';
import { type Aspect, aspectsOf, findUnmet } from '../../../src/plan/outputs/expectation.ts';
import { makeFolder } from '../../rig/folder.ts';
import { seeded } from '../../rig/random.ts';
import { type Part, pause, rate, tone, wav } from './media.ts';
import { recorded } from './targets.ts';

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  jpg: 'image/jpeg',
};

/** Puts a file of this name into a folder, and measures what `expectation` asks for, and these aspects. */
async function measure(name: string, bytes: Uint8Array, expectation: Expectation, also: readonly Aspect[] = []) {
  const root = makeFolder();
  writeFileSync(join(root, name), bytes);
  const ending = name.split('.')[1] ?? '';
  const output = { ...recorded(name, bytes), type: types[ending] ?? `image/${ending}` };
  const facts = await measureFile({ root }, { output, aspects: [...aspectsOf(expectation), ...also] });
  return { facts, unmet: findUnmet(expectation, output, facts) };
}

const square = (seconds: number): Part => [seconds, (at) => (at % 40 < 20 ? 1 : -1)];
const random = seeded(7);
const hiss = (seconds: number, level: number): Part => [seconds, () => level * (2 * random() - 1)];

async function mp3(parts: readonly Part[], channels: 1 | 2 = 1): Promise<Buffer> {
  const sound = new Float32Array(parts.reduce((sum, [seconds]) => sum + seconds * rate, 0));
  let begin = 0;
  for (const [seconds, at] of parts) {
    for (let index = 0; index < seconds * rate; index += 1) sound[begin + index] = at(index);
    begin += seconds * rate;
  }
  const encoder = await createMp3Encoder();
  encoder.configure({ channels, sampleRate: rate, bitrate: 64 });
  // Each is a view of one buffer.
  const start = Buffer.from(encoder.encode(channels === 1 ? [sound] : [sound, sound]));
  return Buffer.concat([start, Buffer.from(encoder.finalize())]);
}

/** A tag of ID3 with 100 kB in it, as a cover has. */
function tagged(sound: Buffer): Buffer {
  const size = 100_000;
  const digits = [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, ...digits]), Buffer.alloc(size), sound]);
}

const speech = { lufs: { min: -16, max: -13 } };
const clean = { peakDb: { max: -1 } };
const flowing = { silentSeconds: { max: 1 } };

describe('sounds', () => {
  const heard = [tone(2, 0.25)];
  const around = (gap: Part) => [tone(1, 0.25), gap, tone(1, 0.25)];

  test.each<[string, readonly Part[], Expectation, string?]>([
    ['of the right loudness', heard, speech],
    ['that are quiet', [tone(2, 0.02)], speech, 'its loudness is -37.43 LUFS, wanted -16 to -13 LUFS'],
    ['with pauses are as loud as without', [...heard, pause(2), ...heard], speech],
    ['of silence', [pause(2)], speech, 'its loudness is -70 LUFS, wanted -16 to -13 LUFS'],
    ['too short', [tone(0.2, 0.25)], speech, 'its loudness cannot be measured, wanted -16 to -13 LUFS'],
    ['that are clipped', [square(1)], clean, 'its peak is \\d.* dBFS, wanted at most -1 dBFS'],
    ['that breathe', [...around(pause(0.7)), pause(0.7)], flowing],
    ['with a gap', around(pause(3)), flowing, 'its longest silence is (?:3|2\\.9\\d) s, wanted at most 1 s'],
    ['with a hiss', around(hiss(3, 0.0015)), flowing, 'its longest silence is (?:3|2\\.9\\d) s, wanted at most 1 s'],
  ])('%s', async (_what, parts, expectation, unmet) => {
    const expected = unmet === undefined ? [] : [expect.stringMatching(new RegExp(`^${unmet}$`))];
    expect((await measure('a.mp3', await mp3(parts), expectation)).unmet).toEqual(expected);
  });

  test.each<[string, () => Promise<Uint8Array>, string[]]>([
    ['of two channels are twice as loud', () => mp3(heard, 2), ['its loudness is -12.48 LUFS, wanted -16 to -13 LUFS']],
    ['behind a tag have one channel all the same', async () => tagged(await mp3(heard)), []],
    ['cut off are what is there', async () => (await mp3([tone(4, 0.25)])).subarray(0, 16_000), []],
  ])('%s', async (_what, make, unmet) => {
    expect((await measure('a.mp3', await make(), { ...speech, ...(unmet.length === 0 && clean) })).unmet).toEqual(
      unmet,
    );
  });

  test.each([[8], [16], [24], [32], [32, 3]])('of %d bits', async (bits, format = 1) => {
    const sound = wav([tone(1, 0.25), pause(1.5)], { bits, format });
    const { unmet, facts } = await measure('a.wav', sound, { ...speech, ...clean });
    expect(unmet).toEqual([]);
    const { silentSeconds } = (await measure('a.wav', sound, flowing)).facts;
    expect([facts.peakDb, silentSeconds]).toEqual([expect.closeTo(-12.04, 1), expect.closeTo(1.5, 2)]);
  });

  test.each<[string, string, () => Promise<Uint8Array>, RegExp]>([
    ['a long sound', 'a.wav', async () => wav([tone(90, 0.5), pause(90)], { bits: 8 }), /^[hi]{58,61}0{59,62}$/],
    ['a short sound', 'a.wav', async () => wav([tone(0.5, 1), pause(0.5)], { bits: 16 }), /^z{58,61}0{59,62}$/],
    ['an MP3', 'a.mp3', () => mp3([pause(2), tone(2, 0.5)]), /^0{57,62}h{55,63}[0-9a-h]{0,3}$/],
  ])('have a waveform: %s', async (_what, name, make, wave) => {
    expect((await measure(name, await make(), {}, ['wave'])).facts.wave).toMatch(wave);
  });

  test('of nearly nothing have no waveform', async () => {
    expect((await measure('a.wav', wav([tone(0.1, 1)], { bits: 16 }), {}, ['wave'])).facts).toEqual({});
  });

  test.each([
    ['a.mp3', Buffer.from('no sound at all'.repeat(500))],
    ['a.wav', Buffer.alloc(1000)],
    ['a.wav', wav([tone(1, 0.25)], { bits: 16, format: 7 })],
    ['a.ogg', Buffer.alloc(1000)],
  ])('%s, which is no sound that is decoded, is never passed in silence', async (name, bytes) => {
    const { unmet } = await measure(name, bytes, { ...speech, ...clean, ...flowing });
    expect(unmet).toEqual([
      'its loudness cannot be measured, wanted -16 to -13 LUFS',
      'its peak cannot be measured, wanted at most -1 dBFS',
      'its longest silence cannot be measured, wanted at most 1 s',
    ]);
  });
});

const plain = (background: string | object) =>
  sharp({ create: { width: 640, height: 480, channels: 4, background: background as never } });
/** Black squares on a ground, or a gradient. */
const drawn = (svg: string) =>
  sharp(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480">${svg}</svg>`)).flatten({
    background: 'white',
  });
const lamp =
  '<rect x="60" y="200" width="300" height="200"/><circle cx="450" cy="120" r="90" fill="#c80"/><rect y="430" width="640" height="50" fill="#654"/>';
const blank = 'it is blank (a single color)';
const undecoded = 'its content cannot be checked, because the file cannot be decoded here';

const fog = '<rect width="640" height="240" fill="#646464"/><rect y="240" width="640" height="240" fill="#686868"/>';
const dot = '<rect x="300" y="200" width="10" height="10"/>';

test.each<[string, string, Sharp, string[], number?]>([
  ['a black one', 'a.png', plain('#000').png(), [blank]],
  ['a white one, compressed', 'a.jpg', plain('#fff').jpeg({ quality: 40 }), [blank]],
  ['a transparent one', 'a.png', plain({ r: 9, g: 9, b: 9, alpha: 0 }).png(), [blank]],
  ['a dot on white', 'a.png', drawn(dot).png(), []],
  ['fog', 'a.png', drawn(fog).png(), []],
  ['one that is broken', 'a.png', drawn(lamp).png(), [undecoded], 900],
  ['a GIF', 'a.gif', drawn(lamp).gif(), [undecoded]],
])('pictures: %s', async (_what, name, picture, unmet, cutAt) => {
  const bytes = (await picture.toBuffer()).subarray(0, cutAt);
  expect((await measure(name, bytes, { blank: false })).unmet).toEqual(unmet);
});
