import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { openPlainFile } from '../fs/plain-file.ts';
import { shrinkPicture } from '../pictures/shrink-picture.ts';
import { decodeMp3, decodeWav, mp3Seconds, wavSeconds } from '../sounds/decode.ts';
import { Ear, type Listener, WavePen } from '../sounds/listener.ts';
import type { KeptMeasures } from '../state/kept-measures.ts';
import { findCredentials } from './find-credentials.ts';
import { findOutputFile } from './output-path.ts';
import { PlacedFiles, PlacedReader, type ReadAt } from './placed-files.ts';

/** Files of a campaign, and what is known of those that were measured before. */
export interface MeasuredFolder {
  root: string;
  /** Cache of measurements. Omitted when nothing is stored. */
  kept?: KeptMeasures | undefined;
}

/** An output that is on the disk as it was saved, and what to measure of it. */
export interface ToMeasure {
  output: Output;
  aspects: readonly Aspect[];
}

/** Measures many outputs. What is known by their digests is not read again. Keeps nothing on the disk yet: a plan writes nothing. */
export async function measureFiles(
  folder: MeasuredFolder,
  outputs: readonly ToMeasure[],
): Promise<ReadonlyMap<Output, MediaFacts>> {
  const measured = new Map<Output, MediaFacts>();
  const placed = new PlacedFiles(folder.root);
  for (const one of outputs) measured.set(one.output, await measureFile(folder, one, placed));
  return measured;
}

/** Measures one output, without a word where it cannot be measured: then it states nothing. Keeps nothing on the disk yet. */
export async function measureFile(
  { root, kept }: MeasuredFolder,
  { output, aspects }: ToMeasure,
  placed = new PlacedFiles(root),
): Promise<MediaFacts> {
  const known = await kept?.get(output.sha256);
  const facts: MediaFacts = {};
  const file = new PlacedReader(placed, output);
  try {
    for (const aspect of aspects) {
      let found = known?.[aspect];
      if (found === undefined) {
        found = await measures[aspect](output, { root, file });
        if (found !== undefined) await kept?.add(output.sha256, { [aspect]: found });
      }
      Object.assign(facts, found);
    }
  } finally {
    file.close();
  }
  return facts;
}

/** Empty: the bytes state nothing. Undefined: due to this machine and moment, such as a missing package, so not kept. */
type Found = MediaFacts | undefined;
type Measure = (output: Output, from: { root: string; file: PlacedReader }) => Found | Promise<Found>;

const measures: { readonly [aspect in Aspect]: Measure } = {
  async size(output, { root, file }) {
    // The size of a picture is nearly always in its first bytes, and reading these is quick.
    const isPicture = output.type.startsWith('image/');
    const stated = isPicture ? file.read((readAt) => statedSize(output.type, readAt)) : undefined;
    return stated ?? (await measureLength(root, output)) ?? (await measureMedia(root, output));
  },
  sound: (output, { root }) => measureSound(root, output, new Ear()),
  wave: (output, { root }) => measureSound(root, output, new WavePen()),
  looks: (output, { root }) => measureLooks(root, output),
  credentials: (output, { file }) => findCredentials(file, output),
};

function statedSize(type: string, readAt: ReadAt): MediaFacts | undefined {
  for (const length of pictureHeadLengths) {
    const head = readAt(0, length);
    const size = pictureSize(type, head);
    if (size !== undefined || head.length < length) return size;
  }
  return undefined;
}

/**
 * Standard deviation of each color, 0 to 255, below which nothing is to be seen: a compressed picture of one color has less
 * than 0.5, a dot of four pixels on white in one of 384 more than 2.
 */
const leastSeen = 1;

/** Measures the looks of a picture; nothing of what is none, or cannot be decoded. */
async function measureLooks(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  if (path === undefined) return undefined;
  const small = await shrinkPicture({ ...output, path });
  if ('problem' in small) return undefined;
  const { channels } = await small.picture.stats();
  return { isBlank: channels.every(({ stdev }) => stdev < leastSeen) };
}

/** Ten hours of speech; what is longer is no output of a job. */
const mostBytes = 512 * 1024 * 1024;

const decoders: Readonly<Record<string, (handle: FileHandle, listener: Listener) => Promise<void>>> = {
  'audio/mpeg': decodeMp3,
  'audio/wav': decodeWav,
};

/** Decodes an MP3 or WAV for a listener. Returns undefined for other types: they have no decoder here. */
async function measureSound(root: string, output: Output, listener: Listener): Promise<Found> {
  const decode = decoders[output.type];
  const path = decode && output.bytes <= mostBytes ? findOutputFile(root, output.path) : undefined;
  const handle = path === undefined ? undefined : await openPlainFile(path, constants.O_RDONLY);
  if (decode === undefined || handle === undefined) return undefined;
  try {
    await decode(handle, listener);
    return listener.tell();
  } finally {
    await handle.close();
  }
}

const lengths: Readonly<Record<string, (handle: FileHandle) => Promise<number | undefined>>> = {
  'audio/mpeg': mp3Seconds,
  'audio/wav': wavSeconds,
};

/** Measures how long a sound lasts by its own bytes. */
async function measureLength(root: string, output: Output): Promise<Found> {
  const measure = lengths[output.type];
  const path = measure && output.bytes <= mostBytes ? findOutputFile(root, output.path) : undefined;
  const handle = path === undefined ? undefined : await openPlainFile(path, constants.O_RDONLY);
  if (measure === undefined || handle === undefined) return undefined;
  try {
    const durationSeconds = await measure(handle);
    return durationSeconds === undefined ? undefined : { durationSeconds };
  } finally {
    await handle.close();
  }
}

interface Track {
  '@type'?: string;
  Width?: number;
  Height?: number;
  Duration?: number;
}

/** Media facts of a saved file, read from its own bytes; undefined when it is missing or cannot be read. */
async function measureMedia(root: string, output: Output): Promise<Found> {
  if (!isOutputPath(output.path)) return undefined;
  const path = findOutputFile(root, output.path);
  if (path === undefined) return undefined;
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    const tracks = await readFacts(handle);
    return tracks && readTracks(tracks);
  } finally {
    await handle.close();
  }
}

async function readFacts(handle: FileHandle): Promise<readonly Track[] | undefined> {
  // Large, and only needed if a manifest has an expectation.
  const { default: openMediaInfo } = await import('mediainfo.js');
  const info = await openMediaInfo({ format: 'object', coverData: false, full: false });
  try {
    const { size } = await handle.stat();
    const readChunk = async (length: number, offset: number): Promise<Uint8Array> => {
      const buffer = new Uint8Array(length);
      const { bytesRead } = await handle.read(buffer, 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    const found = await info.analyzeData(() => size, readChunk);
    return (found.media?.track ?? []) as readonly Track[];
  } catch {
    return undefined;
  } finally {
    info.close();
  }
}

function readTracks(tracks: readonly Track[]): MediaFacts {
  const picture = tracks.find((track) => track['@type'] === 'Video' || track['@type'] === 'Image');
  const lasting = tracks.find(({ Duration }) => typeof Duration === 'number' && Duration > 0);
  const measured: MediaFacts = {};
  if (typeof picture?.Width === 'number') measured.width = picture.Width;
  if (typeof picture?.Height === 'number') measured.height = picture.Height;
  if (typeof lasting?.Duration === 'number') measured.durationSeconds = lasting.Duration;
  return measured;
}

/** Pixels of a picture, as its first bytes state them. */
interface PictureSize {
  width: number;
  height: number;
}

/** Leading bytes in which most pictures state their size, and nearly every one: a JPEG may have a profile and a preview before it. */
const pictureHeadLengths = [1 << 10, 1 << 16] as const;

/** Reads the size from the beginning of a picture; undefined where it does not state it there. */
export function pictureSize(type: string, head: Uint8Array): PictureSize | undefined {
  const size = readSize(type, new DataView(head.buffer, head.byteOffset, head.byteLength));
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function readSize(type: string, view: DataView): PictureSize | undefined {
  switch (type) {
    case 'image/png':
      return view.byteLength < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) };
    case 'image/gif':
      return view.byteLength < 10 ? undefined : { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    case 'image/jpeg':
      return jpegSize(view);
    case 'image/webp':
      return view.byteLength < 30 ? undefined : webpSize(view);
    default:
      return undefined;
  }
}

/** Goes from segment to segment up to the one that begins a frame. */
function jpegSize(view: DataView): PictureSize | undefined {
  let isTurned = false;
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return isTurned ? { height: width, width: height } : { height, width };
    }
    if (marker === 0xe1) isTurned ||= isTurnedByExif(view, at + 4);
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Tells whether the EXIF data that begin there turn the picture by a quarter, as viewers do. */
function isTurnedByExif(view: DataView, start: number): boolean {
  const tiff = start + 6;
  if (tiff + 8 > view.byteLength || view.getUint32(start) !== 0x45786966) return false;
  const isLittle = view.getUint16(tiff) === 0x4949;
  const directory = tiff + view.getUint32(tiff + 4, isLittle);
  if (directory + 2 > view.byteLength) return false;
  const entries = view.getUint16(directory, isLittle);
  for (let at = directory + 2, left = entries; left > 0 && at + 12 <= view.byteLength; at += 12, left -= 1) {
    if (view.getUint16(at, isLittle) === 0x0112) return view.getUint16(at + 8, isLittle) >= 5;
  }
  return false;
}

/** Three of the numbers are taken by tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** The three forms that a WebP has: lossy, lossless, extended. */
function webpSize(view: DataView): PictureSize | undefined {
  switch (view.getUint32(12)) {
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503858:
      return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
}
