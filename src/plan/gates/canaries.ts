import type { Canary } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import { isSpending, isWork } from '../actions.ts';
import type { PlanRow } from '../plan.ts';
import { buyOnce, type Draft, whyCanaryHolds } from '../rows/draft.ts';
import type { DecidedGate, DecidedGraph, Match } from '../situation/find-purchases.ts';
import { findConditions, findMissingPart, partCounter } from '../situation/parts.ts';
import type { DecidedCampaign } from '../situation/verdicts.ts';
import { stateOfGate } from './gates.ts';

interface PlacedCanary {
  canary: Canary;
  seats: readonly string[];
  others: readonly string[];
  isProven: boolean;
}

export interface Limits {
  /** Addresses of steps to buy again. Earlier review decisions about these steps are ignored. */
  redo: ReadonlySet<string>;
  selected?: ReadonlySet<string> | undefined;
  /** Addresses of steps that are in progress in a run. If one of them is a canary, it remains a canary. */
  underWay?: ReadonlySet<string> | undefined;
}

type CanaryFacts = Limits & Pick<DecidedCampaign, 'graph' | 'matches'>;

/**
 * Chooses the canaries of `then: check`, in this order: steps whose output exists and meets `expect`; steps with a
 * purchase of this request; steps without a purchase, selected steps first; steps that wait for a decision. A failed
 * canary therefore stays the canary until its request changes or it is redone. Skips pinned and accepted steps with
 * another request, steps that share a job, and unneeded steps.
 */
function placeCanaries(facts: CanaryFacts & { isFit(match: Match): boolean }): PlacedCanary[] {
  const canaries = (facts.graph.canaries ?? []).filter(({ asks }) => !asks);
  return canaries.length === 0 ? [] : new CanaryPlacement(facts, facts.isFit).place(canaries);
}

/** Adds gates for the canaries of `then: ask`. Similar steps wait until the user picks the canary. */
export function withCanaryGates(decision: DecidedCampaign, limits: Limits): Pick<DecidedCampaign, 'graph' | 'matches'> {
  const { graph, matches, verdicts } = decision;
  const canaries = (graph.canaries ?? []).filter(({ asks }) => asks);
  if (canaries.length === 0) return decision;
  const seating = new CanaryPlacement({ ...decision, ...limits }, (match) => verdicts.seen(match) === 'picked');
  const seated = seating.place(canaries);
  const gates = seated.flatMap(({ canary: { name, task }, seats }): DecidedGate[] => {
    if (seats.length === 0) return [];
    const gate = { name, task, is: 'canary' as const, choose: seats.length, members: [...seats] };
    const seenOf = (address: string) => {
      const match = seating.matchOf(address);
      return match === undefined ? 'none' : verdicts.seen(match);
    };
    return [{ ...gate, state: stateOfGate(gate, seenOf) }];
  });
  const waiting = waitForPicks(matches, seated);
  return {
    graph: { ...graph, steps: waiting.map(({ step }) => step), gates: [...graph.gates, ...gates] },
    matches: waiting,
  };
}

function askedCanaries({ canaries = [], gates }: DecidedGraph): PlacedCanary[] {
  const byName = new Map(gates.filter(({ is }) => is === 'canary').map((gate) => [gate.name, gate]));
  return canaries.flatMap((canary): PlacedCanary[] => {
    const gate = canary.asks ? byName.get(canary.name) : undefined;
    if (gate === undefined) return [];
    const seats = new Set(gate.members);
    const others = canary.members.filter((address) => !seats.has(address));
    return [{ canary, seats: gate.members, others, isProven: gate.state.is === 'decided' }];
  });
}

function waitForPicks(matches: readonly Match[], seated: readonly PlacedCanary[]): readonly Match[] {
  const open = seated.filter(({ isProven }) => !isProven);
  if (open.length === 0) return matches;
  const ofSeat = new Map(open.flatMap(({ canary, seats }) => seats.map((address) => [address, canary.name] as const)));
  const ofOther = new Map(open.flatMap(({ canary, others }) => others.map((one) => [one, canary.name] as const)));
  return matches.map((match) => {
    const { step, sharesJobOf } = match;
    const own = sharesJobOf === undefined ? ofOther.get(step.address) : undefined;
    const names = [...(own === undefined ? [] : [own]), ...step.needs.flatMap((address) => ofSeat.get(address) ?? [])];
    if (names.length === 0) return match;
    return { ...match, step: { ...step, waits: [...new Set([...(step.waits ?? []), ...names])] } };
  });
}

const ranks = { proven: 0, begun: 1, free: 2, unselected: 3, closed: 4 } as const;

class CanaryPlacement {
  readonly #facts: CanaryFacts;
  readonly #provesIt: (match: Match) => boolean;
  readonly #byAddress: ReadonlyMap<string, Match>;
  readonly #isUnneeded: (address: string) => boolean;
  readonly #closed = new Set<string>();

  constructor(facts: CanaryFacts, provesIt: (match: Match) => boolean) {
    this.#facts = facts;
    this.#provesIt = provesIt;
    this.#byAddress = new Map(facts.matches.map((match) => [match.step.address, match]));
    const conditions = findConditions(facts.graph);
    const count = partCounter(facts.matches);
    this.#isUnneeded = (address) =>
      this.matchOf(address)?.step.rejected !== undefined ||
      findMissingPart(conditions.get(address), count) !== undefined;
  }

  matchOf(address: string): Match | undefined {
    return this.#byAddress.get(address);
  }

  place(canaries: readonly Canary[]): PlacedCanary[] {
    const byTask = groupBy(canaries, ({ task }) => task);
    const seated: PlacedCanary[] = [];
    // Tasks are in topological order.
    for (const [task, own] of groupBy(this.#facts.matches, ({ step }) => step.task)) {
      for (const { step } of own) {
        if (step.waits !== undefined || step.needs.some((address) => this.#closed.has(address)))
          this.#close(step.address);
      }
      for (const canary of byTask.get(task) ?? []) {
        const one = this.#placeOne(canary);
        seated.push(one);
        if (!canary.asks || one.isProven) continue;
        for (const address of one.others) this.#close(address);
        for (const address of one.seats) this.#closed.add(address);
      }
    }
    return seated;
  }

  #close(address: string): void {
    if (this.#byAddress.get(address)?.purchase === undefined) this.#closed.add(address);
  }

  #placeOne(canary: Canary): PlacedCanary {
    const ranked = canary.members.flatMap((address) => {
      const match = this.#byAddress.get(address);
      return match === undefined || !this.#isCandidate(match) ? [] : [{ address, rank: this.#rank(match) }];
    });
    const best = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, canary.first);
    const taken = new Set(best.map(({ address }) => address));
    return {
      canary,
      seats: canary.members.filter((address) => taken.has(address)),
      others: canary.members.filter((address) => !taken.has(address)),
      isProven: best.every(({ rank }) => rank === ranks.proven),
    };
  }

  #isCandidate({ step, sharesJobOf }: Match): boolean {
    return sharesJobOf === undefined && step.decided?.wanted === undefined && !this.#isUnneeded(step.address);
  }

  #rank(match: Match): number {
    const { address } = match.step;
    if (this.#provesIt(match)) return ranks.proven;
    if (match.purchase !== undefined) return ranks.begun; // I28
    if (this.#closed.has(address)) return ranks.closed;
    if (this.#facts.underWay?.has(address) === true) return ranks.begun;
    return this.#facts.selected?.has(address) === false ? ranks.unselected : ranks.free;
  }
}

/**
 * Blocks or delays each step whose canary is not proven. A canary is proven once its current output is on this disk. If
 * the run will not finish the canary, the step is blocked and no credits are reserved for it. The run still collects
 * jobs and settles create requests of blocked steps.
 */
export function holdForCanaries(draft: Draft, situation: CanaryFacts & { graph: DecidedGraph }): void {
  const isFit = ({ step: { address }, purchase }: Match) =>
    purchase?.state === 'done' && draft.at(address)?.action === 'keep';
  const seated = [...askedCanaries(situation.graph), ...placeCanaries({ ...situation, isFit })];
  for (const { canary, seats, others } of seated.filter(({ isProven }) => !isProven)) {
    const held = others.filter((one) => draft.isInRun(one)).flatMap((address) => draft.at(address) ?? []);
    for (const row of held) if (isSent(row)) buyOnce(row);
    const pending = seats.flatMap((address) => draft.at(address) ?? []).filter(({ action }) => action !== 'keep');
    if (canary.asks) {
      if (held.some(({ blockedBy }) => blockedBy === 'gate')) goFirst(pending);
      continue;
    }
    const buying = held.filter((row) => isSpending(row.action) && !isSent(row));
    const [bad] = pending.flatMap((row) => whyCanaryHolds(row, draft.isInRun(row.address)) ?? []);
    const canaries = pending.map(({ address }) => address);
    if (bad === undefined) {
      for (const row of buying) letWait(row, canaries);
      if (buying.length > 0) goFirst(pending);
      continue;
    }
    for (const row of buying) draft.block(row, bad.by, bad.reason); // I28 (failed)
  }
}

function goFirst(rows: readonly PlanRow[]): void {
  for (const row of rows) if (isWork(row)) row.canary = true;
}

function isSent({ action, order }: PlanRow): boolean {
  return action === 'attach' || order?.send !== undefined;
}

function letWait(row: PlanRow, canaries: string[]): void {
  if (row.order === undefined || canaries.length === 0) return;
  row.canaries = canaries;
  row.order.canaries = canaries;
}
