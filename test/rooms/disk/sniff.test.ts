import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { hasPictureEnd } from '../../../src/disk/outputs/picture-end.ts';
import { describeBytes, isCutShort, knownExtensions, sniffMedia } from '../../../src/disk/outputs/sniff.ts';
import { media } from './media.ts';

function ends(bytes: Buffer) {
  return { head: bytes.subarray(0, 512), tail: bytes.subarray(-512), bytes: bytes.length };
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

  it('can be asked of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        sniffMedia(bytes);
        expect(describeBytes(bytes)).not.toBe('');
      }),
    );
  });
});

const videoTypes = ['video/webm', 'video/x-matroska', 'video/mp4', 'video/quicktime'];

describe('whether it is whole', () => {
  it.each(['png', 'jpeg', 'gif'] as const)(
    'finds the end of a %s before other bytes, and none when it is cut',
    async (format) => {
      const picture = sharp({ create: { width: 32, height: 24, channels: 3, background: '#a03010' } });
      const bytes = await picture.toFormat(format).toBuffer();
      expect(hasPictureEnd(`image/${format}`, Buffer.concat([bytes, Buffer.from('trailer')]))).toBe(true);
      expect(hasPictureEnd(`image/${format}`, bytes.subarray(0, -3))).toBe(false);
    },
  );

  it.each(media)('$name', ({ bytes, type }) => {
    expect(isCutShort(type, ends(bytes))).toBe(false);
    const tells = [...['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'audio/wav'], ...videoTypes].includes(
      type,
    );
    expect(isCutShort(type, ends(bytes.subarray(0, -1)))).toBe(tells);
  });
});
