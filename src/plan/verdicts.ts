import { groupBy } from '../ground/values.ts';
import { laterVerdict, nameOfVerdict } from '../lock/decisions.ts';
import type { Lock, StepRecord, Verdict } from '../lock/record.ts';
import type { DecidedStep } from './decided-graph.ts';
import type { Match } from './find-purchases.ts';
import type { Seen } from './gates.ts';

type Bought = Pick<Match, 'step' | 'purchase'>;

/**
 * Opinions of people about the outputs that steps have. A verdict stays at the address where it was given, while its
 * purchase may go to another one: renamed, exchanged with another, and back. So it counts for the step that has the
 * purchase now. Where several steps have one job, each has verdicts of its own.
 */
export class Verdicts {
  readonly #given: Map<string, { at: string; verdict: Verdict }[]>;
  readonly #matches: readonly Match[];
  readonly #redo: ReadonlySet<string>;
  /** The step that has a purchase on record at an address. */
  #holders: ReadonlyMap<string, string> | undefined;

  /** `redo`: steps that are bought anew, about which nothing is decided then. */
  constructor(lock: Lock, matches: readonly Match[], redo: ReadonlySet<string>) {
    this.#matches = matches;
    this.#redo = redo;
    this.#given = groupBy([...lock.steps.values()].flatMap(verdictsOf), ({ verdict }) => nameOfVerdict(verdict));
  }

  /** Takes in what was decided since. */
  add(record: StepRecord): void {
    for (const one of verdictsOf(record)) {
      const name = nameOfVerdict(one.verdict);
      const known = this.#given.get(name);
      if (known === undefined) this.#given.set(name, [one]);
      else known.push(one);
    }
  }

  /** The newest verdict about the purchase of a step. Without `is` it was taken back. */
  newest(bought: Bought): Verdict | undefined {
    const name = nameOf(bought);
    if (name === undefined) return undefined;
    const given = this.#given.get(name);
    if (given === undefined) return undefined;
    const { address } = bought.step;
    this.#holders ??= findHolders(this.#matches);
    const holders = this.#holders;
    const own = given.filter(({ at }) => {
      const holder = holders.get(`${at} ${name}`);
      return holder === undefined || holder === address;
    });
    const [first, ...others] = own.map(({ verdict }) => verdict);
    return first === undefined ? undefined : others.reduce(laterVerdict, first);
  }

  /** Returns what a gate knows of a step. */
  seen(match: Match): Seen {
    if (match.purchase?.state !== 'done' || isRedone(match.step, this.#redo)) return 'none';
    return this.on(match)?.is ?? 'undecided';
  }

  /** Returns what people say now of the output of a step. */
  on(bought: Bought): { is: 'picked' | 'rejected'; note?: string } | undefined {
    const { is, note } = this.newest(bought) ?? {};
    return is === undefined ? undefined : { is, ...(note !== undefined && { note }) };
  }
}

function verdictsOf({ address: at, decisions }: StepRecord): { at: string; verdict: Verdict }[] {
  return (decisions?.verdicts ?? []).map((verdict) => ({ at, verdict }));
}

function findHolders(matches: readonly Match[]): Map<string, string> {
  const holders = new Map<string, string>();
  for (const match of matches) {
    const name = nameOf(match);
    if (name === undefined) continue;
    const { step, movedFrom = step.address } = match;
    for (const at of [step.address, movedFrom]) holders.set(`${at} ${name}`, step.address);
  }
  return holders;
}

/** Tells whether what a step has is given up: what is pinned never is. */
export function isRedone({ address, decided }: DecidedStep, redo: ReadonlySet<string>): boolean {
  return redo.has(address) && decided?.pinned === undefined;
}

/** Names the purchase of a step as verdicts do. */
function nameOf({ purchase }: Bought): string | undefined {
  const { fingerprint, jobId: job } = purchase ?? {};
  return fingerprint === undefined || job === undefined ? undefined : nameOfVerdict({ fingerprint, job });
}
