import type { Canary, Gate, Graph } from '../graph/graph.ts';
import { groupBy } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { stateOfGate, Verdicts } from './gates.ts';
import type { Match } from './match.ts';
import { findConditions, findMissingPart, partCounter } from './parts.ts';

/** The steps that go first for the others of their task and price, as lock and selection have it. */
export interface SeatedCanary {
  canary: Canary;
  /** Addresses of those that go first: as many as the manifest says, or fewer where there are not so many. */
  seats: string[];
  /** Addresses of the other steps. */
  others: string[];
  /** True when none of the others waits. */
  isProven: boolean;
  /** The question to people. Only with `ask`. */
  gate?: Gate;
}

export interface CanaryFacts {
  /** With the decisions of its lock. */
  graph: Graph;
  lock: Lock;
  matches: readonly Match[];
  /** Addresses to buy again, about which nothing is decided. */
  redo?: ReadonlySet<string>;
  /** Addresses that the run is limited to. Absent: all of them. */
  selected?: ReadonlySet<string> | undefined;
  /** Tells whether a step is done and fits. Absent: nobody wants to know of `check`, which is left out. */
  isFit?(match: Match): boolean;
}

/**
 * Seats the canaries of each price class. First come steps that have proven it already: bought as the manifest asks for
 * now, and fit, or picked. Then those that were bought or tried with this request, so that one that failed keeps its seat
 * until its request changes or it is bought again; then the first that are not bought, of those that the run is limited
 * to before others, and those that wait for people last. What is held to an earlier request, takes over another step's job
 * or turned out not to be needed proves nothing, and has no seat.
 */
export function seatCanaries(facts: CanaryFacts): SeatedCanary[] {
  const { canaries = [] } = facts.graph;
  const meant = facts.isFit === undefined ? canaries.filter(({ then }) => then === 'ask') : canaries;
  return meant.length === 0 ? [] : new Seating(facts).seat(meant);
}

/** The open and decided questions about canaries, as `applyDecisions` has those of other gates. */
export function canaryGates(facts: Omit<CanaryFacts, 'isFit'>): Gate[] {
  return seatCanaries(facts).flatMap(({ gate }) => gate ?? []);
}

class Seating {
  readonly #facts: CanaryFacts;
  readonly #byAddress: ReadonlyMap<string, Match>;
  readonly #verdicts: Verdicts;
  readonly #isUnneeded: (address: string) => boolean;
  /** Not bought, and not to be bought before people decide about something. */
  readonly #closed = new Set<string>();

  constructor(facts: CanaryFacts) {
    const { graph, lock, matches, redo = new Set() } = facts;
    this.#facts = facts;
    this.#byAddress = new Map(matches.map((match) => [match.step.address, match]));
    this.#verdicts = new Verdicts(graph, lock, redo);
    const conditions = findConditions(graph);
    const count = partCounter(matches);
    this.#isUnneeded = (address) => findMissingPart(conditions.get(address), count) !== undefined;
  }

  seat(canaries: readonly Canary[]): SeatedCanary[] {
    const byTask = groupBy(canaries, ({ task }) => task);
    const seated: SeatedCanary[] = [];
    // Tasks stand in topological order.
    for (const [task, own] of groupBy(this.#facts.matches, ({ step }) => step.task)) {
      for (const { step, purchase } of own) {
        const waits = step.waits !== undefined || step.needs.some((address) => this.#closed.has(address));
        if (waits && purchase === undefined) this.#closed.add(step.address);
      }
      for (const canary of byTask.get(task) ?? []) {
        const one = this.#seatOne(canary);
        seated.push(one);
        if (one.gate === undefined || one.isProven) continue;
        for (const address of one.seats) this.#closed.add(address);
        for (const address of one.others) {
          if (this.#byAddress.get(address)?.purchase === undefined) this.#closed.add(address);
        }
      }
    }
    return seated;
  }

  #seatOne(canary: Canary): SeatedCanary {
    const { name, task, then, first, members } = canary;
    const ranked = members.flatMap((address) => {
      const match = this.#byAddress.get(address);
      return match === undefined || !this.#isCandidate(match) ? [] : [{ address, rank: this.#rank(match, then) }];
    });
    const best = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, first);
    const taken = new Set(best.map(({ address }) => address));
    const seats = members.filter((address) => taken.has(address));
    const others = members.filter((address) => !taken.has(address));
    const isProven = best.every(({ rank }) => rank === ranks.proven);
    if (then === 'check' || seats.length === 0) return { canary, seats, others, isProven };
    const gate: Gate = { name, task, is: 'canary', choose: seats.length, members: seats };
    const state = stateOfGate(gate, (address) => this.#seenOf(address));
    return { canary, seats, others, isProven, gate: { ...gate, state } };
  }

  #isCandidate({ step, sharesJobOf }: Match): boolean {
    return sharesJobOf === undefined && step.decided?.wanted === undefined && !this.#isUnneeded(step.address);
  }

  #rank(match: Match, then: Canary['then']): number {
    const { address } = match.step;
    const { isFit, selected } = this.#facts;
    const isProven = then === 'ask' ? this.#seenOf(address) === 'picked' : isFit?.(match) === true;
    if (isProven) return ranks.proven;
    if (match.purchase !== undefined) return ranks.begun; // I28
    if (this.#closed.has(address)) return ranks.closed;
    return selected?.has(address) === false ? ranks.unselected : ranks.free;
  }

  #seenOf(address: string): ReturnType<Verdicts['of']> {
    const match = this.#byAddress.get(address);
    return match === undefined ? 'none' : this.#verdicts.of(match.step);
  }
}

const ranks = { proven: 0, begun: 1, free: 2, unselected: 3, closed: 4 } as const;
