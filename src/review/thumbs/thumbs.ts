import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { ReviewFile } from '../../contract/review.ts';
import { readOwnSecret } from '../../disk/state/own-secret.ts';
import { readSmallSealedFile, writeSealedFile } from '../../disk/state/sealed-file.ts';
import { thumbsFolder } from '../../disk/state/small-pictures.ts';
import { makeThumb, type Thumb } from './make-thumb.ts';

/** A small JPEG has some 10 kB. */
const mostBytes = 1 << 20;
/** Small pictures that are held in memory, where nothing can be kept on disk as well. */
const mostHeld = 2000;
/** Made at once; one core is left for everything else. */
const mostAtOnce = Math.max(1, Math.min(4, availableParallelism() - 1));

const notNeeded: Thumb = { problem: 'was not needed any more' };

/** Whether small pictures are made of this one: others are shown as they are. */
export function hasThumb({ mediaType }: Pick<ReviewFile, 'mediaType'>): boolean {
  return ['image/png', 'image/jpeg', 'image/webp'].includes(mediaType);
}

/**
 * Small pictures of outputs, by the digest of these, kept in `.mediabatch/thumbs/` under a seal: the folder can come with a
 * branch, and who picks by small pictures must see those of what was bought. Made when they are first asked for, the newest
 * wish first: it is for what a person looks at now.
 */
export class Thumbs {
  readonly #state: string;
  readonly #make: typeof makeThumb;
  readonly #queue = new PQueue({ concurrency: mostAtOnce });
  #wishes = 0;
  #isClosed = false;
  readonly #held = new Map<string, Promise<Thumb>>();
  readonly #writes = new Set<Promise<unknown>>();
  /** Read once for all: it stays what it is. */
  #secret: Buffer | undefined;

  /** `state`: the folder that is never committed. */
  constructor(state: string, make = makeThumb) {
    this.#state = state;
    this.#make = make;
  }

  /** `find`: the absolute path of the picture, asked only where nothing is kept. */
  get(file: ReviewFile, find: () => Promise<string | undefined>): Promise<Thumb> {
    const { sha256 } = file;
    const known = this.#held.get(sha256);
    if (known !== undefined) return known;
    const thumb = this.#read(file, find);
    this.#held.set(sha256, thumb);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostHeld) break;
      this.#held.delete(oldest);
    }
    // What cannot be read now may be whole the next time.
    const forget = () => this.#held.delete(sha256);
    thumb.then((made) => 'problem' in made && forget(), forget);
    return thumb;
  }

  /** Resolves when nothing is made or written any more. What is still wanted gets a reason instead. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.onIdle();
    await Promise.all(this.#writes);
  }

  #keep(write: Promise<unknown>): void {
    this.#writes.add(write);
    void write.finally(() => this.#writes.delete(write));
  }

  async #read(file: ReviewFile, find: () => Promise<string | undefined>): Promise<Thumb> {
    const name = `${thumbsFolder}/${file.sha256}.jpg`;
    const kept = await orNothing(this.#readKept(name));
    if (kept !== undefined) return { jpeg: kept };
    const path = await find();
    if (path === undefined) return { problem: 'is not here' };
    const make = async (): Promise<Thumb> =>
      this.#isClosed ? notNeeded : this.#make({ path, bytes: file.bytes, sha256: file.sha256 });
    const made = await this.#queue.add(make, { priority: this.#wishes++ });
    // Who asked does not wait for it: it only saves time.
    if ('jpeg' in made) this.#keep(orNothing(writeSealedFile(this.#state, name, made.jpeg)));
    return made;
  }

  async #readKept(name: string): Promise<Buffer | undefined> {
    this.#secret ??= readOwnSecret();
    return this.#secret && readSmallSealedFile(this.#state, name, { mostBytes, secret: this.#secret });
  }
}

/** Nothing relies on what is kept: a folder that cannot be used, or a link in its place, counts as empty. */
async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnsafeFileError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
