import { systemClock } from '../../contract/clock.ts';
import { LockChangedError } from '../../contract/errors.ts';
import type { RunFact } from '../../contract/event.ts';
import type { LockFile } from '../../contract/ports.ts';
import { openPurchases } from '../../disk/state/purchase-journal.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import { defined } from '../../ground/values.ts';
import { isFreelyRepeated } from '../../kinds/index.ts';
import { agreeOnSends, joinInto } from '../../lock/join.ts';
import { readLock } from '../../lock/read.ts';
import type { Lock, LockLine, StepRecord } from '../../lock/record.ts';
import { writeLines } from '../../lock/write.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type LoadedLock, openRunLock, settleLock } from '../read-lock.ts';
import { nameOfPurchases } from '../restore-purchases.ts';

interface Ending {
  outline: GraphOutline;
  emit(fact: RunFact): void;
}

interface Opened {
  file: LockFile;
  loaded: LoadedLock;
  lock: Lock;
  purchases: Awaited<ReturnType<typeof openPurchases>>;
}

/** Writes the lines of a run on an engine to the local lock and the purchase journal as they arrive. */
export class MirroredLock {
  readonly #opened: Opened;
  readonly #known: Set<string>;
  readonly #steps: Map<string, StepRecord>;
  #unfolded: string[] = [];
  #hasChanged = false;
  /** True if another program changed the lock file: new lines are then kept in memory until the run ends. */
  #isElses = false;

  private constructor(opened: Opened) {
    this.#opened = opened;
    this.#known = new Set(writeLines(opened.lock));
    this.#steps = new Map(opened.lock.steps);
  }

  static async open(campaign: OpenCampaign, loaded: LoadedLock, name?: string): Promise<MirroredLock> {
    const { paths, service } = campaign;
    const lock = { ...loaded.lock, ...defined({ service }) };
    const file = await openRunLock(paths.lock, { loaded, lock, claims: true });
    const journal = name === undefined ? undefined : nameOfPurchases(campaign, name);
    const purchases = journal === undefined ? undefined : await openPurchases(journal, { clock: systemClock });
    return new MirroredLock({ file, loaded, lock, purchases });
  }

  async add(lines: readonly string[]): Promise<number> {
    const { file, purchases } = this.#opened;
    const fresh = lines.filter((line) => !this.#known.has(line));
    for (const line of fresh) {
      this.#known.add(line);
      this.#unfolded.push(line);
      this.#hasChanged = true;
    }
    try {
      if (!this.#isElses) await Promise.all(fresh.map((line) => file.append(line)));
    } catch (error) {
      if (!(error instanceof LockChangedError)) throw error; // I46 (left)
      this.#isElses = true;
    }
    if (purchases === undefined) return fresh.length;
    // The lock is written before the journal, because the jobs are already paid: a journal that cannot be written must
    // not keep them out of the lock.
    const bought = fresh
      .map((text) => JSON.parse(text) as LockLine)
      .filter(({ key, kind }) => key !== undefined && !isFreelyRepeated(kind));
    await Promise.all(bought.map((line) => purchases.add(line)));
    return fresh.length;
  }

  get lock(): Lock {
    return agreeOnSends({ ...this.#opened.lock, steps: new Map(this.steps) });
  }

  get steps(): ReadonlyMap<string, StepRecord> {
    if (this.#unfolded.length === 0) return this.#steps;
    const bytes = Buffer.from(this.#unfolded.join(''));
    this.#unfolded = [];
    const { steps } = readLock(this.#opened.file.path, bytes, { isOnlyRead: true }).lock;
    for (const record of steps.values()) joinInto(this.#steps, record);
    return this.#steps;
  }

  async settle({ outline, emit }: Ending): Promise<void> {
    const { file, loaded } = this.#opened;
    await settleLock(file, { ledger: { lock: this.lock, recorded: this.#hasChanged }, outline, loaded, emit });
    this.#isElses = false;
  }

  /** Closes the lock file. If another program changed the file, adds the missing lines, or without `ending` throws. */
  async close(ending?: Ending): Promise<void> {
    const { file, purchases } = this.#opened;
    try {
      if (!this.#isElses) return;
      if (ending === undefined) throw new LockChangedError(file.path);
      await this.settle(ending);
    } finally {
      await purchases?.close();
      await file.close();
    }
  }
}
