import type { Clock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';

const firstIntervalMs = 30_000;
const longestIntervalMs = 5 * 60_000;

interface Pause {
  sinceMs: number;
  untilMs: number;
  nextTryMs: number;
  intervalMs: number;
  detail: string;
  /** Address of the step whose create request is being tried. */
  tried?: string;
}

/**
 * Holds back create requests while the account is empty and a user may be adding credits. One request at a time is
 * tried, at growing intervals; the first accepted one releases all others. Reads no balance and sends nothing itself.
 */
export class CreditWait {
  readonly #waitMs: number;
  readonly #clock: Clock;
  readonly #emit: (fact: RunFact) => void;
  #pause: Pause | undefined;
  #news = new AbortController();

  constructor(options: { waitMs: number; clock: Clock; emit(fact: RunFact): void }) {
    this.#waitMs = options.waitMs;
    this.#clock = options.clock;
    this.#emit = options.emit;
  }

  /** Records that a create request was refused for lack of credits. `over`: the wait is disabled, or has ended. */
  refused(address: string, detail: string): 'waiting' | 'over' {
    if (this.#waitMs <= 0) return 'over';
    const now = this.#clock.now();
    const pause = this.#pause;
    if (pause === undefined) {
      this.#schedule({ sinceMs: now, untilMs: now + this.#waitMs, intervalMs: firstIntervalMs, detail });
      return 'waiting';
    }
    // Refusals of requests that were in flight when the pause began give no new information.
    if (pause.tried !== address) return 'waiting';
    if (now >= pause.untilMs) {
      this.#end();
      return 'over';
    }
    const { sinceMs, untilMs, intervalMs } = pause;
    this.#schedule({ sinceMs, untilMs, intervalMs: Math.min(longestIntervalMs, 2 * intervalMs), detail });
    return 'waiting';
  }

  /**
   * Resolves when this step's create request may be sent, when the wait is over, when the signal is aborted, or when
   * `isOff` returns true; `isOff` is called again at every change.
   */
  async admit(address: string, signal: AbortSignal, isOff: () => boolean): Promise<void> {
    for (;;) {
      const pause = this.#pause;
      if (pause === undefined || signal.aborted || isOff() || pause.tried === address) return;
      const leftMs = pause.tried === undefined ? pause.nextTryMs - this.#clock.now() : this.#waitMs;
      if (leftMs <= 0) {
        pause.tried = address;
        return;
      }
      await this.#clock.sleep(leftMs, AbortSignal.any([signal, this.#news.signal]));
    }
  }

  /** True when `admit` would not resolve at once. */
  holdsBack(address: string): boolean {
    return this.#pause !== undefined && this.#pause.tried !== address;
  }

  accepted(address: string): void {
    const pause = this.#pause;
    if (pause === undefined || pause.tried !== address) return;
    this.#end();
    this.#emit({ event: 'spending-resumed', waitedMs: this.#clock.now() - pause.sinceMs });
  }

  /** Records that the tried create request failed for another reason, so the next one may be tried. */
  undecided(address: string): void {
    if (this.#pause?.tried !== address) return;
    delete this.#pause.tried;
    this.#wake();
  }

  #end(): void {
    this.#pause = undefined;
    this.#wake();
  }

  #schedule(pause: Omit<Pause, 'nextTryMs' | 'tried'>): void {
    const { untilMs, intervalMs, detail } = pause;
    const waitMs = Math.min(longestIntervalMs, Math.round(intervalMs * (1 + this.#clock.random() / 4)));
    const nextTryMs = Math.min(untilMs, this.#clock.now() + waitMs);
    this.#pause = { ...pause, nextTryMs };
    const timeOf = (ms: number) => new Date(ms).toISOString();
    this.#emit({ event: 'credits-awaited', until: timeOf(untilMs), nextTryAt: timeOf(nextTryMs), detail });
    this.#wake();
  }

  nudge(): void {
    this.#wake();
  }

  #wake(): void {
    const news = this.#news;
    this.#news = new AbortController();
    news.abort();
  }
}
