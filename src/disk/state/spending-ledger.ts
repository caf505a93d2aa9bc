import type { Clock } from '../../contract/clock.ts';
import type { Hold, HoldAnswer, SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import { defined, isMap } from '../../ground/values.ts';
import type { LockLine } from '../../lock/record.ts';
import { randomId } from '../fs/replace.ts';
import type { ProcessIdentity } from '../lock/process-identity.ts';

export type SpendingClock = Pick<Clock, 'now' | 'sleep'>;

/** Interval in ms between checks of another price probe. */
const waitMs = 200;

/** Storage of spending lines, in one order for all runs. */
export interface SpendingHome {
  readonly limits: SpendingLimits;
  readonly named: string;
  /** Resolves with the verdict when the line is durable. A hold over a limit need not be written. */
  add(line: SpendingLine): Promise<Verdict>;
  /** Whether the owner of a price probe ended without reporting its price. */
  isGone(finder: Finder): Promise<boolean>;
}

interface Held {
  line: HoldLine;
  isSent: boolean;
}

/**
 * Records the spending of a run in storage that all runs share: a line before each create request, and a line when its
 * charge is known. Without an answer, the credits stay held.
 */
export class SpendingLedger {
  readonly #home: SpendingHome;
  readonly #of: { campaign: string; path: string; by: Finder; clock: SpendingClock };
  readonly #held = new Map<string, Held>();
  /** Idempotency keys of jobs whose holds this run has ended. */
  readonly #charged = new Set<string>();

  /** `path`: names the campaign for users. `by`: owner of price probes. */
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
          over: `${verdict.most} credits a ${verdict.per} are the limit (${this.#home.named}), and ${verdict.left} are left`,
        };
      case 'lost':
        return {
          over: `the charge of a create request of unknown price is not known, because its run was killed or got no answer: a run for ${verdict.path} finds it out`,
        };
      case 'later':
        await this.#await(verdict.other);
        return 'later';
      default:
        return verdict satisfies never;
    }
  }

  /** Reads the result of a create request from a line of the lock. A run that was killed may have left its hold open. */
  note(line: LockLine): void {
    const { key, jobId } = line;
    const held = this.#held.get(key);
    if (jobId !== undefined) {
      if (held === undefined && this.#charged.has(key)) return;
      this.#held.delete(key);
      this.#charged.add(key);
      const counted = held === undefined ? (line.credits ?? 0) : leastOf(held.line);
      this.#end(key, counted, { credits: line.credits });
    } else if (held !== undefined && isUnsent(line)) {
      this.#held.delete(key);
      this.#settle(held.line, unsent);
    } else if (held !== undefined) {
      held.isSent = true;
    }
  }

  /** Ends a hold whose create request was not sent, or whose result is not recorded here. */
  release(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (!held.isSent) {
      this.#held.delete(key);
      this.#settle(held.line, unsent);
    } else if (held.line.unknown !== undefined) {
      this.#settle(held.line, { isLost: true });
    }
  }

  /** Waits for another price probe. Ends its hold if its process is gone. */
  async #await(other: UnknownHold): Promise<void> {
    if (await this.#home.isGone(other.unknown.by)) this.#settle(other, { isLost: true });
    else await this.#of.clock.sleep(waitMs);
  }

  #settle(line: HoldLine, became: HoldEnd): void {
    this.#end(line.hold, leastOf(line), became, line.campaign);
  }

  #end(charged: string, held: number, became: HoldEnd, campaign = this.#of.campaign): void {
    // Until this line is written, the credits count as held.
    this.#home.add({ at: this.#now(), charged, campaign, held, ...became }).catch(() => undefined);
  }

  #now(): string {
    return new Date(this.#of.clock.now()).toISOString();
  }
}

type HoldEnd = Pick<ChargeLine, 'credits' | 'isLost' | 'isUnsent'>;

const unsent = { credits: 0, isUnsent: true } as const;

/** Owner of a price probe: a process of this machine, or a run on an engine. */
export type Finder = ProcessIdentity | string;

export type SpendingLine = HoldLine | ChargeLine;

interface HoldLine {
  at: string;
  hold: string;
  /** Distinguishes equal idempotency keys of different campaigns. */
  campaign: string;
  line: string;
  /** Reserved credits. For an unknown price: its estimate, or 0. */
  credits: number;
  /** Set for an unknown price: owner of the probe, and the lock or campaign. */
  unknown?: { by: Finder; path: string };
  /** Set if the create request was sent before. */
  isSent?: true;
  limits?: Pick<SpendingLimits, 'day' | 'month'>;
}

/** `isLost`: the price probe ended without a result. */
interface ChargeLine {
  at: string;
  charged: string;
  campaign: string;
  /** Omitted if no charge was reported: what the hold counts stays counted. */
  credits?: number | undefined;
  /** Credits of its hold, which an earlier month may have counted. */
  held?: number;
  isUnsent?: true;
  isLost?: true;
}

/** Result of a hold, given all lines before it. */
export type Verdict =
  | { is: 'held' }
  /** Another purchase probes its price. */
  | { is: 'later'; other: UnknownHold }
  /** Another purchase has an unknown charge, which only a run of its campaign can determine. */
  | { is: 'lost'; path: string }
  | { is: 'over'; per: 'day' | 'month'; most: number; left: number };

type UnknownHold = HoldLine & Required<Pick<HoldLine, 'unknown'>>;

interface Entry {
  line: HoldLine;
  day: string;
  counts: number;
  isOpen: boolean;
  isLost?: true;
}

/**
 * Sums of a month, computed from its lines in order, so that all processes evaluate each hold alike. A hold over the
 * limit is not counted.
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

  /** Credits spent and held on the day and in the month of `at` (ISO 8601). */
  spentAt(at: string): { day: number; month: number } {
    return { day: dayOf(at) > dayOf(this.#at) ? 0 : this.#today, month: this.#month };
  }

  /** Holds of a campaign whose outcome is not recorded. */
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
    const name = `${line.campaign} ${line.hold}`;
    const known = this.#entries.get(name);
    // A create request under this key was about to leave, or has left: nothing is added.
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
      return isLost === true ? { is: 'lost', path: unknown.path } : { is: 'later', other: { ...other, unknown } };
    }
    const short = left.find((one) => leastOf(line) > one.left); // I44
    if (short !== undefined) return { is: 'over', ...short };
    return { is: 'held' };
  }

  /** Prefers a purchase whose probe was lost: no run will report its price soon. */
  #findUnknown(): Entry | undefined {
    return [...this.#unknown].find(({ isLost }) => isLost === true) ?? [...this.#unknown][0];
  }

  /** The last charge counts: a resumed run learns the charge of a killed run. */
  #charge({ charged, campaign, credits, held = 0, isLost }: ChargeLine): void {
    const entry = this.#entries.get(`${campaign} ${charged}`);
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

  /** Returns what a job without a reported charge counts: its hold, or all that is left if there is no estimate. */
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

/** Credits that a hold counts at first. A create of unknown price costs at least 1. */
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

/** Whether a line ends a create request that was refused, not sent, or made no job. */
export function isUnsent(line: LockLine): boolean {
  if (line.jobId !== undefined) return false;
  return line.state === 'refused' || ('send' in line && line.closes?.includes(line.send ?? '') === true);
}
