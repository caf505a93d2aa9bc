import type { Stats } from 'node:fs';
import type { ReviewFile } from '../contract/review.ts';
import { statPlainFile } from '../disk/fs/plain-file.ts';
import { PlacedFiles } from '../disk/outputs/check-outputs.ts';
import { KeptFiles } from '../disk/outputs/kept-files.ts';
import type { PlaceOf } from './describe/describe-campaign.ts';

export class FileFinder {
  readonly #outputs: string;
  readonly #kept: KeptFiles;
  readonly #verified = new Map<string, string>();

  constructor({ outputs, state, kept }: { outputs: string; state: string; kept: string }) {
    this.#outputs = outputs;
    this.#kept = new KeptFiles(state, kept);
  }

  renew(): PlaceOf {
    const placed = new PlacedFiles(this.#outputs);
    return (output, isKeptOnly) => {
      const found = isKeptOnly ? 'missing' : placed.inspect(output);
      if (typeof found !== 'string') return 'placed';
      return this.#kept.glance(output) === undefined ? found : 'kept';
    };
  }

  async find(file: ReviewFile): Promise<string | undefined> {
    if (file.problem !== undefined) return undefined;
    if (file.isKept === true) return this.#findKept(file);
    const found = new PlacedFiles(this.#outputs).inspect(file);
    return typeof found === 'string' ? undefined : found.path;
  }

  /** Finds a retained file and verifies its bytes, because the file may come from an untrusted git branch. */
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
