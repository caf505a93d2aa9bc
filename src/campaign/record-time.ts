import type { RunEvent, RunTime } from '../contract/event.ts';
import type { Remaining, RunTimes } from '../report/run/run-time.ts';

/** Most steps under way that are timed: more are a row for each task on a screen, which says nothing of single jobs. */
const mostUnderWay = 50;

/** Longest time that is believed, ten years: anything longer was not written by a run. */
const longestMs = 10 * 365 * 24 * 3_600_000;

/** Turns what a run says of time into lines of its history, so that whoever follows the run is told the same. */
export class TimeLines {
  readonly #times: RunTimes;
  readonly #underWay = new Set<string>();
  readonly #said = new Set<string>();
  #remaining: string | undefined;

  constructor(times: RunTimes) {
    this.#times = times;
  }

  on(event: RunEvent): void {
    if (event.event === 'step-started') this.#underWay.add(event.address);
    else if (event.event === 'step-finished') this.#underWay.delete(event.address);
  }

  /** The time left, and what is usual for jobs of which it has not been said, where that is news; else undefined. */
  next(now: number): RunTime | undefined {
    const remaining = this.#times.remaining?.();
    const written = remaining && writtenOf(remaining);
    const text = JSON.stringify(written);
    const usualMs = this.#usual();
    const saysUsual = Object.keys(usualMs).length > 0;
    if (text === this.#remaining && !saysUsual) return undefined;
    this.#remaining = text;
    return {
      ...{ mediabatch: 'run-time', version: 1, at: new Date(now).toISOString() },
      ...(written !== undefined && { remaining: written }),
      ...(saysUsual && { usualMs }),
    };
  }

  #usual(): { [address: string]: number } {
    const usualMs: { [address: string]: number } = {};
    if (this.#underWay.size > mostUnderWay) return usualMs;
    for (const address of this.#underWay) {
      const ms = this.#said.has(address) ? undefined : this.#times.usual?.(address);
      if (ms === undefined) continue;
      usualMs[address] = Math.round(ms);
      this.#said.add(address);
    }
    return usualMs;
  }
}

/** Times of a run, as its history tells them. */
export class ToldTimes implements Required<RunTimes> {
  readonly #usual = new Map<string, number>();
  #remaining: Remaining | undefined;

  hear({ remaining, usualMs = {} }: RunTime): void {
    this.#remaining = remaining && remainingOf(remaining);
    for (const [address, ms] of Object.entries(usualMs)) if (ms <= longestMs) this.#usual.set(address, ms);
  }

  remaining(): Remaining | undefined {
    return this.#remaining;
  }

  usual(address: string): number | undefined {
    return this.#usual.get(address);
  }
}

function writtenOf(remaining: Remaining): NonNullable<RunTime['remaining']> {
  if (typeof remaining === 'string') return remaining;
  const { low, high, ...more } = remaining;
  return { lowMs: Math.round(low * 1000), highMs: Math.round(high * 1000), ...more };
}

/** Reads the time left. The file may be anybody's: a range that makes no sense is none. */
function remainingOf(written: NonNullable<RunTime['remaining']>): Remaining | undefined {
  if (typeof written === 'string') return written;
  const { lowMs, highMs, ...more } = written;
  return lowMs <= highMs && highMs <= longestMs ? { low: lowMs / 1000, high: highMs / 1000, ...more } : undefined;
}
