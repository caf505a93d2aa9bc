import type { WantedVerdict } from '../../contract/review.ts';
import type { Gate, Graph } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { seeAtGates } from '../../plan/gate-keeper.ts';
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
  #campaign: BenchFacts;
  /** Something was recorded since the graph was decided. */
  #isOlder = false;

  constructor(graph: Graph, lock: Lock) {
    this.#written = graph;
    this.#lock = lock;
    this.#campaign = lookAt(graph, lock);
  }

  judge({ address, is, job, note }: WantedVerdict): Ruling {
    const seen = this.#campaign.byAddress.get(address);
    if (seen === undefined) {
      return refuse(address, 'is no step of the manifest', 'the manifest changed: reload the page');
    }
    // A step that needs nothing is the same whatever is picked elsewhere; which ones are canaries hangs on picks, too.
    const isSettled = seen.step.needs.length === 0 && this.#written.canaries === undefined;
    if (this.#isOlder && !isSettled) this.#lookAgain();
    const { byAddress, gates: known, gateOf, matches } = this.#campaign;
    const match = byAddress.get(address) ?? seen;
    if (match.purchase?.jobId !== undefined && match.purchase.jobId !== job) {
      return refuse(address, `is not what was looked at, which was job ${job}`, 'look at what it has now');
    }
    const gate = gateOf.get(address);
    const gates = known.map((one) => (one === gate ? this.#stateNow(one) : one));
    const verdicts = new Verdicts(this.#lock, matches);
    const [ruling = refuse(address, 'cannot be decided', 'reload the page')] = judgeSteps(
      [match],
      { as: is, noteOf: () => note },
      { gates, matches, verdicts },
    );
    if (ruling.is === 'recorded') {
      for (const record of ruling.records) joinInto(this.#lock.steps, record);
      this.#isOlder = true;
    }
    return ruling;
  }

  #stateNow(gate: Gate): Gate {
    const seen = seeAtGates(this.#campaign.matches, this.#lock, { gates: [gate], redo: new Set() });
    return { ...gate, state: stateOfGate(gate, (address) => seen.get(address) ?? 'none') };
  }

  #lookAgain(): void {
    this.#campaign = lookAt(this.#written, this.#lock);
    this.#isOlder = false;
  }
}

interface BenchFacts {
  matches: readonly Match[];
  byAddress: ReadonlyMap<string, Match>;
  gates: readonly Gate[];
  gateOf: ReadonlyMap<string, Gate>;
}

function lookAt(written: Graph, lock: Lock): BenchFacts {
  const { graph, matches } = matchGraph(written, lock);
  const byAddress = new Map(matches.map((match) => [match.step.address, match]));
  const { gates = [] } = graph;
  return { matches, byAddress, gates, gateOf: gatesByMember(gates) };
}
