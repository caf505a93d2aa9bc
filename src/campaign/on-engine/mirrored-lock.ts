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

type Purchases = Awaited<ReturnType<typeof openPurchases>>;

interface Ending {
  outline: GraphOutline;
  emit(fact: RunFact): void;
}

/** Appends the lines of a run on an engine to the local lock and to this user's purchase journal as they arrive. */
export class MirroredLock {
  readonly #file: LockFile;
  readonly #loaded: LoadedLock;
  readonly #first: Lock;
  readonly #purchases: Purchases;
  readonly #known: Set<string>;
  #news = 0;
  readonly #steps: Map<string, StepRecord>;
  #unfolded: string[] = [];
  /**
   * Whether another program has written the file. If so, new lines are kept in memory and joined with the file at the
   * end.
   */
  #isElses = false;

  private constructor(file: LockFile, loaded: LoadedLock, first: Lock, purchases: Purchases) {
    this.#file = file;
    this.#loaded = loaded;
    this.#first = first;
    this.#purchases = purchases;
    this.#known = new Set(writeLines(first));
    this.#steps = new Map(first.steps);
  }

  static async open(campaign: OpenCampaign, loaded: LoadedLock, name?: string): Promise<MirroredLock> {
    const { paths, service } = campaign;
    const lock = { ...loaded.lock, ...defined({ service }) };
    const file = await openRunLock(paths.lock, { loaded, lock, claims: true });
    const journal = name === undefined ? undefined : nameOfPurchases(campaign, name);
    const purchases = journal === undefined ? undefined : await openPurchases(journal, { clock: systemClock });
    return new MirroredLock(file, loaded, lock, purchases);
  }

  async add(lines: readonly string[]): Promise<number> {
    const fresh = lines.filter((line) => !this.#known.has(line));
    for (const line of fresh) this.#known.add(line);
    this.#news += fresh.length;
    for (const line of fresh) this.#unfolded.push(line);
    try {
      if (!this.#isElses) await Promise.all(fresh.map((line) => this.#file.append(line)));
    } catch (error) {
      if (!(error instanceof LockChangedError)) throw error; // I46 (left)
      this.#isElses = true;
    }
    // The journal comes after the lock, because these jobs are bought already, and a full journal must not keep them
    // out of the lock.
    await this.#note(fresh);
    return fresh.length;
  }

  async #note(lines: readonly string[]): Promise<void> {
    if (this.#purchases === undefined) return;
    const noted: Promise<void>[] = [];
    for (const text of lines) {
      const line = JSON.parse(text) as LockLine;
      if (line.key !== undefined && !isFreelyRepeated(line.kind)) noted.push(this.#purchases.add(line));
    }
    await Promise.all(noted);
  }

  /**
   * Returns the lock built from the lines in memory. Git or an editor may have changed the file since, and mirrored
   * lines must not be lost with it.
   */
  get lock(): Lock {
    return agreeOnSends({ ...this.#first, steps: new Map(this.steps) });
  }

  get steps(): ReadonlyMap<string, StepRecord> {
    const bytes = Buffer.from(this.#unfolded.join(''));
    this.#unfolded = [];
    const { steps } = readLock(this.#file.path, bytes, { isOnlyRead: true }).lock;
    for (const record of steps.values()) joinInto(this.#steps, record);
    return this.#steps;
  }

  async settle({ outline, emit }: Ending): Promise<void> {
    const ledger = { lock: this.lock, recorded: this.#news > 0 };
    await settleLock(this.#file, { ledger, outline, loaded: this.#loaded, emit });
    this.#isElses = false;
  }

  async close(ending?: Ending): Promise<void> {
    try {
      if (this.#isElses && ending === undefined) throw new LockChangedError(this.#file.path);
      if (this.#isElses && ending !== undefined) await this.settle(ending);
    } finally {
      await this.#purchases?.close();
      await this.#file.close();
    }
  }
}
