import { randomBytes } from 'node:crypto';
import type { Clock } from '../../contract/clock.ts';
import type { Hold, Spending, SpendingLimits } from '../../contract/spending.ts';
import type { ChargeLine, Finder, HoldLine, SpendingLine, UnknownHold, Verdict } from './spending-sums.ts';

export type SpendingClock = Pick<Clock, 'now' | 'sleep'>;

/** How long one waits for a price that another one finds out, before it asks again. */
const waitMs = 200;

/** Where lines of what is spent are kept: in one order, for all who spend from there. */
export interface SpendingHome {
  /** Those of a day and a month hold everybody back there. */
  readonly limits: SpendingLimits;
  /** Name of these limits, for people. */
  readonly named: string;
  /** Resolves when the line is durable, with the verdict on a hold. One that does not fit need not be written. */
  add(line: SpendingLine): Promise<Verdict>;
  /** Whether whoever finds a price out will not say it any more. */
  isGone(finder: Finder): Promise<boolean>;
}

/**
 * Spending of a run from a home that it shares with others: a line before each create leaves, and one when its charge is
 * known. Who is killed leaves held what they held.
 */
export class SpendingLedger implements Spending {
  readonly #home: SpendingHome;
  readonly #lock: string;
  readonly #path: string;
  readonly #by: Finder;
  readonly #clock: SpendingClock;
  readonly #held = new Map<string, HoldLine>();

  /** `lock`: names what is bought for it; `path`: the same for people. `by`: who finds prices out. */
  constructor(home: SpendingHome, options: { lock: string; path: string; by: Finder; clock: SpendingClock }) {
    this.#home = home;
    this.#lock = options.lock;
    this.#path = options.path;
    this.#by = options.by;
    this.#clock = options.clock;
  }

  async hold({ name, key, credits, likely, isSent }: Hold): Promise<'held' | 'later' | { over: string }> {
    if (this.#held.has(name)) return 'held';
    const { limits, named } = this.#home;
    const { day, month } = limits;
    const line: HoldLine = {
      at: this.#now(),
      hold: key,
      lock: this.#lock,
      line: randomBytes(8).toString('hex'),
      credits: credits ?? Math.max(1, likely),
      ...(credits === null && { unknown: { by: this.#by, path: this.#path } }),
      ...(isSent && { isSent }),
      ...(!isSent &&
        (day ?? month) !== undefined && {
          limits: { ...(day !== undefined && { day }), ...(month !== undefined && { month }) },
        }),
    };
    const verdict: Verdict = await this.#home.add(line);
    switch (verdict.is) {
      case 'held':
        this.#held.set(name, line);
        return 'held';
      case 'over':
        return {
          over: `${verdict.most} credits a ${verdict.per} are the limit (${named}), and ${verdict.left} are left`,
        };
      case 'lost':
        return {
          over: `a create of unknown price left, and who sent it was killed or had no answer: a run for ${verdict.path} finds out what it was charged`,
        };
      case 'later':
        await this.#await(verdict.other);
        return 'later';
      default:
        return verdict satisfies never;
    }
  }

  charge(name: string, credits: number | null): void {
    const line = this.#held.get(name);
    if (line === undefined) return;
    this.#held.delete(name);
    this.#settle(line, { credits: credits ?? line.credits });
  }

  release(name: string): void {
    const line = this.#held.get(name);
    if (line === undefined) return;
    this.#held.delete(name);
    this.#settle(line, { credits: 0, isUnsent: true });
  }

  doubt(name: string): void {
    const line = this.#held.get(name);
    if (line?.unknown !== undefined) this.#settle(line, { credits: line.credits, isLost: true });
  }

  /** Whoever died while finding a price out will not say it. */
  async #await(other: UnknownHold): Promise<void> {
    if (await this.#home.isGone(other.unknown.by)) this.#settle(other, { credits: other.credits, isLost: true });
    else await this.#clock.sleep(waitMs);
  }

  #settle({ hold, lock, credits: held }: HoldLine, became: Pick<ChargeLine, 'credits' | 'isLost' | 'isUnsent'>): void {
    // Until it is written it counts as held.
    this.#home.add({ at: this.#now(), charged: hold, lock, held, ...became }).catch(() => undefined);
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
