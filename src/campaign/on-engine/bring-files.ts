import { createHash } from 'node:crypto';
import type { StoreFiles } from '../../cluster/store/store.ts';
import { OutputError } from '../../contract/errors.ts';
import type { Tell } from '../../contract/notice.ts';
import type { OutputFiles } from '../../contract/ports.ts';
import { checkOutputs, type OutputState } from '../../disk/outputs/outputs.ts';
import { Places } from '../../ground/places.ts';
import { kinds } from '../../kinds/index.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';

interface Ways {
  /** Store with the files that workers saved for this campaign. */
  from: Pick<StoreFiles, 'read'>;
  /** Folder of the campaign's outputs. */
  to: string;
  outputs: OutputFiles;
  tell: Tell;
  /** Aborted when downloads must stop. Files that are not here yet stay in the store. */
  signal: AbortSignal;
}

/** Files that are copied at once, because a transfer from a remote store mostly waits. */
const atOnce = 8;
/** Attempts for one file. A file that fails is left to the next run. */
const mostTries = 3;

/** A file of a step, as recorded in a run or in the lock. */
export interface FileToBring {
  address: string;
  kind: string;
  output: Output;
  /** Digests of existing files of this step that the new file may replace. */
  replaces?: readonly string[];
}

/** Copies files from a store to the campaign's folder, checked by their digests. Files that exist already stay. */
export class FileBringer {
  readonly #places: Ways;
  readonly #queue = new Places(atOnce);
  readonly #brought: Promise<void>[] = [];
  readonly #taken = new Set<string>();
  /** Paths of files that the workers saved and that could not be copied. */
  readonly missing: string[] = [];
  /** Error of the first missing file, unless its bytes were wrong. */
  trouble: string | undefined;

  constructor(places: Ways) {
    this.#places = places;
  }

  /** Queues files of the store. Each is copied once. */
  add(files: readonly FileToBring[]): void {
    const wanted = files.filter(({ output }) => {
      const name = `${output.sha256} ${output.path}`;
      if (!isOutputPath(output.path) || this.#taken.has(name)) return false;
      this.#taken.add(name);
      return true;
    });
    if (wanted.length === 0) return;
    const states = checkOutputs(
      this.#places.to,
      wanted.map(({ output }) => output),
    );
    // The error is passed on by those that await the promise.
    states.catch(() => {});
    for (const file of wanted) {
      const brought = this.#queue.use(async () => this.#bring(file, await states));
      // The error is reported by `end`.
      brought.catch(() => {});
      this.#brought.push(brought);
    }
  }

  /** Resolves when every queued file is saved or listed as missing. */
  async end(): Promise<void> {
    await Promise.all(this.#brought);
  }

  async #bring(file: FileToBring, states: ReadonlyMap<string, OutputState>): Promise<void> {
    const { address, kind, output, replaces = [] } = file;
    const { tell } = this.#places;
    const media = kinds[kind]?.media;
    if (media === undefined || media === 'none' || states.get(output.path) === 'intact') return;
    const save = output.path.replace(/\.[^./]+$/, '');
    const notice = (text: string) => tell({ is: 'notice', text });
    if (!(await this.#copy(output, { address, media, save, replaces, notice }))) this.missing.push(output.path);
  }

  async #copy(output: Output, target: Parameters<OutputFiles['save']>[0]): Promise<boolean> {
    const { from, outputs: files, signal } = this.#places;
    for (let tries = 1; tries <= mostTries && !signal.aborted; tries += 1) {
      try {
        const body = await from.read(output);
        if (body === undefined) return false;
        await files.save(target, { body: checked(body, { output, signal }), bytes: output.bytes, type: output.type });
        return true;
      } catch (error) {
        if (!(error instanceof OutputError)) throw error;
        if (error.why === 'bad-bytes') continue;
        this.trouble ??= error.message;
        return false;
      }
    }
    return false;
  }
}

/** Stops with an error when the bytes differ from the digest in the lock, so that no such file gets its final name. */
function checked(
  body: AsyncIterable<Uint8Array>,
  { output, signal }: { output: Output; signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  const digest = createHash('sha256');
  const chunks = body[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (signal.aborted) throw new Error('interrupted');
        const next = await chunks.next();
        if (next.done !== true) digest.update(next.value);
        else if (digest.digest('hex') !== output.sha256) throw new Error(`${output.path} has other bytes in the store`);
        return next;
      },
      async return() {
        await chunks.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}
