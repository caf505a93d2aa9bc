import type { WantedVerdict } from '../../contract/review.ts';
import type { Gate, Graph } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { applyDecisions } from '../../plan/apply-decisions.ts';
import { stateOfGate, Verdicts } from '../../plan/gates.ts';
import { judgeSteps } from '../../plan/judge.ts';
import { type Match, matchSteps } from '../../plan/match.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import { decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/**
 * Records verdicts that a person gave one after the other, in one write: each by the rules of `pick`, `reject` and
 * `unpick`, after those before it, so that of two about one output the last counts. One that is refused does not keep the
 * others from being recorded. `lockTimeoutMs`: as in `DecideOptions`.
 */
export async function judgeBatch(
  campaign: OpenCampaign,
  verdicts: readonly WantedVerdict[],
  { lockTimeoutMs }: { lockTimeoutMs?: number | undefined } = {},
): Promise<Ruling[]> {
  const decided = await decide(campaign, { lockTimeoutMs, partial: true }, ({ graph, lock }) =>
    ruleOn(verdicts, { graph, lock }),
  );
  return 'rulings' in decided ? decided.rulings : [];
}

/** What becomes of each verdict, in the order given. What is recorded is joined into `lock`. */
export function ruleOn(verdicts: readonly WantedVerdict[], { graph, lock }: { graph: Graph; lock: Lock }): Ruling[] {
  const bench = new Bench(graph, lock);
  return verdicts.map((verdict) => bench.judge(verdict));
}

/** The campaign while it is judged: what is picked changes what later verdicts are about. */
class Bench {
  readonly #written: Graph;
  readonly #lock: Lock;
  #graph: Graph;
  #matches: ReadonlyMap<string, Match>;
  #gates: ReadonlyMap<string, Gate>;
  /** Something was recorded since the graph was decided. */
  #isOlder = false;

  constructor(graph: Graph, lock: Lock) {
    this.#written = graph;
    this.#lock = lock;
    this.#graph = applyDecisions(graph, lock);
    this.#matches = indexMatches(this.#graph, lock);
    this.#gates = indexGates(this.#graph);
  }

  judge({ address, is, job, note }: WantedVerdict): Ruling {
    const found = this.#matchOf(address);
    if (found === undefined) {
      return refuse(address, 'is no step of the manifest', 'the manifest changed: reload the page');
    }
    // A step that needs nothing is the same whatever is picked elsewhere.
    if (this.#isOlder && found.step.needs.length > 0) this.#lookAgain();
    const match = this.#matchOf(address) ?? found;
    const { purchase } = match;
    if (purchase?.jobId !== undefined && purchase.jobId !== job) {
      return refuse(address, `is not what was looked at, which was job ${job}`, 'look at what it has now');
    }
    const gate = this.#gates.get(address);
    const [ruling = refuse(address, 'cannot be decided', 'reload the page')] = judgeSteps(
      [match],
      { as: is, noteOf: () => note },
      {
        gates: gate === undefined ? [] : [this.#stateNow(gate)],
        matches: gate?.members.flatMap((member) => this.#matchOf(member) ?? []) ?? [],
      },
    );
    if (ruling.is === 'recorded') {
      for (const record of ruling.records) joinInto(this.#lock.steps, record);
      this.#isOlder = true;
    }
    return ruling;
  }

  /** With what was recorded since. What is to be moved first has its record elsewhere. */
  #matchOf(address: string): Match | undefined {
    const match = this.#matches.get(address);
    const record = this.#lock.steps.get(address);
    return match === undefined || match.movedFrom !== undefined || record === undefined ? match : { ...match, record };
  }

  #stateNow(gate: Gate): Gate {
    const verdicts = new Verdicts(this.#graph, this.#lock, new Set());
    const state = stateOfGate(gate, (address) => {
      const match = this.#matches.get(address);
      return match === undefined ? 'none' : verdicts.of(match.step);
    });
    return { ...gate, state };
  }

  #lookAgain(): void {
    this.#graph = applyDecisions(this.#written, this.#lock);
    this.#matches = indexMatches(this.#graph, this.#lock);
    this.#gates = indexGates(this.#graph);
    this.#isOlder = false;
  }
}

function indexMatches(graph: Graph, lock: Lock): Map<string, Match> {
  return new Map(matchSteps(graph, lock).map((match) => [match.step.address, match]));
}

function indexGates({ gates = [] }: Graph): Map<string, Gate> {
  return new Map(gates.flatMap((gate) => gate.members.map((address) => [address, gate] as const)));
}
