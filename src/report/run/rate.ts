const bucketMs = 10_000;
const buckets = 12;

/** Counts what ends, over the last two minutes. */
export class Rate {
  readonly #counts = new Array<number>(buckets).fill(0);
  #bucket = 0;
  #firstAt: number | undefined;

  /** `at`: ms since 1970. */
  add(at: number): void {
    this.#moveTo(at);
    this.#firstAt ??= at;
    const index = this.#bucket % buckets;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Returns the rate per minute. Undefined as long as it says little. */
  perMinute(now: number): number | undefined {
    this.#moveTo(now);
    if (this.#firstAt === undefined || now - this.#firstAt < 30_000) return undefined;
    const minutes = Math.min(now - this.#firstAt, (buckets - 1) * bucketMs + (now % bucketMs)) / 60_000;
    return this.#counts.reduce((sum, count) => sum + count, 0) / minutes;
  }

  #moveTo(time: number): void {
    const bucket = Math.floor(time / bucketMs);
    const passed = Math.min(buckets, bucket - this.#bucket);
    for (let step = 1; step <= passed; step += 1) this.#counts[(bucket - passed + step) % buckets] = 0;
    this.#bucket = Math.max(this.#bucket, bucket);
  }
}
