import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { ReviewFile } from '../../contract/review.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { smallSide } from '../../disk/pictures/shrink-picture.ts';
import { readOwnSecret } from '../../disk/state/own-secret.ts';
import { readSmallSealedFile, writeSealedFile } from '../../disk/state/sealed-file.ts';
import { thumbsFolder } from '../../disk/state/state-folder.ts';
import { makeThumb, type Thumb } from './make-thumb.ts';

/** A small JPEG has some 10 kB. */
const mostBytes = 1 << 20;
/** Small pictures that are held in memory, where nothing can be kept on disk as well. */
const mostHeld = 2000;

/** `side`: pixels of the longer side. `name`: of what is kept. */
interface Wish {
  name: string;
  find: () => Promise<string | undefined>;
  side: number;
  priority: number;
}

const notNeeded: Thumb = { problem: 'was no longer needed' };

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
  readonly #maker: typeof makeThumb;
  readonly #queue: PQueue;
  #wishes = 0;
  #isClosed = false;
  readonly #held = new Map<string, Promise<Thumb>>();
  readonly #writes = new Set<Promise<unknown>>();
  /** Read once for all: it stays what it is. */
  #secret: Buffer | undefined;

  /**
   * `state`: the folder that is never committed. `atOnce`: how many are made at once, each on a thread of its own: this one only
   * reads and hashes.
   */
  constructor(state: string, make = makeThumb, atOnce = availableParallelism()) {
    this.#queue = new PQueue({ concurrency: atOnce });
    this.#state = state;
    this.#maker = make;
  }

  /** `find`: the absolute path of the picture, asked only where nothing is kept. `side`: pixels of its longer side. */
  get(file: ReviewFile, find: () => Promise<string | undefined>, side = smallSide): Promise<Thumb> {
    const name = nameOf(file, side);
    const known = this.#held.get(name);
    if (known !== undefined) return known;
    const thumb = this.#read(file, { name, find, side });
    this.#held.set(name, thumb);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= mostHeld) break;
      this.#held.delete(oldest);
    }
    // What cannot be read now may be whole the next time.
    const forget = () => this.#held.delete(name);
    thumb.then((made) => 'problem' in made && forget(), forget);
    return thumb;
  }

  /** Makes and keeps one before anybody asks for it, after all that somebody has asked for. Resolves when there is room for another. */
  async prepare(file: ReviewFile, find: () => Promise<string | undefined>): Promise<void> {
    const name = nameOf(file, smallSide);
    // A thumbnail of a changed file is made again on request.
    if (this.#held.has(name) || lstatOrAbsent(join(this.#state, name)) !== undefined) return;
    await this.#queue.onSizeLessThan(1);
    void this.#make(file, { name, find, side: smallSide, priority: -1 }).catch(() => undefined);
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

  async #read(file: ReviewFile, wish: Omit<Wish, 'priority'>): Promise<Thumb> {
    const kept = await orNothing(this.#readKept(wish.name));
    return kept === undefined ? this.#make(file, { ...wish, priority: this.#wishes++ }) : { jpeg: kept };
  }

  async #make({ bytes, sha256 }: ReviewFile, { name, find, side, priority }: Wish): Promise<Thumb> {
    const path = await find();
    if (path === undefined) return { problem: 'is not here' };
    const make = async (): Promise<Thumb> => (this.#isClosed ? notNeeded : this.#maker({ path, bytes, sha256 }, side));
    const made = await this.#queue.add(make, { priority });
    // Who asked does not wait for it: it only saves time.
    if ('jpeg' in made) this.#keep(orNothing(writeSealedFile(this.#state, name, made.jpeg)));
    return made;
  }

  async #readKept(name: string): Promise<Buffer | undefined> {
    this.#secret ??= readOwnSecret();
    return this.#secret && readSmallSealedFile(this.#state, name, { mostBytes, secret: this.#secret });
  }
}

function nameOf({ sha256 }: ReviewFile, side: number): string {
  return `${thumbsFolder}/${sha256}${side === smallSide ? '' : `-${side}`}.jpg`;
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
