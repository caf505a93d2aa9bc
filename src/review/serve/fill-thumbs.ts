import { setTimeout as delay } from 'node:timers/promises';
import type { ReviewAsset, ReviewData, ReviewFile } from '../../contract/review.ts';
import { hasThumb, type Thumbs } from '../thumbs/thumbs.ts';

/** How often it is asked whether a page is quiet, in ms. */
const askEveryMs = 100;

interface FillOptions {
  thumbs: Thumbs;
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
  /** Nobody has asked for anything just now: what is made ahead keeps nobody waiting. */
  isQuiet(): boolean;
}

/** Makes the small pictures that nobody has asked for yet: first those of gates that are to be decided. */
export class ThumbFiller {
  readonly #options: FillOptions;
  /** By digest: each is made once, and one that cannot be made is not tried again. */
  readonly #seen = new Set<string>();
  #assets: readonly ReviewAsset[] = [];
  #left: ReviewFile[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor(options: FillOptions) {
    this.#options = options;
  }

  /** Adds the assets that came since the last call. */
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
      // A failure is reported to the page that requests it.
      await thumbs.prepare(one, async () => find(one)).catch(() => undefined);
    }
    this.#isRunning = false;
  }
}
