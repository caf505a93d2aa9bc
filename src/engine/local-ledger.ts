import { randomBytes } from 'node:crypto';
import type { CreatedJob } from '../contract/answer.ts';
import { GuardLostError } from '../contract/errors.ts';
import type { RunFact } from '../contract/event.ts';
import type {
  AnsweredSend,
  Begin,
  CreateGate,
  FinishedJob,
  IntendedRequest,
  Ledger,
  StepResult,
} from '../contract/ports.ts';
import type { LockFile, RequestBodies } from '../contract/state.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { isOpenSend, sendOf } from '../lock/sends.ts';
import { isOwnSend, type SendFacts } from '../plan/open-sends.ts';
import { orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import { takeKeptBody } from '../run/kept-body.ts';
import { AgreedCeiling } from './agreed-ceiling.ts';
import { Budget } from './budget.ts';
import { chargeOf } from './charge.ts';
import type { LocalGate } from './create-gate.ts';
import { Estimates } from './estimates.ts';
import { keepBody, readFirstBody } from './first-bodies.ts';
import { Journal } from './journal.ts';
import { creditsOf, doneFacts, intentFacts, nextRevision, runningFacts, what } from './purchase-facts.ts';

/** A gate that stops the creates of one price alone, too. */
type PricedGate = CreateGate & Pick<LocalGate, 'fallOfBalance' | 'closePrice' | 'holdsPrice' | 'tellHeld' | 'stopping'>;

/** The ledger of one process: the lock file is its journal, and nothing is true that is not in it. */
export class LocalLedger implements Ledger {
  readonly budget: Budget;
  readonly ceiling: AgreedCeiling;
  readonly estimates = new Estimates();
  readonly #journal: Journal;
  readonly #bodies: RequestBodies;
  readonly #gate: PricedGate;
  readonly #accountOf: SendFacts['accountOf'];
  readonly #emit: (fact: RunFact) => void;
  readonly #totals: PlanTotals;
  readonly #isAlone: () => Promise<boolean>;
  balance: number | null = null;
  /** Whether something could not be made durable. */
  #isBroken = false;

  constructor(options: {
    lock: Lock;
    file: LockFile;
    bodies: RequestBodies;
    gate: PricedGate;
    totals: PlanTotals;
    /** Orders that are still to be carried out. */
    orders: readonly StepOrder[];
    learned?: ReadonlyMap<string, number> | undefined;
    /** Digest of a send's ID and this run's credential. */
    accountOf?: SendFacts['accountOf'];
    /** True while this run is the only one on this lock; checked before each create. */
    isAlone(): Promise<boolean>;
    emit(fact: RunFact): void;
  }) {
    const { totals, gate } = options;
    this.#isAlone = options.isAlone;
    this.#journal = new Journal(options.lock, options.file);
    this.#bodies = options.bodies;
    this.#gate = gate;
    this.#accountOf = options.accountOf;
    this.#emit = options.emit;
    this.#totals = totals;
    this.budget = new Budget({
      spentEver: totals.alreadyPaid,
      heldBefore: totals.held,
      lostBefore: totals.lostPrices,
      heldUnpriced: totals.heldUnpriced,
      total: totals.budget,
      run: totals.maxCredits,
      learned: options.learned,
    });
    this.ceiling = new AgreedCeiling(options);
    // Steps that wait for a price need not wait any more.
    gate.stopping.addEventListener('abort', () => this.budget.nudge(), { once: true });
  }

  /** The fold of everything recorded so far. */
  get lock(): Lock {
    return this.#journal.lock;
  }

  /** True once anything was recorded in this run. */
  get recorded(): boolean {
    return this.#journal.recorded;
  }

  async begin(order: StepOrder): Promise<Begin> {
    const known = this.#journal.purchasesOf(order);
    const job = known.find(({ jobId, forgotten }) => jobId !== undefined && forgotten !== true);
    const isOpen = known.some((purchase) => isOpenSend(purchase) && purchase.send === order.send?.id);
    // An order that asks about a send wants its own answer, whatever else is known of its key.
    if (job?.jobId !== undefined && !(order.asksOnly && isOpen)) {
      return { do: 'go', reserved: 0, job: { jobId: job.jobId, credits: 0 } };
    }
    const name = orderId(order);
    for (;;) {
      const { stopped } = this.#gate;
      if (stopped !== undefined) return { do: 'stop', because: stopped };
      const fits = this.ceiling.reserve(order);
      if (!isOpen && (this.#gate.holdsPrice(order) || !fits)) {
        this.#gate.tellHeld(order.price.class);
        this.ceiling.drop(name);
        return { do: 'stop', because: 'price' };
      }
      const answer = this.budget.reserve(name, order.price, { isSent: isOpen });
      if (answer.is === 'later') {
        await this.budget.changed();
        continue;
      }
      if (answer.is === 'over-budget') {
        this.ceiling.drop(name);
        this.#tellOverBudget(order);
        return { do: 'stop', because: 'budget' };
      }
      this.#announceCredits();
      if (!isOpen) return { do: 'go', reserved: answer.credits };
      const body = takeKeptBody(order.request, await this.#bodies.read(order.key));
      return { do: 'go', reserved: answer.credits, isOpen, body };
    }
  }

  async intent(order: StepOrder, request: IntendedRequest): Promise<string> {
    if (!(await this.#isAlone())) throw new GuardLostError();
    const hasLinks = findReferences(order.request).length > 0;
    if (hasLinks) await this.#durably(keepBody(this.#bodies, { key: order.key, body: request.body })); // I4
    const { resent } = request;
    const send = randomBytes(8).toString('hex');
    const facts = intentFacts(order, request, { send, account: this.#accountOf?.(send), hasLinks });
    // Another clone may resend the same one: each that leaves is a send of its own.
    await this.#record(order, facts, resent === undefined ? [] : [resent]);
    return send;
  }

  async created(order: StepOrder, job: CreatedJob, answered: AnsweredSend): ReturnType<Ledger['created']> {
    if (job.balance !== null) this.balance = job.balance;
    if (!this.#journal.claimJob(order, job.jobId)) return 'taken'; // I22
    const { credits, charged } = this.#charge(order, job);
    // Before others hear of it: the next step of a price that was not told finds it out, alone.
    const isTold = job.credits !== null && job.isListed !== true;
    const settle = () => this.budget.settle(orderId(order), charged, isTold);
    if (credits !== null) settle();
    const facts = runningFacts(order, job, credits);
    // Recorded before it is emitted: no listener may come between an ID and the disk.
    await this.#record(order, facts, this.#journal.closedBy(order, answered, this.#accountOf));
    if (credits === null) settle();
    this.#announceCredits();
    await this.#keepAnswered(order);
    return { credits };
  }

  /** `credits`: what counts, which is the reservation where nothing tells the charge. */
  #charge(order: StepOrder, job: CreatedJob): { credits: number | null; charged: number | null } {
    const fall = this.#gate.fallOfBalance(order, job.balance);
    const reserved = this.budget.reserved(orderId(order));
    const charged = chargeOf(job, { price: order.price, reserved, fall });
    this.estimates.note(order.price, charged);
    this.ceiling.charge(order, charged);
    return { credits: charged ?? reserved, charged };
  }

  async finish(order: StepOrder, result: StepResult): Promise<void> {
    switch (result.state) {
      case 'refused':
        this.budget.settle(orderId(order), 0);
        this.ceiling.drop(orderId(order));
        this.#announceCredits();
        await this.#record(order, { state: 'refused', error: result.error, ...what(order) }, [result.send]);
        await this.#keepAnswered(order);
        return;
      case 'unresolved':
        await this.#holdSends(order, result);
        return;
      case 'unsent':
        this.release(order);
        await this.#record(order, { state: 'intent', send: result.send, ...what(order) }, [result.send]);
        if (findReferences(order.request).length > 0) await this.#bodies.drop(order.key);
        return;
      case 'done':
        await this.#recordDone(order, result);
        return;
      case 'failed':
      case 'lost': {
        const { state, jobId, error } = result;
        const before = this.#journal.purchasesOf(order).find((one) => one.jobId === jobId);
        await this.#record(order, { state, jobId, ...creditsOf(order, before), error, ...what(order) });
        return;
      }
      default:
        result satisfies never;
    }
  }

  /** Every send under this key, whoever made it: the key is older than any of them, and so is the end of its replay. */
  async #holdSends(order: StepOrder, { error, send }: { error: string; send: string }): Promise<void> {
    const same = this.#journal.purchasesOf(order).filter((one) => isOpenSend(one) && isOwnSend(one, this.#accountOf));
    const open = same.map(sendOf);
    for (const id of new Set([send, ...open])) {
      await this.#record(order, { state: 'unresolved', send: id, error, ...what(order) }); // I38 (held)
    }
  }

  /** Only bodies that name another step's output are kept. */
  async #keepAnswered(order: StepOrder): Promise<void> {
    if (findReferences(order.request).length > 0) await this.#bodies.answered(order.key);
  }

  async firstBody(order: StepOrder): Promise<string | undefined> {
    return takeKeptBody(order.request, await readFirstBody(this.#bodies, order.key));
  }

  async #recordDone(order: StepOrder, result: Extract<StepResult, { state: 'done' }>): Promise<void> {
    const { jobId, outputs } = result;
    const before = this.#journal.purchasesOf(order).find((purchase) => purchase.jobId === jobId);
    const revision = nextRevision(before, outputs);
    const own = this.#journal.lock.steps.get(order.address)?.purchases.find((purchase) => purchase.jobId === jobId);
    if (revision === undefined && own?.state === 'done') return;
    await this.#record(order, doneFacts(order, result, { before, revision }));
  }

  release(order: StepOrder): void {
    this.budget.release(orderId(order));
    this.ceiling.drop(orderId(order));
    this.#announceCredits();
  }

  doubt(order: StepOrder): void {
    this.budget.doubt(orderId(order));
    this.ceiling.doubt(order);
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

  async keyOfJob(kind: string, jobId: string): Promise<string | undefined> {
    return this.#journal.keyOfJob(kind, jobId);
  }

  /** Reported once: a step did not fit. Cheaper ones may still. */
  overBudget = false;
  #tellOverBudget({ address, price }: StepOrder): void {
    if (this.overBudget) return;
    this.overBudget = true;
    this.#emit({ event: 'spending-stopped', because: 'budget', detail: this.budget.describeShortage(address, price) });
  }

  /** Records what people decided about steps of the lock. Their purchases stay as they are. */
  async decide(records: readonly StepRecord[]): Promise<void> {
    await this.#durably(Promise.all(records.map((record) => this.#journal.decide(record))));
  }

  #record(
    order: StepOrder,
    facts: Partial<Purchase> & Pick<Purchase, 'state'>,
    closes: readonly string[] = [],
  ): Promise<void> {
    return this.#durably(this.#journal.append(order, facts, closes));
  }

  async #durably(written: Promise<unknown>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.#isBroken = true;
      this.#gate.stop('disk', error instanceof Error ? error.message : String(error)); // I2
      throw error;
    }
  }

  #announceCredits(): void {
    const { spentNow, spentEver, held } = this.budget;
    this.#emit({
      event: 'credits-changed',
      ...{ spentNow, spentEver, held: held + this.#totals.held },
      budget: this.#totals.budget ?? null,
      balance: this.balance,
    });
  }
}
