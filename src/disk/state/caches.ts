import { UnsafeFileError } from '../../contract/errors.ts';
import type { KeptDurations } from '../../contract/ports.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';
import { readPlainFile } from '../fs/plain-file.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

const mostBytes = 64 * 1024 ** 2;

/** Runs `work` on a cache. Returns `undefined` after a disk error, or if the content is not JSON. */
export async function orForgotten<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isOfDisk = error instanceof UnsafeFileError || (error as NodeJS.ErrnoException).code !== undefined;
    // `RangeError`: nested too deeply.
    if (isOfDisk || error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns `undefined` if the file is missing or larger than `mostBytes`. Throws `SyntaxError` for invalid JSON. */
export async function readJsonFile(path: string, mostBytes: number): Promise<Json | undefined> {
  const text = readPlainFile(path, mostBytes)?.toString('utf8');
  return text === undefined ? undefined : (JSON.parse(text.replace(/^\ufeff/, '')) as Json);
}

/**
 * Returns the fields of a cache file, or no fields if the file is missing or has another version. The seal of the file
 * proves that this user wrote the file.
 */
export async function readCache(state: string, name: string, version: number): Promise<{ [field: string]: Json }> {
  const kept = await orForgotten(async () => {
    const bytes = await readSealedFile(state, name, { mostBytes });
    return bytes && (JSON.parse(bytes.toString('utf8')) as Json);
  });
  return isMap(kept) && kept.version === version ? kept : {};
}

/** Writes a cache file. Returns false if the file cannot be written. */
export async function writeCache(
  state: string,
  name: string,
  content: { version: number; [field: string]: unknown },
): Promise<boolean> {
  return (await orForgotten(() => writeSealedFile(state, name, `${JSON.stringify(content)}\n`))) === true;
}

type Answer = 'document' | 'catalog' | 'accounts';

export async function readAnswer(state: string, service: string | undefined, what: Answer): Promise<Json | undefined> {
  return service === undefined ? undefined : (await readCache(state, nameOf(service, what), 1)).document;
}

export async function keepAnswer(
  state: string,
  service: string | undefined,
  what: Answer,
  document: Json,
): Promise<void> {
  if (service !== undefined) await writeCache(state, nameOf(service, what), { version: 1, document });
}

function nameOf(service: string, what: Answer): string {
  const part = what === 'document' ? '' : `.${what}`;
  return `service/${service.replace(/[^A-Za-z0-9]/g, '_')}${part}.json`;
}

/** `durations`: name of the file with the durations of a service's jobs. The sandbox has one for each `--speed`. */
interface Place {
  state: string;
  durations: string;
}

/** Reads how long the jobs of earlier runs took. Polling and time estimates use these durations. */
export async function readKeptDurations({ state, durations: fileName }: Place): Promise<KeptDurations> {
  const { durations } = await readCache(state, fileName, 1);
  return isMap(durations) ? (durations as KeptDurations) : {};
}

export async function keepDurations({ state, durations: fileName }: Place, durations: KeptDurations): Promise<void> {
  if (Object.keys(durations).length > 0) await writeCache(state, fileName, { version: 1, durations });
}

type Measured = { readonly [aspect in Aspect]?: MediaFacts };

const measuresFile = 'measures.json';
const measuresVersion = 3;

export class KeptMeasures {
  readonly #state: string;
  #known: Promise<Map<string, Measured>> | undefined;
  #isNewer = false;

  constructor(state: string) {
    this.#state = state;
  }

  async get(sha256: string): Promise<Measured | undefined> {
    return (await this.#open()).get(sha256);
  }

  async add(sha256: string, measured: Measured): Promise<void> {
    const known = await this.#open();
    known.set(sha256, { ...known.get(sha256), ...measured });
    this.#isNewer = true;
  }

  async keep(): Promise<void> {
    if (!this.#isNewer) return;
    this.#isNewer = false;
    const measures = Object.fromEntries(await this.#open());
    await writeCache(this.#state, measuresFile, { version: measuresVersion, measures });
  }

  #open(): Promise<Map<string, Measured>> {
    this.#known ??= readCache(this.#state, measuresFile, measuresVersion).then(
      ({ measures }) => new Map(Object.entries((measures ?? {}) as { [sha256: string]: Measured })),
    );
    return this.#known;
  }
}
