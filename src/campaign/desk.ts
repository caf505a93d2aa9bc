import { LockChangedError } from '../contract/errors.ts';
import { orFailure } from '../contract/failure.ts';
import type { LockFile } from '../contract/ports.ts';
import type { WantedVerdict } from '../contract/review.ts';
import { lstatOrAbsent } from '../disk/fs/plain-file.ts';
import { type Graph, outlineOf } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { writeLines, writeRecord } from '../lock/write.ts';
import { withoutMovedAway } from '../plan/rows/orphans.ts';
import { changedMeanwhile } from './decide.ts';
import { Bench, type Judged } from './decisions/judge-batch.ts';
import { holdGuard } from './hold-guard.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { Session } from './session.ts';
import { openRunLock } from './settle.ts';

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
