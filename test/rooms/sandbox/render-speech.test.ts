import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { voices } from '../../../src/sandbox/kinds/voices.ts';
import { readScript } from '../../../src/sandbox/render/speech/script.ts';
import type { Accent } from '../../../src/sandbox/render/speech/speakers.ts';
import { renderSpeech } from '../../../src/sandbox/render/speech.ts';

const rate = 22_050;

async function say(text: string, voice = 'George', seed = 'speech'): Promise<Int16Array> {
  const wav = Buffer.from(await renderSpeech({ seed, text, voice, format: 'wav' }));
  return new Int16Array(new Uint8Array(wav.subarray(44)).buffer);
}

function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + (value / 32_768) ** 2, 0) / samples.length);
}

/** The pitches in Hz of pieces of 46 ms that have one, by autocorrelation. */
function pitches(samples: Int16Array): number[] {
  const found: number[] = [];
  for (let from = 0; from + 1500 < samples.length; from += 1024) {
    const piece = samples.subarray(from, from + 1024);
    if (loudness(piece) < 0.05) continue;
    const match = (lag: number) => {
      let [product, one, two] = [0, 1, 1];
      for (let index = 0; index < 1024; index += 1) {
        const [a, b] = [samples[from + index] ?? 0, samples[from + index + lag] ?? 0];
        product += a * b;
        one += a * a;
        two += b * b;
      }
      return product / Math.sqrt(one * two);
    };
    const lags = Array.from({ length: 280 }, (_, index) => ({ lag: index + 60, share: match(index + 60) }));
    const best = Math.max(...lags.map(({ share }) => share));
    // The shortest period that fits nearly as well as the best one, so that two periods are not taken for one.
    const lag = lags.find(({ share }, index) => share > best * 0.93 && share >= (lags[index + 1]?.share ?? 0))?.lag;
    if (best > 0.8 && lag !== undefined) found.push(rate / lag);
  }
  return found;
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The centre of the spectrum in Hz, from how fast the sound changes. */
function centroid(samples: Int16Array): number {
  let [power, slope] = [0, 0];
  for (let index = 1; index < samples.length; index += 1) {
    power += (samples[index] ?? 0) ** 2;
    slope += ((samples[index] ?? 0) - (samples[index - 1] ?? 0)) ** 2;
  }
  return (rate / Math.PI) * Math.asin(Math.min(1, Math.sqrt(slope / power) / 2));
}

function phonesOf(text: string, accent: Accent = 'american'): string {
  return readScript(text, accent)
    .map(({ words }) => words.map(({ phones }) => phones.join(' ')).join(', '))
    .join(' / ');
}

describe('files', () => {
  const order = { seed: 'speech', text: 'Hello, world.', voice: 'Aria' } as const;

  test('wav is 16-bit mono PCM at 22.05 kHz', async () => {
    const wav = Buffer.from(await renderSpeech({ ...order, format: 'wav' }));
    expect([wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WAVEfmt ']);
    expect([20, 22, 32, 34].map((at) => wav.readUInt16LE(at))).toEqual([1, 1, 2, 16]);
    expect([wav.readUInt32LE(24), wav.readUInt32LE(28)]).toEqual([rate, rate * 2]);
    expect([wav.readUInt32LE(4), wav.readUInt32LE(40)]).toEqual([wav.length - 8, wav.length - 44]);
  });

  test('flac tells the rate, one channel, and the digest of the same samples', async () => {
    const wav = Buffer.from(await renderSpeech({ ...order, format: 'wav' }));
    const flac = Buffer.from(await renderSpeech({ ...order, format: 'flac' }));
    expect(flac.toString('latin1', 0, 4)).toBe('fLaC');
    const packed = flac.readBigUInt64BE(18);
    expect([packed >> 44n, (packed >> 41n) & 7n, packed & 0xfffffffffn]).toEqual([
      BigInt(rate),
      0n,
      BigInt((wav.length - 44) / 2),
    ]);
    expect(flac.toString('hex', 26, 42)).toBe(createHash('md5').update(wav.subarray(44)).digest('hex'));
    // The first frame: blocks of one size, 22.05 kHz, one channel.
    expect([flac.readUInt16BE(42), flac.readUInt8(44) & 15, flac.readUInt8(45) >> 4]).toEqual([0xfff8, 6, 0]);
    expect(flac.length).toBeLessThan(wav.length);
  });

  test('mp3 is frames of 22.05 kHz mono from the first byte to the last', async () => {
    const wav = await renderSpeech({ ...order, format: 'wav' });
    const mp3 = Buffer.from(await renderSpeech({ ...order, format: 'mp3' }));
    let frames = 0;
    for (let at = 0; at < mp3.length; frames += 1) {
      const header = mp3.readUInt32BE(at);
      expect(header >>> 17).toBe(0x7ff9); // sync, MPEG 2, layer 3
      expect((header >>> 10) & 3).toBe(0); // 22.05 kHz
      expect((header >>> 6) & 3).toBe(3); // mono
      const bitrate = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][(header >>> 12) & 15] ?? 0;
      at += Math.floor((72_000 * bitrate) / rate) + ((header >>> 9) & 1);
    }
    const seconds = (wav.length - 44) / 2 / rate;
    expect((frames * 576) / rate).toBeGreaterThan(seconds);
    expect((frames * 576) / rate).toBeLessThan(seconds + 0.2);
  });

  test('the same order gives the same bytes; another seed, text or voice gives others', async () => {
    const file = async (change: object) =>
      Buffer.from(await renderSpeech({ ...order, ...change, format: 'mp3' })).toString('base64');
    const first = await file({});
    expect(await file({})).toBe(first);
    const others = await Promise.all([{ seed: 'other' }, { text: 'Hello, moon.' }, { voice: 'Sarah' }].map(file));
    expect(new Set([first, ...others]).size).toBe(4);
  });
});

describe('voices', () => {
  test('men speak low, women high, and no two voices are alike', async () => {
    const heard = await Promise.all(
      voices.map(async ({ id, gender, accent }) => {
        const samples = await say('One morning we all were away. A lone lion ran along the river.', id);
        return {
          id,
          gender,
          accent,
          pitch: middle(pitches(samples)),
          bright: centroid(samples),
          length: samples.length,
        };
      }),
    );
    expect(heard).toHaveLength(20);
    for (const { id, gender, pitch } of heard) {
      const [least, most] = { male: [70, 140], neutral: [135, 165], female: [160, 260] }[gender];
      expect(pitch, id).toBeGreaterThan(least ?? 0);
      expect(pitch, id).toBeLessThan(most ?? 0);
    }
    for (const [index, one] of heard.entries()) {
      for (const other of heard.slice(index + 1)) {
        const differences = [one.pitch / other.pitch, one.bright / other.bright, one.length / other.length];
        const most = Math.max(...differences.map((ratio) => Math.abs(Math.log2(ratio))));
        expect(most, `${one.id} and ${other.id}`).toBeGreaterThan(0.05);
      }
    }
  });

  test.each<[Accent, string]>([
    ['american', 'HH AA R D, K AA R, G OW, D EY'],
    ['british', 'HH AA D, K AA, G OU, D EY'],
    ['australian', 'HH AA D, K AA, G OU, D EI'],
  ])('the accent is heard: %s', (accent, phones) => {
    expect(phonesOf('hard car go day', accent)).toBe(phones);
  });

  test('a voice that nobody knows still speaks', async () => {
    expect(loudness(await say('Hello', 'Nobody'))).toBeGreaterThan(0.02);
  });
});

describe('reading', () => {
  test.each([
    ['hello world', 'HH AX L OW, W ER L D'],
    ['nation, vision', 'N EY SH AX N / V IH ZH AX N'],
    ['stopped wanted changed', 'S T AA P T, W AA N T IH D, CH EY N JH D'],
    ['Phone thought enough', 'F OW N, TH AO T, EH N AH F'],
    ["don't", 'D OW N T'],
    ['Café Ærø straße', 'K AE F EY, AE ER OW, S T R AE S'],
    ['an FAQ on TV', 'AE N, EH F EY K Y UW, AA N, T IY V IY'],
  ])('"%s"', (text, phones) => {
    expect(phonesOf(text)).toBe(phones);
  });

  test.each([
    ['42', 'forty two'],
    ['1,250', 'one thousand two hundred fifty'],
    ['1984', 'nineteen eighty four'],
    ['3.50', 'three point five zero'],
    ['50%', 'fifty percent'],
    ['007', 'zero zero seven'],
    ['2000000', 'two million'],
    ['rock & roll', 'rock and roll'],
  ])('"%s" is read as "%s"', (digits, words) => {
    expect(phonesOf(digits)).toBe(phonesOf(words));
  });

  test('a question goes up at its end, a statement down', async () => {
    const end = async (text: string) => middle(pitches(await say(text, 'Eric')).slice(-4));
    const [question, statement] = [await end('Are you all alone?'), await end('Are you all alone.')];
    expect(question / statement).toBeGreaterThan(1.15);
  });

  test('a sign makes a pause, and a longer text takes longer', async () => {
    const [plain, comma, stop] = await Promise.all(['one two', 'one, two', 'one. Two'].map((text) => say(text)));
    expect(comma?.length ?? 0).toBeGreaterThan((plain?.length ?? 0) + rate * 0.1);
    expect(stop?.length ?? 0).toBeGreaterThan((comma?.length ?? 0) + rate * 0.1);
  });
});

test.each([
  ['Cyrillic', 'Привет, мир'],
  ['Chinese', '你好'],
  ['Arabic', 'مرحبا'],
  ['Hangul', '안녕하세요'],
  ['Thai', 'สวัสดี'],
  ['emoji', '🎉🎉'],
  ['signs', '!!! … ---'],
  ['one letter', 'x'],
  ['letters without a vowel', 'pst, hmm'],
  ['a control character', '\u0000'],
  ['a lone half of a pair', '\ud83d'],
  ['blank', '   '],
  ['nothing', ''],
])('%s: not silent, not empty', async (_name, text) => {
  const samples = await say(text);
  expect(samples.length).toBeGreaterThan(rate * 0.3);
  expect(Math.max(...pieces(samples).map(loudness))).toBeGreaterThan(0.02);
});

test('5000 characters are read to the end, at the pace of a person', async () => {
  const sentence = 'The summer collection is here, and every piece was made with care. ';
  const samples = await say(sentence.repeat(75).slice(0, 5000));
  expect(samples.length / rate).toBeGreaterThan(240);
  expect(samples.length / rate).toBeLessThan(480);
  for (const piece of pieces(samples, rate * 5)) expect(loudness(piece)).toBeGreaterThan(0.03);
});

function pieces(samples: Int16Array, length = 2048): Int16Array[] {
  const count = Math.max(1, Math.floor(samples.length / length));
  return Array.from({ length: count }, (_, index) => samples.subarray(index * length, (index + 1) * length));
}
