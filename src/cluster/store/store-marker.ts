import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { CampaignError } from '../../contract/failure.ts';
import type { OutputFiles } from '../../contract/ports.ts';
import { parseJson } from '../../ground/json.ts';
import { mapOf } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';

export interface Store {
  /** ID from the marker file. The path of the store can differ between machines, the ID does not. */
  id: string;
  name: string;
  filesOf(campaign: string): StoreFiles;
  readMark(run: string): Promise<string | undefined>;
  writeMark(run: string, text: string): Promise<void>;
}

export interface StoreFiles extends OutputFiles {
  /**
   * Resolves with the unverified bytes of a saved file, or with `undefined` if it does not exist. Callers must read the
   * bytes to the end or close the iterator. Rejects if the store is unavailable.
   */
  read(output: Output): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** A folder or bucket prefix that can be a store. Paths are relative to this folder or prefix. */
export interface StorePlace {
  name: string;
  read(path: string): Promise<Buffer | undefined>;
  write(path: string, content: Buffer): Promise<void>;
  /** Creates a file. Does nothing if the file exists. */
  create(path: string, content: Buffer): Promise<void>;
  requireThere(id: string): void;
  filesOf(campaign: string, requireThere: () => void): StoreFiles;
}

export const marker = '.mediabatch/store.json';

/**
 * Opens a store. If the marker file is missing, creates it (`makes`) or throws MB3705, because the volume may not be
 * mounted.
 */
export async function openPlace(place: StorePlace, { makes }: { makes: boolean }): Promise<Store> {
  let bytes = await place.read(marker);
  if (bytes === undefined && makes) {
    await place.create(marker, writeMarker(randomBytes(8).toString('hex')));
    bytes = await place.read(marker);
  }
  if (bytes === undefined) throw missing(place.name);
  const { id } = mapOf(parseJson(bytes.toString('utf8')));
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id))
    throw unusable(place.name, 'contains a damaged .mediabatch/store.json');
  return {
    ...{ id, name: place.name },
    filesOf: (campaign) => place.filesOf(campaign, () => place.requireThere(id)),
    async readMark(run) {
      place.requireThere(id);
      return (await place.read(placeOfMark(run)))?.toString('utf8');
    },
    async writeMark(run, text) {
      place.requireThere(id);
      await place.write(placeOfMark(run), Buffer.from(text));
    },
  };
}

function placeOfMark(run: string): string {
  if (!/^[\w-]{1,64}$/.test(run)) throw new Error(`${JSON.stringify(run)} is not a run id`);
  return `.mediabatch/runs/${run}.json`;
}

export function writeMarker(id: string): Buffer {
  return Buffer.from(`${JSON.stringify({ mediabatch: 'store', version: 1, id })}\n`);
}

/** Thrown if a store was never created or is not mounted. */
export class StoreMissingError extends CampaignError {}

export function unusable(name: string, why: string): CampaignError {
  return new CampaignError(unusableFailure(name, why));
}

function missing(name: string): StoreMissingError {
  const why = 'has no .mediabatch/store.json, so it was never used as a store';
  return new StoreMissingError(unusableFailure(name, why));
}

function unusableFailure(name: string, why: string) {
  return {
    code: 'MB3705' as const,
    message: `the store ${name} ${why}`,
    hint: `${name.startsWith('s3:') ? 'check the address and AWS_* in the environment' : 'check whether the folder is mounted'}; \`apply --store\` creates a new store in an existing folder or bucket`,
  };
}

/** Returns an iterable of the stream's chunks. `return` closes the stream, even before the first chunk is read. */
export function bodyOf(stream: Readable): AsyncIterable<Uint8Array> {
  // Prevents an uncaught exception: the consumer of the iterator receives the error.
  stream.on('error', () => {});
  return {
    [Symbol.asyncIterator]() {
      const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]();
      return {
        next: () => chunks.next(),
        async return() {
          stream.destroy();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
