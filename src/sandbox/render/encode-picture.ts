import type { Canvas } from './canvas.ts';
import { addAlpha } from './pixels.ts';
import { encodePng } from './png.ts';
import { encodeWebp } from './webp.ts';

export type PictureFormat = 'png' | 'jpeg' | 'webp';

const jpegQuality = 88;

export async function encodePicture(canvas: Canvas, format: PictureFormat): Promise<Uint8Array> {
  switch (format) {
    case 'png':
      return encodePng(canvas.pixels, canvas);
    case 'jpeg':
      return encodeJpeg(canvas);
    case 'webp':
      return encodeWebp(canvas, { quality: 82, method: 2 });
    default:
      return unknownFormat(format);
  }
}

async function encodeJpeg(canvas: Canvas): Promise<Uint8Array> {
  const { default: jpeg } = await import('jpeg-js');
  const { width, height } = canvas;
  return jpeg.encode({ width, height, data: addAlpha(canvas.pixels) }, jpegQuality).data;
}

function unknownFormat(format: never): never {
  throw new Error(`internal error: unknown format ${JSON.stringify(format)}`);
}
