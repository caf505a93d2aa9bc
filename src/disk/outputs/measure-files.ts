import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { openPlainFile } from '../fs/plain-file.ts';
import { pictureSize, shrinkPicture } from '../pictures/shrink-picture.ts';
import { decodeMp3, decodeWav, mp3Seconds, wavSeconds } from '../sounds/decode.ts';
import { Ear, type Listener, WavePen } from '../sounds/listener.ts';
import type { KeptMeasures } from '../state/kept-measures.ts';
import { findCredentials } from './find-credentials.ts';
import { findOutputFile } from './output-path.ts';
import { PlacedFiles, PlacedReader } from './placed-files.ts';

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

/** Measures a picture as viewers show it: turned as its EXIF data say. */
async function measurePicture(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  return path === undefined ? undefined : pictureSize({ ...output, path });
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
