import { LockChangedError } from '../../contract/errors.ts';
import { orFailure } from '../../contract/failure.ts';
import type { LockFile } from '../../contract/ports.ts';
import type { WantedVerdict } from '../../contract/review.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { type Gate, type Graph, outlineOf, type Step } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { writeLines, writeRecord } from '../../lock/write.ts';
import { judgeSteps } from '../../plan/decisions/judge.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { gatesByMember, stateOfGate } from '../../plan/gates/gates.ts';
import { withoutMovedAway } from '../../plan/rows/orphans.ts';
import type { DecidedGate } from '../../plan/situation/decided-graph.ts';
import { type Situation, situate } from '../../plan/situation/situation.ts';
import type { Verdicts } from '../../plan/situation/verdicts.ts';
import { changedMeanwhile } from '../decide.ts';
import { holdGuard } from '../hold-guard.ts';
import { refuseRestored } from '../lost-lock.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { openRunLock } from '../read-lock.ts';
import { Session } from '../session.ts';

/** Returns a ruling on each verdict, in the order given. Recorded verdicts are joined into the lock. */
export function ruleOn(verdicts: readonly WantedVerdict[], situation: Situation): Ruling[] {
  return new Bench(situation).judgeAll(verdicts).rulings;
}

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
class Bench {
  readonly #links: Links;
  #campaign: Situation;
  /** Names of the gates with decisions since the graph was decided. */
  readonly #changed = new Set<string>();

  constructor(situation: Situation) {
    this.#links = linksOf(situation.written);
    this.#campaign = situation;
  }

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
      return refuse(
        address,
        `has changed since its review: the reviewed output was of job ${job}`,
        'review its current output',
      );
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

/** The lock as it was read, with the lines that this process has appended since. */
interface Held {
  graph: Graph;
  lock: Lock;
  file: LockFile;
  bench: Bench;
  /** State of the lock file, to notice that another program has written it. */
  stamp: string;
  /** Whether lines were appended, so that the file is not in its normal form. */
  isLonger: boolean;
}

/**
 * Records verdicts of a review page batch by batch, by the rules of `pick`, `reject` and `unpick`. Lock and situation
 * stay in memory between batches as long as no other program writes the lock. A verdict is appended as a line; `tidy`
 * rewrites the lock in its normal form. The lock is held during each batch only.
 */
export class Desk {
  readonly #campaign: OpenCampaign;
  readonly #keepsOpen: boolean;
  #held: Held | undefined;

  /** `keepsOpen`: whether the lock file stays open between batches. On Windows an open file cannot be replaced. */
  constructor(campaign: OpenCampaign, { keepsOpen }: { keepsOpen: boolean }) {
    this.#campaign = campaign;
    this.#keepsOpen = keepsOpen;
  }

  /** `graph`: made from the current manifest. `lockTimeoutMs`: how long to wait for a run on the same lock. */
  judge(
    verdicts: readonly WantedVerdict[],
    { graph, lockTimeoutMs }: { graph: Graph; lockTimeoutMs: number },
  ): Promise<Judged> {
    return orFailure(
      this.#guarded(lockTimeoutMs, async () => {
        const held = await this.#hold(graph);
        const judged = held.bench.judgeAll(verdicts);
        const addresses = judged.rulings
          .flatMap((one) => (one.is === 'recorded' ? one.records : []))
          .map((one) => one.address);
        const records = [...new Set(addresses)].flatMap((address) => held.lock.steps.get(address) ?? []);
        await Promise.all(records.map((record) => held.file.append(writeRecord(record))));
        held.isLonger ||= records.length > 0;
        held.stamp = this.#stamp();
        if (!this.#keepsOpen && held.isLonger) await this.#rewrite(held);
        return judged;
      }),
    );
  }

  /** Writes the lock in its normal form, if it is not. Skips a lock that is held, because its holder will write it. */
  async tidy(): Promise<void> {
    if (this.#held?.isLonger !== true) return;
    await this.#guarded(0, async () => {
      if (this.#held?.stamp === this.#stamp()) await this.#rewrite(this.#held);
    }).catch(() => this.#letGo());
  }

  async #rewrite(held: Held): Promise<void> {
    await held.file.replace(writeLines(withoutMovedAway(held.lock, outlineOf(held.graph))));
    held.isLonger = false;
    held.stamp = this.#stamp();
  }

  async close(): Promise<void> {
    await this.tidy();
    await this.#letGo();
  }

  async #guarded<T>(waitMs: number, work: () => Promise<T>): Promise<T> {
    const { paths, tell } = this.#campaign;
    const guard = await holdGuard(paths.lock, waitMs, tell);
    try {
      return await work();
    } catch (error) {
      // What is in memory may be more than what is on disk.
      await this.#letGo();
      throw error instanceof LockChangedError ? changedMeanwhile(paths.lock) : error;
    } finally {
      if (!this.#keepsOpen) await this.#letGo();
      await guard.release();
    }
  }

  async #hold(graph: Graph): Promise<Held> {
    const known = this.#held;
    if (known?.graph === graph && known.stamp === this.#stamp()) return known;
    await this.#letGo();
    const campaign = this.#campaign;
    const stamp = this.#stamp();
    const { loaded, lock, situation } = await Session.open(campaign, { graph });
    refuseRestored(campaign, loaded);
    const bench = new Bench(situation);
    const file = await openRunLock(campaign.paths.lock, { loaded, lock, claims: false });
    this.#held = { graph, lock, file, bench, stamp, isLonger: loaded.needsRewrite };
    return this.#held;
  }

  async #letGo(): Promise<void> {
    const file = this.#held?.file;
    this.#held = undefined;
    await file?.close().catch(() => undefined);
  }

  #stamp(): string {
    const stats = lstatOrAbsent(this.#campaign.paths.lock);
    return stats === undefined ? 'absent' : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  }
}
