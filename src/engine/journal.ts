import type { AnsweredSend, FinishedJob, LockFile, PurchaseJournal, StepResult } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import { isFreelyRepeated } from '../kinds/index.ts';
import { mostRevision } from '../lock/decisions.ts';
import { joinInto, recordOf } from '../lock/join.ts';
import type { Lock, LockLine, Output, Purchase, StepRecord } from '../lock/record.ts';
import { type AwaitedSend, closedSends, isJob, isOpenSend } from '../lock/sends.ts';
import { writeLine } from '../lock/write.ts';
import type { StepOrder } from '../plan/plan.ts';
import { isOwnSend, isReplayed, type SendFacts } from '../plan/purchases/next.ts';

/** Write-ahead log of the lock. Each line is durable on disk before it changes the lock in memory. */
export class Journal {
  readonly lock: Lock;
  recorded = false;
  readonly #file: LockFile;
  readonly #purchases: PurchaseJournal | undefined;
  /** Idempotency keys by kind and job ID, because a service may number the jobs of each kind separately. */
  readonly #keysByJob = new Map<string, Map<string, string>>();
  /**
   * Addresses of create requests, by kind and idempotency key. Without this index, recording a job would need a search
   * through the lock.
   */
  readonly #sentFrom = new Map<string, Set<string>>();

  constructor(lock: Lock, file: LockFile, purchases: PurchaseJournal | undefined) {
    this.lock = lock;
    this.#file = file;
    this.#purchases = purchases;
    for (const record of lock.steps.values()) {
      for (const purchase of record.purchases) {
        const { jobId, key, kind = record.kind } = purchase;
        if (isOpenSend(purchase)) this.#noteSend(record.address, kind, key);
        if (jobId !== undefined) ofKind(this.#keysByJob, kind).set(jobId, key);
      }
    }
  }

  /** Resolves when the line is durable. `closes`: ids of the create requests whose outcome the line states. */
  async append(order: StepOrder, facts: PurchaseFacts, closes: readonly string[] = []): Promise<void> {
    const line: LockLine = {
      address: order.address,
      kind: order.kind,
      fingerprint: order.fingerprint,
      generation: order.generation,
      attempt: order.attempt,
      key: order.key,
      ...facts,
      request: order.paidRequest,
      ...defined({ take: order.take }),
      ...this.#historyOf(order),
      ...(closes.length > 0 && { closes }),
    };
    // Throws before anything is sent: no program could read such a line, and the purchase would be lost.
    if (line.generation > mostRevision) {
      throw new Error(
        `${order.address} has generation ${mostRevision}, the highest possible value: lower the generation in the lock`,
      );
    }
    this.recorded = true;
    try {
      // Writes the purchase journal, too, because a lost lock is restored from it.
      const isPaid = !isFreelyRepeated(line.kind);
      const text = writeLine(line);
      const noted = isPaid && this.#purchases?.add(line, text); // I40 (journal)
      await Promise.all([noted, this.#file.append(text)]);
    } catch (error) {
      // The job exists even if its line could not be written; a later write of the whole lock may still contain it.
      if (line.jobId !== undefined) this.#fold(line);
      throw error;
    }
    this.#fold(line);
  }

  /** Records how a job ended. Appends no line if the lock already has the job with exactly these files. */
  async end(order: StepOrder, result: Done | Extract<StepResult, { state: 'failed' | 'lost' }>): Promise<void> {
    const { jobId } = result;
    const before = this.purchasesOf(order).find((one) => one.jobId === jobId);
    const credits = before?.credits ?? order.credits;
    if (result.state !== 'done') return this.append(order, { ...result, ...defined({ credits }) });
    const { outputs, url = before?.url } = result;
    const isRecorded = before?.outputs !== undefined && hasFiles(before, outputs);
    const own = this.lock.steps.get(order.address)?.purchases.find((one) => one.jobId === jobId);
    if (isRecorded && own?.state === 'done') return;
    const isReplaced = before?.outputs !== undefined && !isRecorded;
    const revision = Math.min((before?.revision ?? 0) + (isReplaced ? 1 : 0), mostRevision);
    const { recordId } = before ?? {};
    await this.append(order, {
      ...{ state: 'done', jobId, outputs },
      ...defined({ credits, recordId, url }),
      ...(revision > 0 && { revision }),
    });
  }

  /**
   * Copies purchases of other runs under the idempotency key of this order into the lock. Returns all purchases of the
   * order under this key.
   */
  async restore(order: StepOrder, records: readonly StepRecord[]): Promise<Purchase[]> {
    const { address, kind } = order;
    for (const { purchases, closes = [] } of records) {
      const settled = this.purchasesOf(order).filter((one) => isOpenSend(one) && closes.includes(one.send));
      for (const { kind: _kind, ...facts } of [...purchases, ...settled]) {
        const ends = closes.filter((id) => id === facts.send);
        const line = { address, kind, ...facts, ...(ends.length > 0 && { closes: ends }) } as LockLine;
        this.recorded = true;
        await this.#file.append(writeLine(line));
        this.#fold(line);
      }
    }
    return this.purchasesOf(order);
  }

  isClosed(send: string): boolean {
    return closedSends(this.lock).has(send);
  }

  /**
   * Resolves when the decisions of a record are durable. The line of a decision repeats a purchase, because every lock
   * line names a purchase.
   */
  async decide({ address, kind: own, decisions, purchases }: StepRecord): Promise<void> {
    const bought = purchases.find(isJob);
    if (bought === undefined || decisions === undefined) throw new Error('internal error: nothing to decide about');
    const { kind = own, ...purchase } = bought;
    const line: LockLine = { address, kind, ...purchase, decisions };
    this.recorded = true;
    await this.#file.append(writeLine(line)); // I30
    this.#fold(line);
  }

  purchasesOf({ address, movedFrom, fingerprint, key }: StepOrder): Purchase[] {
    const addresses = [address, ...(movedFrom === undefined ? [] : [movedFrom])];
    return addresses
      .flatMap((one) => this.lock.steps.get(one)?.purchases ?? [])
      .filter((purchase) => purchase.fingerprint === fingerprint && purchase.key === key);
  }

  /** Returns an open create request of an order or, if none is open, the newest purchase under any idempotency key. */
  leftBy({ address, fingerprint, generation }: StepOrder): Purchase | undefined {
    const { purchases = [] } = this.lock.steps.get(address) ?? {};
    const own = purchases.filter((one) => one.fingerprint === fingerprint && one.generation >= generation);
    return own.find(isOpenSend) ?? own[0];
  }

  /**
   * Returns the ids of the create requests whose outcome an answer shows. If the service does not replay keys, this is
   * only the answered request. With replay, all requests with one key share one job: the answer is that of every open
   * request that this account sent with the key within the replay window.
   */
  closedBy(order: StepOrder, { id, replays, at }: AnsweredSend, accountOf: SendFacts['accountOf']): string[] {
    if (!replays) return [id];
    const same = this.#openSends(order.kind, order.key)
      .filter(({ since }) => since !== undefined && isReplayed(at - Date.parse(since)))
      .filter((purchase) => isOwnSend(purchase, accountOf));
    return [...new Set([id, ...same.map(({ send }) => send)])];
  }

  #openSends(kind: string, key: string): AwaitedSend[] {
    const records = [...(this.#sentFrom.get(`${kind} ${key}`) ?? [])].flatMap(
      (address) => this.lock.steps.get(address) ?? [],
    );
    return records.flatMap((record) =>
      record.purchases.filter(isOpenSend).filter((send) => send.key === key && (send.kind ?? record.kind) === kind),
    );
  }

  jobOf(address: string, fingerprint: string): FinishedJob | undefined {
    const record = this.lock.steps.get(address);
    const done = record?.purchases.filter(isJob).find((job) => job.state === 'done' && job.fingerprint === fingerprint);
    if (record === undefined || done === undefined) return undefined;
    const { jobId, url, outputs } = done;
    return { kind: done.kind ?? record.kind, jobId, files: outputs?.length ?? 0, ...defined({ url }) };
  }

  keyOfJob(kind: string, jobId: string): string | undefined {
    return ofKind(this.#keysByJob, kind).get(jobId);
  }

  /**
   * Claims a job ID for the idempotency key of the order. Returns false if another key already has the job. Works
   * synchronously, so that only one of two concurrent answers gets the ID.
   */
  claimJob(order: StepOrder, jobId: string): boolean {
    const keys = ofKind(this.#keysByJob, order.kind);
    const known = keys.get(jobId);
    if (known === undefined) keys.set(jobId, order.key);
    return known === undefined || known === order.key;
  }

  #historyOf(order: StepOrder): { earlier?: Purchase[] } {
    const old = order.movedFrom === undefined ? undefined : this.lock.steps.get(order.movedFrom);
    if (old === undefined) return {};
    return { earlier: old.purchases.map((one) => ({ ...one, kind: one.kind ?? old.kind })) };
  }

  #fold(line: LockLine): void {
    if (line.jobId !== undefined) ofKind(this.#keysByJob, line.kind).set(line.jobId, line.key);
    for (const one of [line, ...(line.earlier ?? [])]) {
      if ('send' in one) this.#noteSend(line.address, one.kind ?? line.kind, one.key);
    }
    joinInto(this.lock.steps, recordOf(line));
  }

  #noteSend(address: string, kind: string, key: string): void {
    const name = `${kind} ${key}`;
    const known = this.#sentFrom.get(name);
    if (known === undefined) this.#sentFrom.set(name, new Set([address]));
    else known.add(address);
  }
}

function ofKind(all: Map<string, Map<string, string>>, kind: string): Map<string, string> {
  const own = all.get(kind) ?? new Map<string, string>();
  all.set(kind, own);
  return own;
}

type FactsOf<Fact> = Fact extends Purchase
  ? Omit<Fact, 'kind' | 'fingerprint' | 'generation' | 'attempt' | 'key' | 'request' | 'take'>
  : never;
type PurchaseFacts = FactsOf<Purchase>;
type Done = Extract<StepResult, { state: 'done' }>;

function hasFiles({ outputs: recorded }: Purchase, outputs: readonly Output[]): boolean {
  return (
    recorded?.length === outputs.length &&
    recorded.every(({ path, sha256 }, index) => path === outputs[index]?.path && sha256 === outputs[index]?.sha256)
  );
}
