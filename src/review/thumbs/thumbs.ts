import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { ReviewFile } from '../../contract/review.ts';
import { type PictureOrder, shrinkPicture, smallSide } from '../../disk/pictures/shrink-picture.ts';
import { findOwn, readSealedFile, writeSealedFile } from '../../disk/state/sealed-file.ts';

const mostBytes = 1 << 20;
const mostHeld = 2000;

interface ThumbRequest {
  name: string;
  find: () => Promise<string | undefined>;
  side: number;
}

const notNeeded: Thumb = { problem: 'was no longer needed' };

export function hasThumb({ mediaType }: Pick<ReviewFile, 'mediaType'>): boolean {
  return ['image/png', 'image/jpeg', 'image/webp'].includes(mediaType);
}

/**
 * Makes thumbnails of outputs on request, latest request first. Stores them in `.mediabatch/thumbs/` with an
 * authentication code, because that folder may contain files from an untrusted git branch.
 */
export class Thumbs {
  readonly #state: string;
  readonly #maker: typeof makeThumb;
  readonly #queue: PQueue;
  #requests = 0;
  #isClosed = false;
  readonly #held = new Map<string, Promise<Thumb>>();
  readonly #writes = new Set<Promise<unknown>>();
  #secret: Buffer | undefined;

  constructor(state: string, make = makeThumb, atOnce = availableParallelism()) {
    this.#queue = new PQueue({ concurrency: atOnce });
    this.#state = state;
    this.#maker = make;
  }

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
    // A failed thumbnail is not cached, because the next attempt may succeed.
    const forget = () => this.#held.delete(name);
    thumb.then((made) => 'problem' in made && forget(), forget);
    return thumb;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.onIdle();
    await Promise.all(this.#writes);
  }

  #keep(write: Promise<unknown>): void {
    this.#writes.add(write);
    void write.finally(() => this.#writes.delete(write));
  }

  async #read({ bytes, sha256 }: ReviewFile, { name, find, side }: ThumbRequest): Promise<Thumb> {
    const kept = await orUndefined(this.#readKept(name));
    if (kept !== undefined) return { jpeg: kept };
    const priority = this.#requests++;
    const path = await find();
    if (path === undefined) return { problem: 'is not on this disk' };
    const make = async (): Promise<Thumb> => (this.#isClosed ? notNeeded : this.#maker({ path, bytes, sha256 }, side));
    const made = await this.#queue.add(make, { priority });
    // The caller does not wait for the write: a stored thumbnail only saves time later.
    if ('jpeg' in made) this.#keep(orUndefined(writeSealedFile(this.#state, name, made.jpeg)));
    return made;
  }

  async #readKept(name: string): Promise<Buffer | undefined> {
    this.#secret ??= findOwn()?.secret;
    return readSealedFile(this.#state, name, { mostBytes, secret: this.#secret });
  }
}

function nameOf({ sha256 }: ReviewFile, side: number): string {
  return `thumbs/${sha256}${side === smallSide ? '' : `-${side}`}.jpg`;
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnsafeFileError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

/** `problem`: reason why there is no thumbnail, as a phrase that follows the path of the file. */
type Thumb = { jpeg: Uint8Array } | { problem: string };

export const largeSide = 1024;
export const screenSide = 1600;
/** With all options of mozjpeg, files would be 10 % smaller, but encoding would take four times as long. */
const jpegOptions = { quality: 75, progressive: true, quantisationTable: 3 };

export async function makeThumb(order: PictureOrder, side = smallSide): Promise<Thumb> {
  const small = await shrinkPicture(order, side);
  return 'problem' in small ? small : { jpeg: await small.picture.jpeg(jpegOptions).toBuffer() };
}
