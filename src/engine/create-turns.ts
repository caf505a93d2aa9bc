import type { Clock } from '../contract/clock.ts';
import { AdaptiveRate } from '../ground/adaptive-rate.ts';

/** Creates per second: some services allow only a few per minute. */
const leastCreates = 0.05;

/** Adaptive rate limiter for creates. Only one waits at a time: hundreds would all wake up for each turn. */
export class CreateTurns {
  readonly #clock: Clock;
  readonly #rate: AdaptiveRate;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new AdaptiveRate(clock, { least: leastCreates });
  }

  /** Resolves at the caller's turn, or when it need not wait any more: `isOff` is checked again after each wait. */
  next(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    const turn = this.#last.then(() => this.#wait(signal, isOff));
    this.#last = turn;
    return turn;
  }

  async #wait(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    for (;;) {
      if (isOff()) return 'off';
      const waitMs = this.#rate.nextAt - this.#clock.now();
      if (waitMs > 0 && !signal.aborted) {
        await this.#clock.sleep(waitMs, signal);
        continue;
      }
      this.#rate.reserve();
      return 'came';
    }
  }

  /** True while a pause that the service asked for lasts. */
  get isPaused(): boolean {
    return this.#rate.isPaused;
  }

  /** A create left. */
  left(): void {
    this.#rate.left();
  }

  /** A 429. */
  penalize(ms: number): void {
    this.#rate.complain(ms, 0);
  }
}
