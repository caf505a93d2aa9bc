import { randomUUID } from 'node:crypto';
import type { CreatedJob } from '../contract/answer.ts';
import type { Clock } from '../contract/clock.ts';
import { GuardLostError } from '../contract/errors.ts';
import type { RunEvent, RunFact } from '../contract/event.ts';
import type {
  AnsweredSend,
  Begin,
  FinishedJob,
  IntendedRequest,
  Ledger,
  LockFile,
  PurchaseJournal,
  RequestBodies,
  StepResult,
} from '../contract/ports.ts';
import type { Hold, HoldAnswer } from '../contract/spending.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import { defined } from '../ground/values.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { isJob, isOpenSend } from '../lock/sends.ts';
import { type AskedSend, orderId, type PlanTotals, type Price, type StepOrder } from '../plan/plan.ts';
import { tightestCap } from '../plan/prices/fund.ts';
import { worstFactor } from '../plan/prices/prices.ts';
import { isOwnSend, type SendFacts, settlingOf } from '../plan/purchases/next.ts';
import { askedSend } from '../plan/purchases/open-sends.ts';
import { digestOfBody, matchStoredBody } from '../run/references.ts';
import { type Account, uncharged } from './account.ts';
import type { LocalGate } from './create-gate.ts';
import { Journal } from './journal.ts';

class Estimates {
  readonly #seen: Estimated = { jobs: 0, likely: 0, charged: 0, unpriced: 0 };

  /** Ignores a job whose charge the service did not report (`null`). */
  note({ likely, credits }: Price, charged: number | null): void {
    const expected = likely ?? credits;
    if (charged === null || (charged === 0 && expected === 0)) return;
    if (expected === null) {
      this.#seen.unpriced += 1;
      return;
    }
    this.#seen.jobs += 1;
    this.#seen.likely += expected;
    this.#seen.charged += charged;
  }

  get result(): Estimated | undefined {
    const { jobs, unpriced } = this.#seen;
    return jobs + unpriced === 0 ? undefined : this.#seen;
  }
}

interface LedgerOptions {
  lock: Lock;
  file: LockFile;
  bodies: RequestBodies;
  gate: LocalGate;
  account: Account;
  totals: PlanTotals;
  purchases?: PurchaseJournal | undefined;
  accountOf?: SendFacts['accountOf'];
  onUnknown?: SendFacts['onUnknown'];
  clock: Pick<Clock, 'now'>;
  /** Called before each create request. Resolves with false if another run may have locked the campaign. */
  isAlone(): Promise<boolean>;
  emit(fact: RunFact): void;
}

/** Ledger of one process. The lock file is the journal of this ledger: only facts in the lock file count. */
export class LocalLedger implements Ledger {
  readonly account: Account;
  readonly estimates = new Estimates();
  readonly #journal: Journal;
  readonly #options: LedgerOptions;
  balance: number | null = null;
  #isBroken = false;

  constructor(given: LedgerOptions) {
    this.#options = given;
    this.#journal = new Journal(given.lock, given.file, given.purchases);
    this.account = given.account;
    // When the run stops spending, steps that wait for a price end.
    given.gate.stopping.addEventListener('abort', () => this.account.nudge(), { once: true });
  }

  get lock(): Lock {
    return this.#journal.lock;
  }

  get recorded(): boolean {
    return this.#journal.recorded;
  }

  async begin(order: StepOrder): Promise<Begin> {
    const known = this.#journal.purchasesOf(order);
    const job = known.filter(isJob).find(({ forgotten }) => forgotten !== true);
    const open = known.some((one) => isOpenSend(one) && one.send === order.send?.id) ? order.send : undefined;
    // An order that searches for the job of a create request does so even if another job of its idempotency key is
    // known.
    if (job !== undefined && !(order.asksOnly && open !== undefined)) return attachTo(job.jobId);
    const { stopped } = this.#options.gate;
    if (stopped !== undefined) return { do: 'stop', because: stopped };
    const key = await this.#reserveKey(order, open);
    if ('do' in key) return key;
    const begun = await this.#reserveCredits(order, key.open);
    if (begun.do === 'stop') this.#options.purchases?.release(order.key);
    else if (key.held !== undefined) return { ...begun, held: key.held };
    return begun;
  }

  /**
   * Reserves the idempotency key. The caller then reserves the credits, so that no wait separates their reservation
   * from the request. `held`: why only a user can settle a create request of another run.
   */
  async #reserveKey(
    order: StepOrder,
    asked: AskedSend | undefined,
  ): Promise<Begin | { open: AskedSend | undefined; held?: string }> {
    if (this.#options.purchases === undefined || order.price.class === uncharged) return { open: asked };
    const isStopped = () => this.#options.gate.stopped !== undefined;
    const isClosed = (send: string) => this.#journal.isClosed(send);
    const { key, fingerprint } = order;
    for (let open = asked; ; ) {
      const question = { fingerprint, asks: open?.id, isClosed, isStopped };
      const found = await this.#durably(this.#options.purchases.reserve(key, question)); // I40 (reserved)
      if (found.is === 'reserved') return { open };
      if (found.is === 'stopped') return { do: 'stop', because: this.#options.gate.stopped ?? 'signal' };
      const jobs = found.records.flatMap(({ purchases }) => purchases.flatMap(({ jobId }) => jobId ?? []));
      const counted = jobs.filter((jobId) => this.#journal.keyOfJob(order.kind, jobId) !== undefined);
      const known = await this.#durably(this.#journal.restore(order, found.records));
      const job = known.filter(isJob).find(({ forgotten }) => forgotten !== true);
      if (job !== undefined) {
        this.#journal.claimJob(order, job.jobId);
        if (!counted.includes(job.jobId)) this.account.countElsewhere(job.credits ?? 0);
        return attachTo(job.jobId);
      }
      const left = known.find(isOpenSend);
      if (left?.send === open?.id) return this.#durably(Promise.reject(new Error(contradiction(order))));
      open = left && askedSend(left);
      if (left === undefined) continue;
      const given = defined({ accountOf: this.#options.accountOf, onUnknown: this.#options.onUnknown });
      const settling = settlingOf(left, { replays: 'yes', now: this.#options.clock.now(), ...given });
      if (settling.by === 'person') return { open, held: settling.reason }; // I40 (held)
    }
  }

  async #reserveCredits(order: StepOrder, open: AskedSend | undefined): Promise<Begin> {
    const name = orderId(order);
    const isOpen = open !== undefined;
    for (;;) {
      const { stopped } = this.#options.gate;
      if (stopped !== undefined) return { do: 'stop', because: stopped };
      const answer = this.account.reserve(name, order.price, { isSent: isOpen });
      if (answer.is === 'later') {
        await this.account.changed();
        continue;
      }
      if (answer.is !== 'reserved') {
        const isBudget = answer.is === 'over-budget';
        if (isBudget) this.#reportOverBudget(order);
        else this.#options.gate.reportHeld(order.price.class);
        return { do: 'stop', because: isBudget ? 'budget' : 'price' };
      }
      const held = await this.#holdCredits(order, { credits: answer.credits, isSent: isOpen }); // I44 (asked)
      if (held !== 'held') {
        this.#releaseCredits(order);
        if (held !== 'later') {
          this.#stopSpending('limit', held.over);
          return { do: 'stop', because: 'limit' };
        }
        // A price probe of this run may have waited for the released credits.
        await new Promise((resolve) => void setImmediate(resolve));
        continue;
      }
      this.#announceCredits();
      if (open === undefined) return { do: 'go', reserved: answer.credits };
      const body = matchStoredBody(order.request, await this.#options.bodies.read(order.key));
      return { do: 'go', reserved: answer.credits, open, body };
    }
  }

  /** Reserves credits under the spending limits of all campaigns. */
  async #holdCredits({ key, price }: StepOrder, hold: Pick<Hold, 'credits' | 'isSent'>): Promise<HoldAnswer> {
    if (this.#options.purchases === undefined || price.class === uncharged) return 'held';
    return this.#durably(this.#options.purchases.hold({ key, likely: price.likely ?? 0, ...hold }, this.lock));
  }

  async intent(order: StepOrder, request: IntendedRequest): Promise<string> {
    if (!(await this.#options.isAlone())) throw new GuardLostError();
    const isLinked = hasLinks(order);
    if (isLinked) await this.#durably(keepBody(this.#options.bodies, { key: order.key, body: request.body })); // I4
    const { body, replays, at, fence, resent } = request;
    // Each sent request has its own id, because another clone may send the request again. The id is a new string: as a
    // part of a longer one, it would hold that one in memory.
    const send = randomUUID().split('-', 3).join('');
    const facts = {
      // If the service does not replay keys, no run sends this request again by itself.
      state: replays ? ('intent' as const) : ('unresolved' as const), // I1
      send,
      since: new Date(at).toISOString(),
      ...defined({ account: this.#options.accountOf?.(send), fence }),
      ...(isLinked && { digest: digestOfBody(body) }),
      ...(resent !== undefined && { resent: true as const }),
    };
    await this.#record(order, facts, resent === undefined ? [] : [resent]);
    return send;
  }

  async created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): ReturnType<Ledger['created']> {
    if (job.balance !== null) this.balance = job.balance;
    if (!this.#journal.claimJob(order, job.jobId)) return 'taken'; // I22
    const { credits, charged } = this.#charge(order, job);
    // Settles the charge before listeners run, so that only one step probes a price that the service did not report.
    const isReported = job.credits !== null && job.isListed !== true;
    const settle = () => {
      const message = this.account.settle(orderId(order), charged, isReported);
      if (message !== undefined) this.#options.emit({ event: 'noticed', address: order.address, message });
    };
    if (credits !== null) settle();
    const { jobId, recordId } = job;
    const facts = { state: 'running' as const, jobId, ...(credits !== null && { credits }), ...defined({ recordId }) };
    // Records the job before its event is emitted, so that no listener can fail before the ID is on disk.
    await this.#record(order, facts, this.#journal.closedBy(order, answered, this.#options.accountOf));
    if (credits === null) settle();
    this.#announceCredits();
    await this.#keepAnswered(order);
    return { credits };
  }

  /** Returns the charge of a job. `credits`: the charge or, if unknown, the reserved credits. */
  #charge(order: StepOrder, job: CreatedJob): { credits: number | null; charged: number | null } {
    const fall = this.#options.gate.fallOfBalance(order, job.balance);
    const reserved = this.account.reserved(orderId(order));
    const charged = chargeOf(job, { price: order.price, reserved, fall });
    this.estimates.note(order.price, charged);
    return { credits: charged ?? reserved, charged };
  }

  async finish(order: StepOrder, result: StepResult): Promise<void> {
    switch (result.state) {
      case 'refused':
        this.#releaseCredits(order);
        await this.#record(order, { state: 'refused', error: result.error }, [result.send]);
        this.#options.purchases?.release(order.key);
        await this.#keepAnswered(order);
        return;
      case 'unresolved':
        await this.#holdSends(order, result);
        return;
      case 'unsent':
        await this.#record(order, { state: 'intent', send: result.send }, [result.send]);
        this.release(order);
        if (hasLinks(order)) await this.#options.bodies.drop(order.key);
        return;
      case 'done':
      case 'failed':
      case 'lost':
        await this.#durably(this.#journal.end(order, result));
        return;
      default:
        result satisfies never;
    }
  }

  /**
   * Marks every open create request with this idempotency key as unresolved, which reserves its price: when the replay
   * window ends, none of their answers can be recovered.
   */
  async #holdSends(order: StepOrder, { error, send }: { error: string; send: string }): Promise<void> {
    const same = this.#journal.purchasesOf(order).filter(isOpenSend);
    const open = same.filter((one) => isOwnSend(one, this.#options.accountOf)).map((one) => one.send);
    for (const id of new Set([send, ...open])) {
      await this.#record(order, { state: 'unresolved', send: id, keyKnown: true, error }); // I38 (held)
    }
  }

  /** Notifies the store of bodies that a request was answered. The store contains only bodies with links. */
  async #keepAnswered(order: StepOrder): Promise<void> {
    if (hasLinks(order)) await this.#options.bodies.answered(order.key);
  }

  async firstBody(order: StepOrder): Promise<string | undefined> {
    return matchStoredBody(order.request, await this.#options.bodies.read(firstOf(order.key)));
  }

  release(order: StepOrder): void {
    this.#options.purchases?.release(order.key);
    this.#releaseCredits(order);
  }

  #releaseCredits(order: StepOrder): void {
    this.account.release(orderId(order));
    this.#announceCredits();
  }

  doubt(order: StepOrder): void {
    this.account.doubt(orderId(order));
    this.#options.purchases?.release(order.key);
    this.#announceCredits();
  }

  abandon(order: StepOrder): Purchase | 'broken' | undefined {
    const left = this.#isBroken ? 'broken' : this.#journal.leftBy(order);
    if (typeof left === 'object' && isOpenSend(left)) this.doubt(order);
    else this.release(order);
    return left;
  }

  async jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined> {
    return this.#journal.jobOf(address, fingerprint);
  }

  /** True if a step would have exceeded a cap. Cheaper steps may still start. */
  overBudget = false;
  #reportOverBudget({ address, price }: StepOrder): void {
    const isLimit = tightestCap(this.account.caps)?.name === 'limit';
    this.#stopSpending(isLimit ? 'limit' : 'budget', this.account.describeShortage(address, price));
  }

  #stopSpending(because: 'budget' | 'limit', detail: string): void {
    if (this.overBudget) return;
    this.overBudget = true;
    this.#options.emit({ event: 'spending-stopped', because, detail });
  }

  async decide(records: readonly StepRecord[]): Promise<void> {
    await this.#durably(Promise.all(records.map((record) => this.#journal.decide(record))));
  }

  #record(...fact: Parameters<Journal['append']>): Promise<void> {
    return this.#durably(this.#journal.append(...fact));
  }

  async #durably<Result>(written: Promise<Result>): Promise<Result> {
    try {
      return await written;
    } catch (error) {
      this.#isBroken = true;
      this.#options.gate.stop('disk', error instanceof Error ? error.message : String(error)); // I2
      throw error;
    }
  }

  #announceCredits(): void {
    const { spentNow, spentEver, held } = this.account;
    this.#options.emit({
      event: 'credits-changed',
      ...{ spentNow, spentEver, held: held + this.#options.totals.held },
      budget: this.#options.totals.budget ?? null,
      balance: this.balance,
    });
  }
}

type Estimated = NonNullable<Extract<RunEvent, { event: 'run-ended' }>['estimated']>;

const hasLinks = ({ request }: StepOrder) => findReferences(request).length > 0;

const firstOf = (key: string) => `${key}-first`;

/**
 * Stores a request body before it is sent. Stores both the first and the newest body of a key: the service may replay a
 * key only for the first bytes, and the lock may have lost the first request.
 */
async function keepBody(bodies: RequestBodies, { key, body }: { key: string; body: string }): Promise<void> {
  const before = await bodies.read(key);
  if (before !== undefined && before !== body && (await bodies.read(firstOf(key))) === undefined) {
    await bodies.keep(firstOf(key), before);
  }
  await bodies.keep(key, body);
}

/**
 * Returns the charge of a create request, or `null` if it is unknown. `reserved`: the reserved credits, or `null` for
 * an unknown price. If the answer reports no charge, returns `fall`: by how much the balance fell while no other
 * request of this process was in flight. Other programs may use the account, so `fall` is used only if it is plausible,
 * and is at least the reservation. Ignores a reported charge of 0 if the balance fell, and a charge in the service's
 * list that is below the known price.
 */
export function chargeOf(
  { credits, isListed }: Pick<CreatedJob, 'credits' | 'isListed'>,
  { price, reserved, fall = 0 }: { price: Price; reserved: number | null; fall?: number | undefined },
): number | null {
  const isFree = price.source === 'documented' && price.credits === 0;
  const isReported = credits !== null && (credits > 0 || isFree || fall <= 0);
  if (isReported) return isListed ? Math.max(credits, reserved ?? 0) : credits; // I14 (reported)
  // A balance that did not fall may be older than the charge.
  if (isFree || fall <= 0) return null;
  const most = worstFactor * (reserved || price.held || Number.POSITIVE_INFINITY);
  return fall > most ? null : Math.max(fall, reserved ?? 0); // I14 (balance)
}

function contradiction({ address, key }: StepOrder): string {
  return `the purchase journal has a purchase of ${address} (${key}) that is abandoned in the lock: nothing is bought for this step`;
}

function attachTo(jobId: string): Begin {
  return { do: 'go', reserved: 0, job: { jobId, credits: 0 } };
}
