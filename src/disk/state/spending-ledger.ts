import type { Clock } from '../../contract/clock.ts';
import type { Hold, HoldAnswer, SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isMap } from '../../ground/values.ts';
import type { LockLine } from '../../lock/record.ts';
import { randomId } from '../fs/replace.ts';
import type { ProcessIdentity } from '../lock/process-identity.ts';

export type SpendingClock = Pick<Clock, 'now' | 'sleep'>;

/** Interval in ms between checks whether another purchase's price probe has ended. */
const waitMs = 200;

/** Storage of spending lines. All runs read the lines in the same order. */
export interface SpendingHome {
  readonly limits: SpendingLimits;
  readonly named: string;
  /** Appends a line. Resolves when the line is durable. A reservation that would exceed a limit need not be written. */
  add(line: SpendingLine): Promise<Verdict>;
  /** Returns whether a reservation must still wait for the price probe of another purchase. */
  mustWait(hold: HoldName, probe: HoldName): boolean;
  /** Returns whether the process or run that started a price probe has ended without reporting the price. */
  hasEnded(finder: Finder): Promise<boolean>;
}

/** Finds a purchase of this run by its key. Returns its job, or `awaited` while the run has only reserved the key. */
type FindOwn = (key: string) => 'awaited' | Pick<LockLine, 'credits'> | undefined;

interface Held {
  line: HoldLine;
  isSent: boolean;
}

/**
 * Records the spending of a run in storage that all runs share. Adds a line before each create request, and another
 * line when the charge is reported. Credits of a create request without an answer stay reserved.
 */
export class SpendingLedger {
  readonly #home: SpendingHome;
  readonly #of: { campaign: string; path: string; by: Finder; clock: SpendingClock };
  readonly #held = new Map<string, Held>();
  readonly #charged = new Set<string>();
  /** Another purchase's price probe. The purchases of this run wait until this probe ends. */
  #probe: UnknownHold | undefined;

  /** `path`: path that identifies the campaign in messages. `by`: process or run that starts price probes. */
  constructor(home: SpendingHome, of: { campaign: string; path: string; by: Finder; clock: SpendingClock }) {
    this.#home = home;
    this.#of = of;
  }

  async hold({ key, credits, likely, isSent }: Hold, find?: FindOwn): Promise<HoldAnswer> {
    if (this.#held.has(key)) return 'held';
    const { campaign } = this.#of;
    // A run that waits writes no lines: a line for each check would make the storage grow.
    if (!isSent && this.#probe !== undefined && this.#home.mustWait({ campaign, hold: key }, this.#probe)) {
      return this.#await(this.#probe, find);
    }
    const { day, month } = this.#home.limits;
    const line: HoldLine = {
      at: this.#now(),
      hold: key,
      campaign,
      line: randomId(),
      credits: credits ?? likely,
      ...(credits === null && { unknown: { by: this.#of.by, path: this.#of.path } }),
      ...(isSent && { isSent }),
      ...((day ?? month) !== undefined && { limits: defined({ day, month }) }),
    };
    const verdict: Verdict = await this.#home.add(line);
    switch (verdict.is) {
      case 'held':
        this.#held.set(key, { line, isSent });
        return 'held';
      case 'over':
        return {
          over: `the limit is ${verdict.most} credits a ${verdict.per} (${this.#home.named}), and ${verdict.left} are left`,
        };
      case 'later':
        return this.#await(verdict.other, find);
      default:
        return verdict satisfies never;
    }
  }

  /** Records the result of a create request from a lock line. Also ends a reservation that an earlier run left open. */
  note(line: LockLine): void {
    const { key, jobId } = line;
    const held = this.#held.get(key);
    if (jobId !== undefined) {
      if (held === undefined && this.#charged.has(key)) return;
      this.#held.delete(key);
      this.#charged.add(key);
      const counted = held === undefined ? (line.credits ?? 0) : leastOf(held.line);
      this.#end(key, counted, { credits: line.credits });
    } else if (isUnsent(line)) {
      this.#held.delete(key);
      if (!this.#charged.has(key)) this.#end(key, held === undefined ? 0 : leastOf(held.line), unsent);
    } else if (held !== undefined) {
      held.isSent = true;
    }
  }

  /**
   * Ends the reservation of a create request that was not sent. If the request was sent at an unknown price, marks its
   * price probe as lost.
   */
  release(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (!held.isSent) {
      this.#held.delete(key);
      this.#settle(held.line, unsent);
    } else if (held.line.unknown !== undefined) this.#settle(held.line, { isLost: true });
  }

  /**
   * Waits for another purchase's price probe. If the lock has the probe's job, records its charge. If the run that owns
   * the probe has ended and this run does not recover its answer, marks it as lost.
   */
  async #await(other: UnknownHold, find?: FindOwn): Promise<HoldAnswer> {
    const { campaign, hold, unknown, isLost } = other;
    const own = campaign === this.#of.campaign ? find?.(hold) : undefined;
    if (own === undefined && isLost) {
      const text = 'the charge of an earlier create request is unknown, because its run was killed or got no answer';
      return { over: `${text}: run apply for ${unknown.path} to find the charge` };
    }
    const isOver = own === undefined ? await this.#home.hasEnded(unknown.by) : own !== 'awaited';
    this.#probe = isOver ? undefined : other;
    if (!isOver) await this.#of.clock.sleep(waitMs);
    else this.#settle(other, typeof own === 'object' ? { credits: own.credits } : { isLost: true });
    return 'later';
  }

  #settle(line: HoldLine, became: HoldEnd): void {
    this.#end(line.hold, leastOf(line), became, line.campaign);
  }

  #end(charged: string, held: number, became: HoldEnd, campaign = this.#of.campaign): void {
    // Until the charge is written, the credits count as reserved.
    this.#home.add({ at: this.#now(), charged, campaign, held, ...became }).catch(() => undefined);
  }

  #now(): string {
    return new Date(this.#of.clock.now()).toISOString();
  }
}

type HoldEnd = Pick<ChargeLine, 'credits' | 'isLost' | 'isUnsent'>;

const unsent = { credits: 0, isUnsent: true } as const;

export type Finder = ProcessIdentity | string;

export type SpendingLine = HoldLine | ChargeLine;

/** Identifies a reservation by key and campaign, because two campaigns may have equal idempotency keys. */
export interface HoldName {
  hold: string;
  campaign: string;
}

interface HoldLine extends HoldName {
  at: string;
  line: string;
  /** Reserved credits. For an unknown price: the estimate, or 0. */
  credits: number;
  /** Set if the price is unknown. `by`: process or run that probes it. `path`: path of the lock, or campaign name. */
  unknown?: { by: Finder; path: string };
  /** Set if the create request was sent before this reservation. */
  isSent?: true;
  limits?: Pick<SpendingLimits, 'day' | 'month'>;
}

/** End of a reservation. `isLost`: the price probe ended without a price. */
interface ChargeLine {
  at: string;
  charged: string;
  campaign: string;
  /** Charge of the job. Omitted if the service reported none; the reserved credits then stay counted. */
  credits?: number | undefined;
  /** Credits that the reservation had. An earlier month may have counted these credits. */
  held?: number;
  isUnsent?: true;
  isLost?: true;
}

export type Verdict =
  | { is: 'held' }
  /** Another purchase probes the price: the caller tries again. `isLost`: only a run of its campaign can find it. */
  | { is: 'later'; other: UnknownHold }
  | { is: 'over'; per: 'day' | 'month'; most: number; left: number };

type UnknownHold = HoldLine & Required<Pick<HoldLine, 'unknown'>> & Pick<Entry, 'isLost'>;

interface Entry {
  line: HoldLine;
  day: string;
  counts: number;
  isOpen: boolean;
  isLost?: true;
}

/**
 * Sums of a month, computed from the lines in order, so that all processes get the same result for each reservation. A
 * reservation that exceeds a limit is not counted.
 */
export class SpendingSums {
  #at = '';
  #month = 0;
  #today = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #unknown = new Set<Entry>();

  add(value: Json | undefined): { line: string; verdict: Verdict } | undefined {
    const line = readLine(value);
    if (line === undefined) return undefined;
    this.#passTo(line.at);
    if ('charged' in line) {
      this.#charge(line);
      return undefined;
    }
    return { line: line.line, verdict: this.#hold(line) };
  }

  /** Returns the credits spent and reserved on the day and in the month of `at` (ISO 8601). */
  spentAt(at: string): { day: number; month: number } {
    return { day: dayOf(at) > dayOf(this.#at) ? 0 : this.#today, month: this.#month };
  }

  mustWait(hold: HoldName, probe: HoldName): boolean {
    const other = this.#entries.get(nameOf(probe));
    const isProbing = other !== undefined && this.#unknown.has(other) && other.isLost !== true;
    return isProbing && this.#entries.get(nameOf(hold))?.isOpen !== true;
  }

  openOf(campaign: string): HoldLine[] {
    const entries = [...this.#entries.values()];
    return entries.flatMap(({ line, isOpen }) => (isOpen && line.campaign === campaign ? [line] : []));
  }

  #passTo(at: string): void {
    if (at <= this.#at) return;
    if (dayOf(at) !== dayOf(this.#at)) this.#today = 0;
    this.#at = at;
  }

  #hold(line: HoldLine): Verdict {
    const name = nameOf(line);
    const known = this.#entries.get(name);
    // This key already has an open reservation, so nothing is added.
    if (known?.isOpen === true) return { is: 'held' };
    if (known !== undefined && line.isSent === true) {
      known.isOpen = true;
      this.#count(known, Math.max(known.counts, line.credits));
      return { is: 'held' };
    }
    const verdict: Verdict = line.isSent === true ? { is: 'held' } : this.#judge(line);
    if (verdict.is !== 'held') return verdict;
    const entry = { line, day: dayOf(this.#at), counts: 0, isOpen: true };
    this.#entries.set(name, entry);
    if (line.unknown !== undefined) this.#unknown.add(entry);
    this.#count(entry, leastOf(line));
    return verdict;
  }

  #leftOf({ limits: { day, month } = {} }: HoldLine) {
    const all = [
      { per: 'day' as const, most: day, spent: this.#today },
      { per: 'month' as const, most: month, spent: this.#month },
    ];
    return all.flatMap(({ per, most, spent }) =>
      most === undefined ? [] : [{ per, most, left: Math.max(0, most - spent) }],
    );
  }

  #judge(line: HoldLine): Verdict {
    const left = this.#leftOf(line);
    if (left.length === 0) return { is: 'held' };
    const { line: other, isLost } = this.#findUnknown() ?? {};
    if (other?.unknown !== undefined) {
      const { unknown } = other;
      return { is: 'later', other: { ...other, unknown, ...(isLost && { isLost }) } };
    }
    const short = left.find((one) => leastOf(line) > one.left); // I44
    return short === undefined ? { is: 'held' } : { is: 'over', ...short };
  }

  /**
   * Returns a reservation of unknown price, which blocks new reservations. Prefers one whose price probe is lost,
   * because no run will report its price soon.
   */
  #findUnknown(): Entry | undefined {
    return [...this.#unknown].find(({ isLost }) => isLost === true) ?? [...this.#unknown][0];
  }

  /** Records a charge. The last charge of a key counts, because a resumed run finds the charge of a killed run. */
  #charge({ charged, campaign, credits, held = 0, isLost }: ChargeLine): void {
    const entry = this.#entries.get(nameOf({ campaign, hold: charged }));
    if (entry === undefined) {
      const above = Math.max(0, (credits ?? held) - held);
      this.#month += above;
      this.#today += above;
      return;
    }
    if (isLost === true) {
      entry.isLost = true;
      return;
    }
    if (!entry.isOpen && credits === undefined) return;
    entry.isOpen = false;
    this.#unknown.delete(entry);
    this.#count(entry, credits ?? this.#unreported(entry));
  }

  /**
   * Returns the credits to count for a job whose charge was not reported: the reserved credits or, without an estimate,
   * all credits that the limits leave.
   */
  #unreported({ line, counts }: Entry): number {
    if (line.unknown === undefined || line.credits > 0) return counts;
    const left = this.#leftOf(line).map((one) => one.left);
    return left.length === 0 ? counts : counts + Math.min(...left); // I44 (unreported)
  }

  #count(entry: Entry, credits: number): void {
    const more = credits - entry.counts;
    entry.counts = credits;
    this.#month += more;
    if (entry.day === dayOf(this.#at)) this.#today += more;
  }
}

function nameOf({ campaign, hold }: HoldName): string {
  return `${campaign} ${hold}`;
}

/** Returns the credits that count for an open reservation. A create request of unknown price counts at least 1. */
function leastOf({ credits, unknown }: HoldLine): number {
  return unknown === undefined ? credits : Math.max(1, credits);
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}

function readLine(value: Json | undefined): SpendingLine | undefined {
  if (!isMap(value) || Number.isNaN(Date.parse(String(value.at)))) return undefined;
  const { campaign, hold, charged, line, held = 0 } = value;
  const isCharge = typeof charged === 'string';
  const { credits = isCharge ? 0 : undefined } = value;
  if (!isCharge && (typeof hold !== 'string' || typeof line !== 'string')) return undefined;
  if (typeof campaign !== 'string' || typeof credits !== 'number' || credits < 0) return undefined;
  if (typeof held !== 'number') return undefined;
  return value as unknown as SpendingLine;
}

/** Returns whether a line reports that a create request was refused, was not sent, or made no job. */
export function isUnsent(line: LockLine): boolean {
  if (line.jobId !== undefined) return false;
  return line.state === 'refused' || ('send' in line && line.closes?.includes(line.send ?? '') === true);
}
