import { setTimeout as delay } from 'node:timers/promises';
import type { ReviewAsset, ReviewData, ReviewFile } from '../../contract/review.ts';
import { hasThumb, type Thumbs } from '../thumbs/thumbs.ts';

/** Interval of checks whether the page is idle, in ms. */
const askEveryMs = 100;

interface FillOptions {
  thumbs: Thumbs;
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
  /** Whether no page has sent a request recently, so that making thumbnails ahead delays none. */
  isQuiet(): boolean;
}

/** Makes thumbnails before they are requested; those of undecided gates come first. */
export class ThumbFiller {
  readonly #options: FillOptions;
  /** Digests of files that were processed. Each is processed once, even after a failure. */
  readonly #seen = new Set<string>();
  #assets: readonly ReviewAsset[] = [];
  #left: ReviewFile[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor(options: FillOptions) {
    this.#options = options;
  }

  /** Queues the thumbnails of assets that are new since the last call. */
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
