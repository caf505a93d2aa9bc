import { defined, groupBy } from '../../ground/values.ts';
import { laterVerdict, nameOfVerdict } from '../../lock/decisions.ts';
import type { Lock, StepRecord, Verdict } from '../../lock/record.ts';
import type { Plan } from '../plan.ts';
import {
  type DecidedGate,
  type DecidedGraph,
  type DecidedStep,
  type Match,
  purchaseOf,
  type Seen,
} from './find-purchases.ts';

export type Said = { is: 'picked' | 'rejected' } & Pick<Verdict, 'note' | 'reason' | 'by'>;

type Bought = Pick<Match, 'step' | 'purchase'>;

/**
 * Users' verdicts about the outputs of steps. A verdict stays at the address where it was given, but its purchase may
 * move to another address, because steps are renamed or exchanged. The verdict counts for the step that has the
 * purchase now. Steps that share a job have separate verdicts.
 */
export class Verdicts {
  readonly #given: Map<string, { at: string; verdict: Verdict }[]>;
  readonly #matches: readonly Match[];
  readonly #redo: ReadonlySet<string>;
  /** The address of the step that has a purchase now, by the address of its record and the name of the purchase. */
  #holders: ReadonlyMap<string, string> | undefined;

  /** `redo`: steps to be bought again. Earlier verdicts about them do not count. */
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

  /** Returns the newest verdict about the purchase of a step. A verdict without `is` was withdrawn. */
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

  seen(match: Match): Seen {
    if (match.purchase?.state !== 'done' || isRedone(match.step, this.#redo)) return 'none';
    return this.on(match)?.is ?? 'undecided';
  }

  on(bought: Bought): Said | undefined {
    const { is, note, reason, by } = this.newest(bought) ?? {};
    if (is === undefined) return undefined;
    return {
      is,
      ...defined({ note, reason, by }),
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

/** Returns whether a step is bought again, so that its output is discarded. Pinned steps never are. */
export function isRedone({ address, decided }: DecidedStep, redo: ReadonlySet<string>): boolean {
  return redo.has(address) && decided?.pinned === undefined;
}

function nameOf({ purchase }: Bought): string | undefined {
  const { fingerprint, jobId: job } = purchase ?? {};
  return fingerprint === undefined || job === undefined ? undefined : nameOfVerdict({ fingerprint, job });
}

/** Lists the open gates that can be decided now: with enough outputs to review, and not too many rejected. */
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

export interface DecidedCampaign {
  graph: DecidedGraph;
  matches: readonly Match[];
  verdicts: Verdicts;
}
