import { defined, groupBy } from '../../ground/values.ts';
import { laterVerdict, nameOfVerdict } from '../../lock/decisions.ts';
import type { Lock, StepRecord, Verdict } from '../../lock/record.ts';
import type { Plan } from '../plan.ts';
import type { DecidedGate, DecidedGraph, DecidedStep, Match, Seen } from './find-purchases.ts';

export type VerdictContent = { is: 'picked' | 'rejected' } & Pick<Verdict, 'note' | 'reason' | 'by'>;

type Bought = Pick<Match, 'step' | 'purchase'>;

/**
 * Review decisions about outputs of steps. The lock stores a decision at the step's address. After a rename, it applies
 * to the step that now has the purchase. Steps that share a job have separate decisions.
 */
export class Verdicts {
  readonly #byName: Map<string, { at: string; verdict: Verdict }[]>;
  readonly #matches: readonly Match[];
  readonly #redo: ReadonlySet<string>;
  #holders: ReadonlyMap<string, string> | undefined;

  constructor(lock: Lock, matches: readonly Match[], redo: ReadonlySet<string>) {
    this.#matches = matches;
    this.#redo = redo;
    this.#byName = groupBy([...lock.steps.values()].flatMap(verdictsOf), ({ verdict }) => nameOfVerdict(verdict));
  }

  add(record: StepRecord): void {
    for (const one of verdictsOf(record)) {
      const name = nameOfVerdict(one.verdict);
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, [one]);
      else known.push(one);
    }
  }

  newest(bought: Bought): Verdict | undefined {
    const name = nameOf(bought);
    const given = name === undefined ? undefined : this.#byName.get(name);
    if (given === undefined) return undefined;
    const { address } = bought.step;
    this.#holders ??= findHolders(this.#matches);
    const holders = this.#holders;
    const own = given.filter(({ at }) => (holders.get(`${at} ${name}`) ?? address) === address);
    const [first, ...others] = own.map(({ verdict }) => verdict);
    return first && others.reduce(laterVerdict, first);
  }

  seen(match: Match): Seen {
    if (match.purchase?.state !== 'done' || isRedone(match.step, this.#redo)) return 'none';
    return this.on(match)?.is ?? 'undecided';
  }

  on(bought: Bought): VerdictContent | undefined {
    const { is, note, reason, by } = this.newest(bought) ?? {};
    return is && { is, ...defined({ note, reason, by }) };
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

export function isRedone({ address, decided }: DecidedStep, redo: ReadonlySet<string>): boolean {
  return redo.has(address) && decided?.pinned === undefined;
}

function nameOf({ purchase }: Bought): string | undefined {
  const { fingerprint, jobId: job } = purchase ?? {};
  return fingerprint === undefined || job === undefined ? undefined : nameOfVerdict({ fingerprint, job });
}

export function gatesToDecide(
  { gates = [] }: Pick<Plan, 'gates'>,
  { graph, byAddress, verdicts }: { graph: DecidedGraph; byAddress: ReadonlyMap<string, Match>; verdicts: Verdicts },
): DecidedGate[] {
  const open = new Set(gates.map(({ name }) => name));
  const canBePicked = (address: string) => {
    const match = byAddress.get(address);
    const is = match === undefined ? 'none' : verdicts.seen(match);
    return is === 'picked' || is === 'undecided';
  };
  return graph.gates.filter(({ name, state, choose, members }) => {
    if (!open.has(name)) return false;
    return state.is === 'contested' || (state.is === 'open' && members.filter(canBePicked).length >= choose);
  });
}

export interface DecidedCampaign {
  graph: DecidedGraph;
  matches: readonly Match[];
  verdicts: Verdicts;
}
