import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Canvas } from './canvas.ts';
import { addAlpha } from './pixels.ts';

export interface WebpOptions {
  /** 0 to 100. */
  readonly quality: number;
  /** 0 is the fastest, 6 gives the smallest files. */
  readonly method: number;
}

type Encoder = (canvas: Canvas, options: WebpOptions) => Promise<Buffer>;

let encoder: Promise<Encoder> | undefined;

/** Lossy and opaque, so that the file is one VP8 key frame in a RIFF wrapper. */
export async function encodeWebp(canvas: Canvas, options: WebpOptions): Promise<Buffer> {
  encoder ??= openEncoder();
  return (await encoder)(canvas, options);
}

async function openEncoder(): Promise<Encoder> {
  const { default: encode, init } = await import('@jsquash/webp/encode.js');
  // By itself the package fetches its program by URL, which Node refuses for files.
  const program = createRequire(import.meta.url).resolve('@jsquash/webp/codec/enc/webp_enc_simd.wasm');
  await init({ wasmBinary: await readFile(program) });
  return async ({ width, height, pixels }, options) => {
    const picture = { width, height, data: addAlpha(pixels), colorSpace: 'srgb' } as const;
    return Buffer.from(await encode(picture, options));
  };
}
