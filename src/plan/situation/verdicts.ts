import { groupBy } from '../../ground/values.ts';
import { laterVerdict, nameOfVerdict } from '../../lock/decisions.ts';
import type { Lock, StepRecord, Verdict } from '../../lock/record.ts';
import type { Seen } from '../gates/gates.ts';
import type { Plan } from '../plan.ts';
import type { DecidedGate, DecidedGraph, DecidedStep } from './decided-graph.ts';
import { type Match, purchaseOf } from './find-purchases.ts';

export type Said = { is: 'picked' | 'rejected' } & Pick<Verdict, 'note' | 'reason' | 'by'>;

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

  /** `redo`: steps that are redone; earlier decisions about them do not count. */
  constructor(lock: Lock, matches: readonly Match[], redo: ReadonlySet<string>) {
    this.#matches = matches;
    this.#redo = redo;
    this.#given = groupBy([...lock.steps.values()].flatMap(verdictsOf), ({ verdict }) => nameOfVerdict(verdict));
  }

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

  /** Returns the state of a step at its gate. */
  seen(match: Match): Seen {
    if (match.purchase?.state !== 'done' || isRedone(match.step, this.#redo)) return 'none';
    return this.on(match)?.is ?? 'undecided';
  }

  /** Returns the current review decision about the output of a step. */
  on(bought: Bought): Said | undefined {
    const { is, note, reason, by } = this.newest(bought) ?? {};
    if (is === undefined) return undefined;
    return {
      is,
      ...(note !== undefined && { note }),
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
    };
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

/** Returns whether the output of a step is discarded: a pinned one never is. */
export function isRedone({ address, decided }: DecidedStep, redo: ReadonlySet<string>): boolean {
  return redo.has(address) && decided?.pinned === undefined;
}

function nameOf({ purchase }: Bought): string | undefined {
  const { fingerprint, jobId: job } = purchase ?? {};
  return fingerprint === undefined || job === undefined ? undefined : nameOfVerdict({ fingerprint, job });
}

/**
 * Lists the open gates of a plan that people can decide by what is there to see now. Not among them: one of whose steps too
 * few have an output, and one where too many are rejected. `graph`: that of the plan.
 */
export function gatesToDecide(
  plan: Pick<Plan, 'gates'>,
  { graph, lock, redo }: { graph: DecidedGraph; lock: Lock; redo: ReadonlySet<string> },
): DecidedGate[] {
  const open = new Set((plan.gates ?? []).map(({ name }) => name));
  const gates = graph.gates.filter(({ name }) => open.has(name));
  if (gates.length === 0) return [];
  const members = new Set(gates.flatMap((gate) => gate.members));
  const unseen = new Set<string>();
  for (const step of graph.steps) {
    const { address, fingerprint } = step;
    if (!members.has(address)) continue;
    const record = lock.steps.get(address);
    const isThere = record !== undefined && purchaseOf(record, fingerprint)?.state === 'done';
    if (!isThere || isRedone(step, redo)) unseen.add(address);
  }
  return gates.filter(({ state, choose, members: own }) => {
    if (state.is === 'contested') return true;
    return state.is === 'open' && state.toSee - own.filter((address) => unseen.has(address)).length >= choose;
  });
}
