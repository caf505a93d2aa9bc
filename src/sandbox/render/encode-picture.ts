import type { Canvas } from './canvas.ts';
import { encodePng } from './png.ts';
import { encodeWebp } from './webp.ts';

export type PictureFormat = 'png' | 'jpeg' | 'webp';

export async function encodePicture(canvas: Canvas, format: PictureFormat): Promise<Uint8Array> {
  switch (format) {
    case 'png':
      return encodePng(canvas.pixels, canvas);
    case 'jpeg':
      return encodeJpeg(canvas);
    case 'webp':
      return encodeWebp(canvas, { quality: 82, effort: 2 });
    default:
      return unknownFormat(format);
  }
}

async function encodeJpeg({ pixels, width, height }: Canvas): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const raw = { width, height, channels: 3 } as const;
  return sharp(pixels, { raw }).jpeg({ quality: 88, chromaSubsampling: '4:4:4' }).toBuffer();
}

function unknownFormat(format: never): never {
  throw new Error(`internal error: unknown format ${JSON.stringify(format)}`);
}
