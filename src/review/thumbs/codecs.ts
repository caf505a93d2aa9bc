import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { PictureFormat } from './picture-size.ts';
import type { Pixels } from './shrink.ts';

type Decode = (bytes: ArrayBuffer) => Promise<Pixels>;

const quality = 75;

/** Each is loaded when the first picture needs it. */
const openings: Readonly<Record<PictureFormat, () => Promise<Decode>>> = {
  async png() {
    const { default: decode, init } = await import('@jsquash/png/decode.js');
    await init(await program('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
    return (bytes) => decode(bytes);
  },
  async jpeg() {
    const { default: decode, init } = await import('@jsquash/jpeg/decode.js');
    await init({ wasmBinary: await program('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm') });
    // Upright, as a browser shows it.
    return (bytes) => decode(bytes, { preserveOrientation: true });
  },
  async webp() {
    const { default: decode, init } = await import('@jsquash/webp/decode.js');
    await init({ wasmBinary: await program('@jsquash/webp/codec/dec/webp_dec.wasm') });
    return (bytes) => decode(bytes);
  },
};
const decoders = new Map<PictureFormat, Promise<Decode>>();
let encoder: Promise<(pixels: Pixels) => Promise<ArrayBuffer>> | undefined;

/** Rejects for bytes that are no whole picture. */
export async function decodePicture(format: PictureFormat, bytes: ArrayBuffer): Promise<Pixels> {
  const opening = decoders.get(format) ?? openings[format]();
  decoders.set(format, opening);
  return (await opening)(bytes);
}

export async function encodePng({ data, width, height }: Pixels): Promise<Uint8Array> {
  const { default: encode, init } = await import('@jsquash/png/encode.js');
  await init(await program('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
  return new Uint8Array(await encode({ data, width, height, colorSpace: 'srgb' }));
}

export async function encodeJpeg(pixels: Pixels): Promise<Uint8Array> {
  encoder ??= openEncoder();
  return new Uint8Array(await (await encoder)(pixels));
}

async function openEncoder(): Promise<(pixels: Pixels) => Promise<ArrayBuffer>> {
  const { default: encode, init } = await import('@jsquash/jpeg/encode.js');
  await init({ wasmBinary: await program('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm') });
  return ({ data, width, height }) => encode({ data, width, height, colorSpace: 'srgb' }, { quality });
}

/** By themselves the packages fetch their programs by URL, which Node refuses for files. */
function program(path: string): Promise<Buffer> {
  return readFile(createRequire(import.meta.url).resolve(path));
}
