import type { WantedVerdict } from '../../contract/review.ts';
import type { Gate, Graph } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { gatesByMember, stateOfGate } from '../../plan/gates.ts';
import { judgeSteps } from '../../plan/judge.ts';
import { type Match, matchGraph } from '../../plan/match.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import { Verdicts } from '../../plan/verdicts.ts';
import { decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/**
 * Records verdicts that a person gave one after the other, in one write: each by the rules of `pick`, `reject` and
 * `unpick`, after those before it, so that of two about one output the last counts. One that is refused does not keep the
 * others from being recorded. `lockTimeoutMs`: as in `DecideOptions`. `graph`: of the manifest as it is now, where it is known.
 */
export async function judgeBatch(
  campaign: OpenCampaign,
  verdicts: readonly WantedVerdict[],
  { lockTimeoutMs, graph: known }: { lockTimeoutMs?: number | undefined; graph?: Graph | undefined } = {},
): Promise<Ruling[]> {
  const decided = await decide(campaign, { lockTimeoutMs, graph: known, partial: true }, ({ graph, lock }) =>
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
  #matches: ReadonlyMap<string, Match> = new Map();
  #gates: ReadonlyMap<string, Gate> = new Map();
  #verdicts: Verdicts;
  /** Something was recorded since the graph was decided. */
  #isOlder = false;

  constructor(graph: Graph, lock: Lock) {
    this.#written = graph;
    this.#lock = lock;
    this.#verdicts = this.#lookAgain();
  }

  judge({ address, is, job, note }: WantedVerdict): Ruling {
    const found = this.#matchOf(address);
    if (found === undefined) {
      return refuse(address, 'is no step of the manifest', 'the manifest changed: reload the page');
    }
    // A step that needs nothing is the same whatever is picked elsewhere.
    if (this.#isOlder && found.step.needs.length > 0) this.#verdicts = this.#lookAgain();
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
        verdicts: this.#verdicts,
      },
    );
    if (ruling.is === 'recorded') {
      for (const record of ruling.records) joinInto(this.#lock.steps, record);
      this.#verdicts = new Verdicts(this.#lock, [...this.#matches.values()]);
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
    const state = stateOfGate(gate, (address) => {
      const match = this.#matches.get(address);
      if (match?.purchase?.state !== 'done') return 'none';
      return this.#verdicts.on(match)?.is ?? 'undecided';
    });
    return { ...gate, state };
  }

  #lookAgain(): Verdicts {
    const { graph, matches } = matchGraph(this.#written, this.#lock);
    this.#matches = new Map(matches.map((match) => [match.step.address, match]));
    this.#gates = gatesByMember(graph.gates ?? []);
    this.#isOlder = false;
    return new Verdicts(this.#lock, matches);
  }
}
