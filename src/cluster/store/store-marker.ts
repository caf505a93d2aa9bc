import type { Readable } from 'node:stream';
import { CampaignError } from '../../contract/failure.ts';
import type { OutputFiles } from '../../contract/ports.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';

export interface Store {
  /** Identifies the store, independent of its path or name on a machine. */
  id: string;
  name: string;
  filesOf(campaign: string): StoreFiles;
  /** Resolves with `undefined` if there is no mark. Rejects when the store is away. */
  readMark(run: string): Promise<string | undefined>;
  writeMark(run: string, text: string): Promise<void>;
}

export interface StoreFiles extends OutputFiles {
  /**
   * Bytes of a saved file, without verification; `undefined` if there is no such file. Read them to the end, or close
   * them. Rejects when the store is away, also during iteration.
   */
  read(output: Output): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** Throws MB3705 if the marker is damaged. */
export function readMarker(name: string, bytes: Buffer): string {
  const found = parse(bytes.toString('utf8'));
  if (isMap(found) && typeof found.id === 'string' && /^[0-9a-f]{16}$/.test(found.id)) return found.id;
  throw unusable(name, 'has a .mediabatch/store.json that is damaged');
}

/** Returns the path of a run's mark below the store. Throws for a malformed id, because it comes from the database. */
export function placeOfMark(run: string): string {
  if (!/^[\w-]{1,64}$/.test(run)) throw new Error(`${JSON.stringify(run)} is not a run id`);
  return `.mediabatch/runs/${run}.json`;
}

export function writeMarker(id: string): Buffer {
  return Buffer.from(`${JSON.stringify({ mediabatch: 'store', version: 1, id })}\n`);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The place has no marker: the store was never created, or is not mounted. */
export class StoreMissingError extends CampaignError {}

export function unusable(name: string, why: string): CampaignError {
  return new CampaignError(unusableFailure(name, why));
}

export function missing(name: string): StoreMissingError {
  const why = 'has no .mediabatch/store.json, so nothing was ever saved there';
  return new StoreMissingError(unusableFailure(name, why));
}

function unusableFailure(name: string, why: string) {
  return {
    code: 'MB3705' as const,
    message: `the store ${name} ${why}`,
    hint: `${name.startsWith('s3:') ? 'check the address and AWS_* in the environment' : 'check whether it is mounted'}; \`apply --store\` makes a new store in a place that is there`,
  };
}

/** Converts a stream into the body of a download. The iterator's `return` closes it, even if iteration never began. */
export function bodyOf(stream: Readable): AsyncIterable<Uint8Array> {
  // Prevents an unhandled error event; the consumer of the iterator receives the error.
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
