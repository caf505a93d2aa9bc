import type { WantedVerdict } from '../../contract/review.ts';
import type { Gate, Graph, Step } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import { judgeSteps } from '../../plan/decisions/judge.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { gatesByMember, stateOfGate } from '../../plan/gates/gates.ts';
import type { DecidedGate } from '../../plan/situation/decided-graph.ts';
import { type Situation, situate } from '../../plan/situation/situation.ts';
import type { Verdicts } from '../../plan/situation/verdicts.ts';

/** Returns a ruling on each verdict, in the order given. Recorded verdicts are joined into the lock. */
export function ruleOn(verdicts: readonly WantedVerdict[], situation: Situation): Ruling[] {
  return new Bench(situation).judgeAll(verdicts).rulings;
}

/** Rulings on a batch, and what its gates show of it. */
export interface Judged {
  rulings: Ruling[];
  /** Gates about which something was recorded, with the current verdicts on the outputs of their steps, by address. */
  gates: (Pick<DecidedGate, 'name' | 'state'> & { verdicts: ReadonlyMap<string, ReturnType<Verdicts['on']>> })[];
}

/**
 * Applies a batch of verdicts to a campaign. A pick changes which outputs later verdicts are about, so each verdict
 * is judged by the rules of `pick`, `reject` and `unpick` after those before it; of two verdicts about one output the
 * last counts. A refused verdict does not prevent the others from being recorded.
 */
export class Bench {
  readonly #links: Links;
  #campaign: Situation;
  /** Names of the gates with decisions since the graph was decided. */
  readonly #changed = new Set<string>();

  constructor(situation: Situation) {
    this.#links = linksOf(situation.written);
    this.#campaign = situation;
  }

  /** Returns a ruling on each verdict, in the order given. Recorded verdicts are joined into the lock. */
  judgeAll(wanted: readonly WantedVerdict[]): Judged {
    const rulings = wanted.map((verdict) => this.#judge(verdict));
    const { byAddress, gateOf, verdicts } = this.#campaign;
    const gates = new Set(rulings.flatMap(({ is, address }) => (is === 'recorded' ? (gateOf.get(address) ?? []) : [])));
    return {
      rulings,
      gates: [...gates].map((gate) => ({
        name: gate.name,
        state: this.#stateNow(gate).state,
        verdicts: new Map(
          gate.members.map((address) => {
            const match = byAddress.get(address);
            return [address, match && verdicts.on(match)];
          }),
        ),
      })),
    };
  }

  #judge({ address, is, job, ...words }: WantedVerdict): Ruling {
    if (!this.#campaign.byAddress.has(address)) {
      return refuse(address, 'is not a step of the manifest', 'the manifest changed: reload the page');
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
      { as: is, wordsOf: () => words },
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

  /**
   * Whether changed gates affect a step. The sources of a step depend on the gates before it; which steps are
   * canaries can depend on any gate.
   */
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

/** Dependencies of the steps of a graph on its gates, as written in the manifest. */
interface Links {
  steps: ReadonlyMap<string, Step>;
  byName: ReadonlyMap<string, Gate>;
  byMember: ReadonlyMap<string, Gate>;
  /** Steps of tasks with canaries: their first steps need a decision before the others. */
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
