import type { Media } from '../../../src/kinds/kind.ts';

/** The smallest files that are what they say, as far as the first and last bytes tell. */
const text = (value: string) => Buffer.from(value, 'latin1');
const riff = (form: string, body: Buffer) => {
  const head = Buffer.alloc(12);
  head.write('RIFF', 0);
  head.writeUInt32LE(body.length + 4, 4);
  head.write(form, 8);
  return Buffer.concat([head, body]);
};
const box = (brand: string) =>
  Buffer.concat([Buffer.from([0, 0, 0, 16]), text(`ftyp${brand}\0\0\0\0`), Buffer.alloc(32)]);

/** A header that names its type, and a segment that knows its length. */
const ebml = (type: string) => {
  const name = Buffer.concat([Buffer.from([0x42, 0x82, 0x80 | type.length]), text(type)]);
  const header = Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 | name.length]), name]);
  const body = Buffer.alloc(40, 7);
  return Buffer.concat([header, Buffer.from([0x18, 0x53, 0x80, 0x67, 0x80 | body.length]), body]);
};
/** `large`: the length of the second box stands after its name, in 64 bits. */
const movie = (brand: string, large?: 'large') =>
  Buffer.concat([
    Buffer.from([0, 0, 0, 16]),
    text(`ftyp${brand}\0\0\0\0`),
    Buffer.from([0, 0, 0, large ? 1 : 48]),
    text('mdat'),
    large ? Buffer.from([0, 0, 0, 0, 0, 0, 0, 56]) : Buffer.alloc(0),
    Buffer.alloc(40, 3),
  ]);

export const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.alloc(64, 1),
  Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]),
]);

export const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  Buffer.alloc(64, 2),
  Buffer.from([0xff, 0xd9]),
]);

const rows: [name: string, bytes: Buffer, type: string, extension: string][] = [
  ['PNG', png, 'image/png', '.png'],
  ['JPEG', jpeg, 'image/jpeg', '.jpg'],
  ['WebP', riff('WEBP', Buffer.alloc(20)), 'image/webp', '.webp'],
  ['GIF', text(`GIF89a${'x'.repeat(20)};`), 'image/gif', '.gif'],
  ['AVIF', box('avif'), 'image/avif', '.avif'],
  ['MP3 with ID3', text(`ID3\x04${'x'.repeat(20)}`), 'audio/mpeg', '.mp3'],
  ['MP3 frame', Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(40)]), 'audio/mpeg', '.mp3'],
  ['WAV', riff('WAVE', Buffer.alloc(20)), 'audio/wav', '.wav'],
  ['FLAC', text('fLaC\0\0\0\x22'), 'audio/flac', '.flac'],
  ['Ogg', text(`OggS${'\0'.repeat(30)}`), 'audio/ogg', '.ogg'],
  ['M4A', box('M4A '), 'audio/mp4', '.m4a'],
  ['WebM', ebml('webm'), 'video/webm', '.webm'],
  ['Matroska', ebml('matroska'), 'video/x-matroska', '.mkv'],
  ['MP4', movie('isom'), 'video/mp4', '.mp4'],
  ['large MP4', movie('isom', 'large'), 'video/mp4', '.mp4'],
  ['QuickTime', movie('qt  '), 'video/quicktime', '.mov'],
];
export const media = rows.map(([name, bytes, type, extension]) => {
  return { name, bytes, type, extension, media: type.split('/')[0] as Media };
});

/** Samples of a second. */
export const rate = 16_000;
export type Part = readonly [seconds: number, sampleAt: (at: number) => number];
export const tone = (seconds: number, level: number): Part => [
  seconds,
  (at) => level * Math.sin((2 * Math.PI * 1000 * at) / rate),
];
export const pause = (seconds: number): Part => [seconds, () => 0];

/** A WAV of one channel, with a chunk that nobody knows before its samples. */
export function wav(parts: readonly Part[], { bits, format = 1 }: { bits: number; format?: number }): Buffer {
  const samples = parts.flatMap(([seconds, at]) => Array.from({ length: seconds * rate }, (_, index) => at(index)));
  const bytes = bits / 8;
  const data = Buffer.alloc(samples.length * bytes);
  for (const [index, value] of samples.entries()) {
    if (format === 3) data.writeFloatLE(value, index * bytes);
    else if (bits === 8) data.writeUInt8(Math.round(128 + value * 127), index);
    else data.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), index * bytes, bytes);
  }
  const head = Buffer.alloc(24);
  head.write('fmt ', 0);
  head.writeUInt32LE(16, 4);
  head.writeUInt16LE(format, 8);
  head.writeUInt16LE(1, 10);
  head.writeUInt32LE(rate, 12);
  head.writeUInt32LE(rate * bytes, 16);
  head.writeUInt16LE(bytes, 20);
  head.writeUInt16LE(bits, 22);
  const chunk = (name: string, content: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(content.length);
    return Buffer.concat([Buffer.from(name), size, content]);
  };
  return chunk(
    'RIFF',
    Buffer.concat([Buffer.from('WAVE'), head, chunk('LIST', Buffer.alloc(26)), chunk('data', data)]),
  );
}
