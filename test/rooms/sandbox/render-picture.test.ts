import { describe, expect, test } from 'vitest';
import { drawPicture } from '../../../src/sandbox/render/picture.ts';
import { webpSize } from './render-reader.ts';

const order = { seed: 'picture', prompt: 'A red bicycle', footer: 'sandbox', width: 320, height: 180 };

/** Pixels, from the first frame header of a baseline JPEG. */
function jpegSize(file: Buffer): { width: number; height: number } {
  if (file.toString('hex', 0, 2) !== 'ffd8' || file.toString('hex', file.length - 2) !== 'ffd9')
    throw new Error('not a whole JPEG');
  for (let at = 2; at < file.length; at += 2 + file.readUInt16BE(at + 2)) {
    if (file.readUInt16BE(at) === 0xffc0)
      return { width: file.readUInt16BE(at + 7), height: file.readUInt16BE(at + 5) };
  }
  throw new Error('no frame header');
}

function pngSize(file: Buffer): { width: number; height: number } {
  if (file.toString('latin1', 1, 4) !== 'PNG') throw new Error('not a PNG');
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
}

describe.each([
  ['png', pngSize],
  ['jpeg', jpegSize],
  ['webp', webpSize],
] as const)('%s', (format, sizeOf) => {
  test.each([
    [320, 180],
    [256, 256],
    [90, 720],
    [33, 17],
  ])('of %i × %i has this size', async (width, height) => {
    const file = Buffer.from(await drawPicture({ ...order, format, width, height }));
    expect(sizeOf(file)).toEqual({ width, height });
  });

  test('the same order gives the same bytes; another prompt or seed gives others', async () => {
    const draw = async (change: object) =>
      Buffer.from(await drawPicture({ ...order, ...change, format })).toString('base64');
    const first = await draw({});
    expect(await draw({})).toBe(first);
    expect(new Set([first, await draw({ prompt: 'A blue bicycle' }), await draw({ seed: 'other' })]).size).toBe(3);
  });
});

test('PNG is the default', async () => {
  const file = Buffer.from(await drawPicture(order));
  expect(file.equals(Buffer.from(await drawPicture({ ...order, format: 'png' })))).toBe(true);
});
