import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { openPlainFile } from '../fs/plain-file.ts';
import { pictureSize, shrinkPicture } from '../pictures/shrink-picture.ts';
import { decodeMp3, decodeWav, mp3Seconds, readSynchsafe, tagHead, tagLength, wavSeconds } from '../sounds/decode.ts';
import { Ear, type Listener, WavePen } from '../sounds/listener.ts';
import type { KeptMeasures } from '../state/kept-measures.ts';
import { findOutputFile } from './output-path.ts';
import { PlacedFiles, PlacedReader, type ReadAt } from './placed-files.ts';

interface MeasuredFolder {
  root: string;
  /** Omitted if no measurements are stored. */
  kept?: KeptMeasures | undefined;
}

interface ToMeasure {
  output: Output;
  aspects: readonly Aspect[];
}

/** Measures outputs without cached measurements. Does not write the cache to disk: a plan writes nothing. */
export async function measureFiles(
  folder: MeasuredFolder,
  outputs: readonly ToMeasure[],
): Promise<ReadonlyMap<Output, MediaFacts>> {
  const measured = new Map<Output, MediaFacts>();
  const placed = new PlacedFiles(folder.root);
  for (const one of outputs) measured.set(one.output, await measureFile(folder, one, placed));
  return measured;
}

/** Returns no facts if the output cannot be measured. Does not write the cache to disk. */
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
  // Media containers state durations such as 19.77599999999986.
  const { durationSeconds } = facts;
  return {
    ...facts,
    ...(durationSeconds !== undefined && { durationSeconds: Math.round(durationSeconds * 1000) / 1000 }),
  };
}

/** Empty without such a fact. `undefined` after a temporary failure, such as a missing package: not cached. */
type Found = MediaFacts | undefined;
type Measure = (output: Output, from: { root: string; file: PlacedReader }) => Found | Promise<Found>;

const measures: { readonly [aspect in Aspect]: Measure } = {
  async size(output, { root }) {
    const isPicture = output.type.startsWith('image/');
    const own = await (isPicture ? measurePicture : measureLength)(root, output);
    return own ?? (await measureMedia(root, output));
  },
  sound: (output, { root }) => measureSound(root, output, new Ear()),
  wave: (output, { root }) => measureSound(root, output, new WavePen()),
  looks: (output, { root }) => measureLooks(root, output),
  credentials: (output, { file }) => findCredentials(file, output),
};

/** Measures the size as viewers show it, rotated by the EXIF data. */
async function measurePicture(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  return path === undefined ? undefined : pictureSize({ ...output, path });
}

/**
 * Standard deviation of each color channel, 0 to 255, below which a picture counts as blank: a compressed picture of
 * one color has less than 0.5, a dot of four pixels on white, at a width of 384 pixels, more than 2.
 */
const leastSeen = 1;

/** Measures whether a picture is blank; `undefined` for a file that is no picture, or cannot be decoded. */
async function measureLooks(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  if (path === undefined) return undefined;
  const small = await shrinkPicture({ ...output, path });
  if ('problem' in small) return undefined;
  const { channels } = await small.picture.stats();
  return { isBlank: channels.every(({ stdev }) => stdev < leastSeen) };
}

/** Size in bytes of ten hours of speech; no output of a job is larger. */
const mostBytes = 512 * 1024 * 1024;

const decoders: Readonly<Record<string, (handle: FileHandle, listener: Listener) => Promise<void>>> = {
  'audio/mpeg': decodeMp3,
  'audio/wav': decodeWav,
};

/** Decodes an MP3 or WAV for a listener. Returns `undefined` for other types, which have no decoder here. */
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
  // Imported on demand, because it is large, and only needed if a manifest has an expectation.
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

/** Most parts of a file that are examined, because a malicious file may consist only of part headers. */
const mostParts = 10_000;
/** UUID of the box that contains a C2PA manifest store in ISO media files. */
const c2paBox = 'd8fec3d61b0e483c92975828877ec481';

const finders: Readonly<Record<string, (readAt: ReadAt) => boolean>> = {
  'image/png': inPng,
  'image/jpeg': inJpeg,
  'image/webp': inRiff,
  'audio/wav': inRiff,
  'audio/mpeg': inMp3,
  'audio/mp4': inBoxes,
  'image/avif': inBoxes,
  'video/mp4': inBoxes,
  'video/quicktime': inBoxes,
};

/** Returns whether a file has content credentials (C2PA) at their defined place. Does not validate them. */
export function findCredentials(file: PlacedReader, { type }: Pick<Output, 'type'>): MediaFacts {
  const isIn = finders[type];
  const hasCredentials = isIn && file.read(isIn);
  return hasCredentials === undefined ? {} : { hasCredentials };
}

interface Part {
  isIt: boolean;
  next: number;
}

function walk(from: number, read: (at: number) => Part | undefined): boolean {
  let at = from;
  for (let parts = 0; parts < mostParts; parts += 1) {
    const part = read(at);
    if (part === undefined) return false;
    if (part.isIt) return true;
    if (part.next <= at) return false;
    at = part.next;
  }
  return false;
}

function inPng(readAt: ReadAt): boolean {
  return walk(8, (at) => {
    const head = readAt(at, 8);
    if (head.length < 8) return undefined;
    return { isIt: head.toString('latin1', 4) === 'caBX', next: at + 12 + head.readUInt32BE(0) };
  });
}

function inJpeg(readAt: ReadAt): boolean {
  return walk(2, (at) => {
    // Marker and length, identifiers and numbers of the JUMBF segment and its packet, then its box and the description
    // in it.
    const head = readAt(at, 40);
    const marker = head[1] ?? 0;
    // After the start of scan only picture data follow.
    if (head.length < 4 || head[0] !== 0xff || marker === 0xda || marker === 0xd9) return undefined;
    const isBox = marker === 0xeb && head.toString('latin1', 4, 6) === 'JP' && head.includes('jumdc2pa');
    return { isIt: isBox, next: at + 2 + head.readUInt16BE(2) };
  });
}

function inRiff(readAt: ReadAt): boolean {
  return walk(12, (at) => {
    const head = readAt(at, 8);
    if (head.length < 8) return undefined;
    const size = head.readUInt32LE(4);
    return { isIt: head.toString('latin1', 0, 4) === 'C2PA', next: at + 8 + size + (size % 2) };
  });
}

function inBoxes(readAt: ReadAt): boolean {
  return walk(0, (at) => {
    const head = readAt(at, 32);
    if (head.length < 8) return undefined;
    const isLong = head.readUInt32BE(0) === 1 && head.length >= 16;
    const name = head.toString('hex', isLong ? 16 : 8).slice(0, c2paBox.length);
    const size = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE(0);
    return { isIt: head.toString('latin1', 4, 8) === 'uuid' && name === c2paBox, next: at + size };
  });
}

/** In MP3, credentials are in a frame of the ID3 tag that encloses an object and states its type. */
function inMp3(readAt: ReadAt): boolean {
  const tag = readAt(0, tagHead);
  const end = tagLength(tag);
  const isNewest = (tag[3] ?? 0) >= 4;
  return walk(tagHead, (at) => {
    if (at + 10 > end) return undefined;
    const head = readAt(at, 64);
    if (head.length < 10 || head[0] === 0) return undefined;
    const size = isNewest ? readSynchsafe(head, 4) : head.readUInt32BE(4);
    const isIt = head.toString('latin1', 0, 4) === 'GEOB' && head.includes('c2pa-manifest-store', 10);
    return { isIt, next: at + 10 + size };
  });
}
