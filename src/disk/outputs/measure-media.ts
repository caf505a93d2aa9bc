import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import { openPlainFile } from '../fs/plain-file.ts';
import { findOutputFile } from './output-path.ts';

/** Pixels and seconds, as far as the file states them. */
export interface MeasuredMedia {
  width?: number;
  height?: number;
  durationSeconds?: number;
}

interface Track {
  '@type'?: string;
  Width?: number;
  Height?: number;
  Duration?: number;
}

/** Media facts of a saved file, read from its own bytes; undefined when it is missing or states none. */
export async function measureMedia(root: string, output: Output): Promise<MeasuredMedia | undefined> {
  if (!isOutputPath(output.path)) return undefined;
  const path = findOutputFile(root, output.path);
  if (path === undefined) return undefined;
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    return readTracks(await readFacts(handle));
  } finally {
    await handle.close();
  }
}

/** A hostile or damaged file counts as one that states nothing. */
async function readFacts(handle: FileHandle): Promise<readonly Track[]> {
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
    return [];
  } finally {
    info.close();
  }
}

function readTracks(tracks: readonly Track[]): MeasuredMedia | undefined {
  const picture = tracks.find((track) => track['@type'] === 'Video' || track['@type'] === 'Image');
  const lasting = tracks.find(({ Duration }) => typeof Duration === 'number' && Duration > 0);
  const measured: MeasuredMedia = {};
  if (typeof picture?.Width === 'number') measured.width = picture.Width;
  if (typeof picture?.Height === 'number') measured.height = picture.Height;
  if (typeof lasting?.Duration === 'number') measured.durationSeconds = lasting.Duration;
  return Object.keys(measured).length === 0 ? undefined : measured;
}
