import type { Clock } from '../../contract/clock.ts';
import type { Hold, HoldAnswer, SpendingLimits } from '../../contract/spending.ts';
import { defined } from '../../ground/values.ts';
import type { LockLine } from '../../lock/record.ts';
import { randomId } from '../fs/replace.ts';
import { isUnsent } from './purchase-lines.ts';
import type { ChargeLine, Finder, HoldLine, SpendingLine, UnknownHold, Verdict } from './spending-sums.ts';

export type SpendingClock = Pick<Clock, 'now' | 'sleep'>;

/** Interval, in ms, at which another price probe is checked for its result. */
const waitMs = 200;

/** Storage of spending lines, in one order for all runs. */
export interface SpendingHome {
  /** Per day and month, over all runs that use this storage. */
  readonly limits: SpendingLimits;
  readonly named: string;
  /** Resolves when the line is durable, with the verdict on a hold. A hold over a limit need not be written. */
  add(line: SpendingLine): Promise<Verdict>;
  /** Returns whether the owner of a price probe ended without reporting its price. */
  isGone(finder: Finder): Promise<boolean>;
}

interface Held {
  line: HoldLine;
  isSent: boolean;
}

/**
 * Records a run's spending in storage that it shares with other runs: a line before each create request leaves, and one
 * when its charge is known. Credits of a sent create request without an answer stay held.
 */
export class SpendingLedger {
  readonly #home: SpendingHome;
  readonly #of: { campaign: string; path: string; by: Finder; clock: SpendingClock };
  readonly #held = new Map<string, Held>();

  /**
   * `campaign`: distinguishes its idempotency keys from those of other campaigns; `path`: names the campaign for users.
   * `by`: owner of this run's price probes.
   */
  constructor(home: SpendingHome, of: { campaign: string; path: string; by: Finder; clock: SpendingClock }) {
    this.#home = home;
    this.#of = of;
  }

  async hold({ key, credits, likely, isSent }: Hold): Promise<HoldAnswer> {
    if (this.#held.has(key)) return 'held';
    const { day, month } = this.#home.limits;
    const line: HoldLine = {
      at: this.#now(),
      hold: key,
      campaign: this.#of.campaign,
      line: randomId(),
      credits: credits ?? Math.max(1, likely),
      ...(credits === null && { unknown: { by: this.#of.by, path: this.#of.path } }),
      ...(isSent && { isSent }),
      ...(!isSent &&
        (day ?? month) !== undefined && {
          limits: defined({ day, month }),
        }),
    };
    const verdict: Verdict = await this.#home.add(line);
    switch (verdict.is) {
      case 'held':
        this.#held.set(key, { line, isSent });
        return 'held';
      case 'over':
        return {
          over: `${verdict.most} credits a ${verdict.per} are the limit (${this.#home.named}), and ${verdict.left} are left`,
        };
      case 'lost':
        return {
          over: `the charge of a create of unknown price is not known, because its run was killed or got no answer: a run for ${verdict.path} finds it out`,
        };
      case 'later':
        await this.#await(verdict.other);
        return 'later';
      default:
        return verdict satisfies never;
    }
  }

  /** Reads the result of a held create request from a line of the lock. */
  note(line: LockLine): void {
    const held = this.#held.get(line.key);
    if (held === undefined) return;
    const isEnded = line.jobId !== undefined || isUnsent(line);
    if (!isEnded) {
      held.isSent = true;
      return;
    }
    this.#held.delete(line.key);
    this.#settle(held.line, isUnsent(line) ? unsent : { credits: line.credits ?? held.line.credits });
  }

  /** Ends a hold: its create request was not sent, or its result is not recorded here. */
  release(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (!held.isSent) {
      this.#held.delete(key);
      this.#settle(held.line, unsent);
    } else if (held.line.unknown !== undefined) {
      this.#settle(held.line, { credits: held.line.credits, isLost: true });
    }
  }

  /** Waits for another price probe, and ends its hold if its process ended without reporting a price. */
  async #await(other: UnknownHold): Promise<void> {
    if (await this.#home.isGone(other.unknown.by)) this.#settle(other, { credits: other.credits, isLost: true });
    else await this.#of.clock.sleep(waitMs);
  }

  #settle({ hold, campaign, credits: held }: HoldLine, became: Pick<ChargeLine, 'credits' | 'isLost' | 'isUnsent'>) {
    // Until this line is written, the credits count as held.
    this.#home.add({ at: this.#now(), charged: hold, campaign, held, ...became }).catch(() => undefined);
  }

  #now(): string {
    return new Date(this.#of.clock.now()).toISOString();
  }
}

const unsent = { credits: 0, isUnsent: true } as const;
