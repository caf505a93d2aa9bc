import type { Stats } from 'node:fs';
import type { ReviewFile } from '../contract/review.ts';
import { statPlainFile } from '../disk/fs/plain-file.ts';
import { KeptFiles } from '../disk/outputs/kept-files.ts';
import { PlacedFiles } from '../disk/outputs/placed-files.ts';
import type { PlaceOf } from './describe/describe-asset.ts';

/** Finds where the bytes of outputs are on this disk: at their paths, or among what newer ones have replaced. */
export class FileFinder {
  readonly #outputs: string;
  readonly #kept: KeptFiles;
  /** Kept files whose bytes have been read, as they were then. */
  readonly #verified = new Map<string, string>();

  /** `outputs`: their folder. `state`: the folder that is never committed. `kept`: of the folder below it. */
  constructor({ outputs, state, kept }: { outputs: string; state: string; kept: string }) {
    this.#outputs = outputs;
    this.#kept = new KeptFiles(state, kept);
  }

  /** A look at all outputs, one by one; nothing is read. `isKeptOnly`: its path has the bytes of another one by now. */
  newLook(): PlaceOf {
    const placed = new PlacedFiles(this.#outputs);
    return (output, isKeptOnly) => {
      const found = isKeptOnly ? 'missing' : placed.look(output);
      if (typeof found !== 'string') return 'placed';
      return this.#kept.glance(output) === undefined ? found : 'kept';
    };
  }

  /** Absolute path of the file, where it was last seen and still is; undefined when it is not there any more. */
  async find(file: ReviewFile): Promise<string | undefined> {
    if (file.problem !== undefined) return undefined;
    if (file.isKept === true) return this.#findKept(file);
    const found = new PlacedFiles(this.#outputs).look(file);
    return typeof found === 'string' ? undefined : found.path;
  }

  /** The folder can have come with a branch: its files are what their names say only when they have been read. */
  async #findKept(file: ReviewFile): Promise<string | undefined> {
    const path = this.#kept.glance(file);
    if (path === undefined) return undefined;
    const stamp = stampOf(statPlainFile(path));
    if (stamp !== undefined && this.#verified.get(path) === stamp) return path;
    const found = await this.#kept.find(file);
    if (found !== undefined && stamp !== undefined) this.#verified.set(found, stamp);
    return found;
  }
}

function stampOf(stats: Stats | undefined): string | undefined {
  return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}
