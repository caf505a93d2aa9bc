import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { OutputError } from '../contract/errors.ts';
import type { Tell } from '../contract/notice.ts';
import type { OutputFiles } from '../contract/ports.ts';
import { checkOutputs } from '../disk/outputs/outputs.ts';
import { kinds } from '../kinds/index.ts';
import { isOutputPath } from '../lock/check-line.ts';
import type { LockLine, Output } from '../lock/record.ts';

interface Places {
  /** Where workers have put the files of this campaign. */
  from: string;
  /** The campaign's own folder of outputs. */
  to: string;
  outputs: OutputFiles;
  tell: Tell;
}

/** Brings files of a store into the campaign's folder, by the digests of its lock: what is there already stays. */
export class FileBringer {
  readonly #places: Places;
  #last: Promise<void> = Promise.resolve();
  /** Files that the lock calls saved and that the store does not have so. */
  readonly missing: string[] = [];

  constructor(places: Places) {
    this.#places = places;
  }

  /** Takes in new lines of the lock. */
  add(lines: readonly string[]): void {
    const done = lines.filter((line) => line.includes('"state":"done"'));
    for (const line of done.map((text) => JSON.parse(text) as LockLine))
      this.#last = this.#last.then(() => this.#bring(line));
  }

  /** Resolves when everything that was taken in is here, or is among the missing. */
  end(): Promise<void> {
    return this.#last;
  }

  async #bring({ address, kind, outputs = [] }: LockLine): Promise<void> {
    const { to, from, outputs: port, tell } = this.#places;
    const media = kinds[kind]?.media;
    if (media === undefined || media === 'none') return;
    const named = outputs.filter(({ path }) => isOutputPath(path));
    const states = await checkOutputs(to, named);
    for (const output of named) {
      if (states.get(output.path) === 'intact') continue;
      const body = createReadStream(join(from, output.path));
      try {
        const saved = await port.save(
          {
            address,
            media,
            save: withoutExtension(output.path),
            replaces: [],
            notice: (text) => tell({ is: 'notice', text }),
          },
          { body, bytes: output.bytes, type: output.type },
        );
        if (saved.sha256 !== output.sha256) this.missing.push(output.path);
      } catch (error) {
        if (!(error instanceof OutputError) || error.why !== 'bad-bytes') throw error;
        this.missing.push(output.path);
      }
    }
  }
}

function withoutExtension(path: Output['path']): string {
  return path.replace(/\.[^./]+$/, '');
}
