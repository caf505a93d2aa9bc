import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { openPlainFile } from '../fs/plain-file.ts';
import { pictureSize, shrinkPicture } from '../pictures/shrink-picture.ts';
import { sounds } from '../sounds/decode.ts';
import type { KeptMeasures } from '../state/caches.ts';
import { findOutputFile } from './output-path.ts';

interface MeasuredFolder {
  root: string;
  kept?: KeptMeasures | undefined;
}

interface ToMeasure {
  output: Output;
  aspects: readonly Aspect[];
}

/** Measures outputs that have no stored measurements. Writes nothing to disk, because it runs as part of a plan. */
export async function measureFiles(
  folder: MeasuredFolder,
  outputs: readonly ToMeasure[],
): Promise<ReadonlyMap<Output, MediaFacts>> {
  const measured = new Map<Output, MediaFacts>();
  for (const one of outputs) measured.set(one.output, await measureFile(folder, one));
  return measured;
}

export async function measureFile({ root, kept }: MeasuredFolder, { output, aspects }: ToMeasure): Promise<MediaFacts> {
  const known = await kept?.get(output.sha256);
  const facts: MediaFacts = {};
  for (const aspect of aspects) {
    let found = known?.[aspect];
    if (found === undefined) {
      found = await measures[aspect](root, output);
      if (found !== undefined) await kept?.add(output.sha256, { [aspect]: found });
    }
    Object.assign(facts, found);
  }
  // Rounds the duration: media files contain durations such as 19.77599999999986.
  if (facts.durationSeconds !== undefined) facts.durationSeconds = Math.round(facts.durationSeconds * 1000) / 1000;
  return facts;
}

/** Measurements of a file, possibly none. Undefined after a temporary failure, so that the next plan measures again. */
type Found = MediaFacts | undefined;

const measures: { readonly [aspect in Aspect]: (root: string, output: Output) => Promise<Found> } = {
  async size(root, output) {
    const isPicture = output.type.startsWith('image/');
    const own = await (isPicture ? measurePicture(root, output) : measureSound(root, output, 'duration'));
    return own ?? (await withFile(root, output, measureMedia));
  },
  sound: (root, output) => measureSound(root, output, 'sound'),
  wave: (root, output) => measureSound(root, output, 'wave'),
  looks: measureAppearance,
  credentials: findCredentials,
};

async function withFile(root: string, output: Output, read: (handle: FileHandle) => Promise<Found>): Promise<Found> {
  const path = isOutputPath(output.path) ? findOutputFile(root, output.path) : undefined;
  const handle = path === undefined ? undefined : await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

async function measurePicture(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  return path === undefined ? undefined : pictureSize({ ...output, path });
}

/**
 * A picture is blank if every color channel (0 to 255) has a standard deviation below this. A compressed picture of one
 * color has less than 0.5. Four dark pixels on white, at a width of 384 pixels, have more than 2.
 */
const leastSeen = 1;

async function measureAppearance(root: string, output: Output): Promise<Found> {
  const path = findOutputFile(root, output.path);
  if (path === undefined) return undefined;
  const small = await shrinkPicture({ ...output, path });
  if ('problem' in small) return undefined;
  const { channels } = await small.picture.stats();
  return { isBlank: channels.every(({ stdev }) => stdev < leastSeen) };
}

const mostBytes = 512 * 1024 * 1024;

async function measureSound(root: string, output: Output, what: 'duration' | 'sound' | 'wave'): Promise<Found> {
  const sound = sounds[output.type];
  return sound === undefined || output.bytes > mostBytes ? undefined : withFile(root, output, sound[what]);
}

interface Track {
  '@type'?: string;
  Width?: number;
  Height?: number;
  Duration?: number;
}

async function measureMedia(handle: FileHandle): Promise<Found> {
  // Imports mediainfo.js on demand: the package is large, and only a manifest with `expect:` needs it.
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
    return readTracks((found.media?.track ?? []) as readonly Track[]);
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

const signed: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'audio/wav', 'audio/mpeg', 'audio/mp4'],
  ...['video/mp4', 'video/quicktime'],
]);
const manifestStore = 'jumdc2pa';
/** Number of bytes at each end of a file to search for C2PA data, which is before or after the media data. */
const mostAtEnds = 1 << 20;

async function findCredentials(root: string, output: Output): Promise<Found> {
  if (!signed.has(output.type)) return {};
  return withFile(root, output, async (handle) => {
    const { size } = await handle.stat();
    if (size !== output.bytes) return undefined;
    for (const at of new Set([0, Math.max(0, size - mostAtEnds)])) {
      const bytes = Buffer.alloc(Math.min(size, mostAtEnds));
      await handle.read(bytes, 0, bytes.length, at);
      if (bytes.includes(manifestStore)) return { hasCredentials: true };
    }
    return { hasCredentials: false };
  });
}
