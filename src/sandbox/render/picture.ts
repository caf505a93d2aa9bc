import { crc32, deflateSync } from 'node:zlib';
import type { Canvas } from './canvas.ts';
import { drawCaption } from './caption.ts';
import { loadFont } from './font.ts';
import { planStage } from './stage.ts';
import { encodeWebp } from './webp.ts';

type PictureFormat = 'png' | 'jpeg' | 'webp';

export interface PictureOrder {
  readonly seed: string;
  readonly prompt: string;
  readonly footer: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** PNG when it is not said. */
  readonly format?: PictureFormat;
}

/** A scene in colours drawn from the seed, with the prompt on it. */
export async function drawPicture(order: PictureOrder): Promise<Uint8Array> {
  const { seed, prompt, footer, format = 'png' } = order;
  const font = await loadFont();
  const { palette, ground: canvas, drawScene } = planStage(seed, order);
  drawScene(canvas, 0);
  drawCaption(canvas, { font, palette, prompt, footer });
  return encodePicture(canvas, format);
}

async function encodePicture(canvas: Canvas, format: PictureFormat): Promise<Uint8Array> {
  switch (format) {
    case 'png':
      return encodePng(canvas.pixels, canvas);
    case 'jpeg':
      return encodeJpeg(canvas);
    case 'webp':
      return encodeWebp(canvas, { quality: 82, effort: 2 });
    default:
      return format satisfies never;
  }
}

async function encodeJpeg({ pixels, width, height }: Canvas): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const raw = { width, height, channels: 3 } as const;
  return sharp(pixels, { raw }).jpeg({ quality: 88, chromaSubsampling: '4:4:4' }).toBuffer();
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of 8-bit RGB pixels, row by row. */
function encodePng(pixels: Uint8Array, size: { readonly width: number; readonly height: number }): Buffer {
  const { width, height } = size;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits per channel
  header[9] = 2; // RGB
  const data = deflateSync(filterRows(pixels, width * 3, height), { level: 6 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** The filter "up" for every row: soft gradients change least from row to row. */
function filterRows(pixels: Uint8Array, rowBytes: number, height: number): Buffer {
  const filtered = Buffer.alloc((rowBytes + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const from = row * rowBytes;
    const to = row * (rowBytes + 1);
    filtered[to] = 2;
    if (row === 0) {
      filtered.set(pixels.subarray(0, rowBytes), 1);
      continue;
    }
    for (let index = 0; index < rowBytes; index += 1) {
      filtered[to + 1 + index] = (pixels[from + index] ?? 0) - (pixels[from + index - rowBytes] ?? 0);
    }
  }
  return filtered;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
