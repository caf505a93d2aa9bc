import type { Canvas } from './canvas.ts';

export interface WebpOptions {
  /** 0 to 100. */
  readonly quality: number;
  /** 0 is the fastest, 6 gives the smallest files. */
  readonly effort: number;
}

/** Lossy and opaque, so that the file is one VP8 key frame in a RIFF wrapper. */
export async function encodeWebp({ pixels, width, height }: Canvas, options: WebpOptions): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .webp(options)
    .toBuffer();
}
