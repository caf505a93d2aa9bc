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
  /** Where workers have put the files of this campaign. */
  from: Pick<StoreFiles, 'read'>;
  /** The campaign's own folder of outputs. */
  to: string;
  outputs: OutputFiles;
  tell: Tell;
  /** Aborted: what is not here yet stays where it is. */
  signal: AbortSignal;
}

/** Files that are brought at once: one of a store that is far away mostly waits. */
const atOnce = 8;
/** Tries of one file. The next run fetches what does not come. */
const mostTries = 3;

/** A file of a step, as a run or the lock tells of it. */
export interface FileToBring {
  address: string;
  kind: string;
  output: Output;
  /** Digests of files of this step that it may take the place of. */
  replaces?: readonly string[];
}

/** Brings files of a store into the campaign's folder, by their digests: what is there already stays. */
export class FileBringer {
  readonly #places: Ways;
  readonly #queue = new Places(atOnce);
  readonly #brought: Promise<void>[] = [];
  readonly #taken = new Set<string>();
  /** Files that were saved, and that did not come. */
  readonly missing: string[] = [];
  /** Why the first of them did not, if its bytes are not to blame. */
  trouble: string | undefined;

  constructor(places: Ways) {
    this.#places = places;
  }

  /** Queues files that are in the store. Each is fetched once. */
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
    // Callers that wait for it receive the error, too.
    states.catch(() => {});
    for (const file of wanted) {
      const brought = this.#queue.use(async () => this.#bring(file, await states));
      // Reported at the end.
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

/** Breaks off when the bytes are not those of the lock: then nothing gets the file's name. */
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
