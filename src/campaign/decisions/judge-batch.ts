import type { WantedVerdict } from '../../contract/review.ts';
import type { Gate, Graph, Step } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { DecidedGate } from '../../plan/decided-graph.ts';
import { gatesByMember, stateOfGate } from '../../plan/gates.ts';
import { judgeSteps } from '../../plan/judge.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import { type Situation, situate } from '../../plan/situation.ts';
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
  const decided = await decide(campaign, { lockTimeoutMs, graph: known, partial: true }, ({ situation }) =>
    ruleOn(verdicts, situation),
  );
  return 'rulings' in decided ? decided.rulings : [];
}

/** Rules on each verdict, in the order given. What is recorded is joined into the lock. */
export function ruleOn(verdicts: readonly WantedVerdict[], situation: Situation): Ruling[] {
  const bench = new Bench(situation);
  return verdicts.map((verdict) => bench.judge(verdict));
}

/** The campaign while it is judged: what is picked changes what later verdicts are about. */
class Bench {
  readonly #links: Links;
  #campaign: Situation;
  /** Names of the gates of which something was recorded since the graph was decided. */
  readonly #changed = new Set<string>();

  constructor(situation: Situation) {
    this.#links = linksOf(situation.written);
    this.#campaign = situation;
  }

  judge({ address, is, job, note }: WantedVerdict): Ruling {
    if (!this.#campaign.byAddress.has(address)) {
      return refuse(address, 'is no step of the manifest', 'the manifest changed: reload the page');
    }
    if (this.#changed.size > 0 && this.#isOutdated(address)) this.#lookAgain();
    const { lock, byAddress, gateOf, verdicts } = this.#campaign;
    const match = byAddress.get(address);
    if (match?.purchase?.jobId !== undefined && match.purchase.jobId !== job) {
      return refuse(address, `is not what was looked at, which was job ${job}`, 'look at what it has now');
    }
    const gate = gateOf.get(address);
    const now = gate && this.#stateNow(gate);
    const [ruling = refuse(address, 'cannot be decided', 'reload the page')] = judgeSteps(
      match === undefined ? [] : [match],
      { as: is, noteOf: () => note },
      { ...this.#campaign, gateOf: { get: (one) => (one === address ? now : gateOf.get(one)) } },
    );
    if (ruling.is === 'recorded') {
      for (const record of ruling.records) {
        joinInto(lock.steps, record);
        verdicts.add(record);
      }
      if (gate !== undefined) this.#changed.add(gate.name);
    }
    return ruling;
  }

  #stateNow(gate: DecidedGate): DecidedGate {
    const { byAddress, verdicts } = this.#campaign;
    const seenOf = (address: string) => {
      const match = byAddress.get(address);
      return match === undefined ? 'none' : verdicts.seen(match);
    };
    return { ...gate, state: stateOfGate(gate, seenOf) };
  }

  /** Whether changed gates bear on a step: its sources hang on those before it; which steps are canaries, on any. */
  #isOutdated(address: string): boolean {
    const { steps, byName, byMember, canaried } = this.#links;
    if (canaried.has(address)) return true;
    const before = new Set([address]);
    for (const one of before) {
      for (const need of steps.get(one)?.needs ?? []) {
        const gate = byName.get(need) ?? byMember.get(need);
        if (gate !== undefined && this.#changed.has(gate.name)) return true;
        for (const member of byName.get(need)?.members ?? [need]) before.add(member);
      }
    }
    return false;
  }

  #lookAgain(): void {
    const { written, lock } = this.#campaign;
    this.#campaign = situate(written, lock);
    this.#changed.clear();
  }
}

/** How the steps of a graph hang on its gates, as written. */
interface Links {
  steps: ReadonlyMap<string, Step>;
  byName: ReadonlyMap<string, Gate>;
  byMember: ReadonlyMap<string, Gate>;
  /** Steps of which people are asked about the first ones. */
  canaried: ReadonlySet<string>;
}

function linksOf({ steps, gates = [], canaries = [] }: Graph): Links {
  return {
    steps: new Map(steps.map((step) => [step.address, step])),
    byName: new Map(gates.map((gate) => [gate.name, gate])),
    byMember: gatesByMember(gates),
    canaried: new Set(canaries.flatMap(({ asks, members }) => (asks ? members : []))),
  };
}
