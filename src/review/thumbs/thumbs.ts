import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { UnsafeFileError } from '../../contract/errors.ts';
import type { ReviewAsset, ReviewData, ReviewFile } from '../../contract/review.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { type PictureOrder, shrinkPicture, smallSide } from '../../disk/pictures/shrink-picture.ts';
import { findOwn, readSealedFile, writeSealedFile } from '../../disk/state/sealed-file.ts';
import { thumbsFolder } from '../../disk/state/state-folder.ts';

const mostBytes = 1 << 20;
/** Maximum number of thumbnails in memory, which are the only ones if the disk cannot be used. */
const mostHeld = 2000;

interface Wish {
  name: string;
  find: () => Promise<string | undefined>;
  side: number;
  priority: number;
}

const notNeeded: Thumb = { problem: 'was no longer needed' };

export function hasThumb({ mediaType }: Pick<ReviewFile, 'mediaType'>): boolean {
  return ['image/png', 'image/jpeg', 'image/webp'].includes(mediaType);
}

/**
 * Thumbnails of outputs, by the output's digest. They are stored in `.mediabatch/thumbs/` with an authentication code:
 * the folder may come with a branch, and a reviewer must see thumbnails of what was bought. Made on demand, latest
 * request first, because that one is for what the user looks at now.
 */
export class Thumbs {
  readonly #state: string;
  readonly #maker: typeof makeThumb;
  readonly #queue: PQueue;
  #wishes = 0;
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
    // A failure is not kept, because the file may be readable the next time.
    const forget = () => this.#held.delete(name);
    thumb.then((made) => 'problem' in made && forget(), forget);
    return thumb;
  }

  /**
   * Makes and stores a thumbnail ahead of a request, with lower priority than all requests. Resolves when the queue has
   * room for another one.
   */
  async prepare(file: ReviewFile, find: () => Promise<string | undefined>): Promise<void> {
    const name = nameOf(file, smallSide);
    // A thumbnail of a changed file is made again on request.
    if (this.#held.has(name) || lstatOrAbsent(join(this.#state, name)) !== undefined) return;
    await this.#queue.onSizeLessThan(1);
    void this.#make(file, { name, find, side: smallSide, priority: -1 }).catch(() => undefined);
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

  async #read(file: ReviewFile, wish: Omit<Wish, 'priority'>): Promise<Thumb> {
    const kept = await orNothing(this.#readKept(wish.name));
    return kept === undefined ? this.#make(file, { ...wish, priority: this.#wishes++ }) : { jpeg: kept };
  }

  async #make({ bytes, sha256 }: ReviewFile, { name, find, side, priority }: Wish): Promise<Thumb> {
    const path = await find();
    if (path === undefined) return { problem: 'is not here' };
    const make = async (): Promise<Thumb> => (this.#isClosed ? notNeeded : this.#maker({ path, bytes, sha256 }, side));
    const made = await this.#queue.add(make, { priority });
    // Not awaited, because storing only saves time later.
    if ('jpeg' in made) this.#keep(orNothing(writeSealedFile(this.#state, name, made.jpeg)));
    return made;
  }

  async #readKept(name: string): Promise<Buffer | undefined> {
    this.#secret ??= findOwn()?.secret;
    return readSealedFile(this.#state, name, { mostBytes, secret: this.#secret });
  }
}

function nameOf({ sha256 }: ReviewFile, side: number): string {
  return `${thumbsFolder}/${sha256}${side === smallSide ? '' : `-${side}`}.jpg`;
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnsafeFileError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}

/** A thumbnail. `problem`: why there is none, as a predicate after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

export const largeSide = 1024;
export const screenSide = 1600;
/** Not all options of mozjpeg: they would make files a tenth smaller, but take four times as long. */
const jpegOptions = { quality: 75, progressive: true, quantisationTable: 3 };

export async function makeThumb(order: PictureOrder, side = smallSide): Promise<Thumb> {
  const small = await shrinkPicture(order, side);
  return 'problem' in small ? small : { jpeg: await small.picture.jpeg(jpegOptions).toBuffer() };
}

const askEveryMs = 100;

interface FillOptions {
  thumbs: Thumbs;
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
  isQuiet(): boolean;
}

export class ThumbFiller {
  readonly #options: FillOptions;
  readonly #seen = new Set<string>();
  #assets: readonly ReviewAsset[] = [];
  #left: ReviewFile[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor(options: FillOptions) {
    this.#options = options;
  }

  take({ assets, groups }: ReviewData): void {
    const before = this.#assets;
    this.#assets = assets;
    const isOpen = (index: number) => groups[index]?.gate?.state === 'open';
    const order = [...groups.keys()].sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
    const changed = order
      .flatMap((index) => groups[index]?.members ?? [])
      .flatMap((at) => (assets[at] === before[at] ? [] : (assets[at]?.files ?? [])));
    this.#left.push(
      ...changed.filter((file) => file.problem === undefined && hasThumb(file) && !this.#seen.has(file.sha256)),
    );
    if (!this.#isRunning && !this.#isClosed) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#left = [];
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { thumbs, find, isQuiet } = this.#options;
    for (let file = this.#left.shift(); file !== undefined; file = this.#left.shift()) {
      while (!isQuiet() && !this.#isClosed) await delay(askEveryMs, undefined, { ref: false });
      if (this.#isClosed) break;
      if (this.#seen.has(file.sha256)) continue;
      const one = file;
      this.#seen.add(one.sha256);
      // A failure is reported to the page that requests the thumbnail.
      await thumbs.prepare(one, async () => find(one)).catch(() => undefined);
    }
    this.#isRunning = false;
  }
}
