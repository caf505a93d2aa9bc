import type { KeptBodies } from '../disk/kept-bodies.ts';
import type { LockFile } from '../disk/lock-file.ts';
import { findReferences } from '../graph/fingerprint.ts';
import type { Lock, Purchase } from '../lock/record.ts';
import { idempotencyKey } from '../plan/key.ts';
import type { PlanTotals, StepOrder } from '../plan/plan.ts';
import { repeatOf } from '../plan/repeat.ts';
import type { RunFact, StopReason } from '../run/event.ts';
import type { Begin, Clock, FinishedJob, IntendedRequest, Ledger, StepResult } from '../run/ports.ts';
import type { CreatedJob } from '../service/answer.ts';
import { Budget } from './budget.ts';
import { CreateTurns } from './create-turns.ts';
import { CreditWait } from './credit-wait.ts';
import { Journal } from './journal.ts';
import { creditsOf, nextRevision, sentAs, what } from './purchase-facts.ts';

/** Another run has taken the lock over, or somebody removed the guard: two runs would pay twice. */
export class GuardLostError extends Error {
  constructor() {
    super('this run no longer holds the lock (its guard in .mediabatch is gone or belongs to another run)');
    this.name = 'GuardLostError';
  }
}

/** The ledger as one process keeps it: the lock file is its journal, and nothing is true that is not in it. */
export class LocalLedger implements Ledger {
  readonly budget: Budget;
  readonly #journal: Journal;
  readonly #bodies: KeptBodies;
  readonly #clock: Clock;
  readonly #emit: (fact: RunFact) => void;
  readonly #totals: PlanTotals;
  readonly #isAlone: () => Promise<boolean>;
  readonly #creditWait: CreditWait;
  #stopped: StopReason | undefined;
  #balance: number | null = null;
  readonly #turns: CreateTurns;

  constructor(options: {
    lock: Lock;
    file: LockFile;
    bodies: KeptBodies;
    clock: Clock;
    totals: PlanTotals;
    /** Whether this run still is the only one on this lock; asked before each create. */
    isAlone(): Promise<boolean>;
    /** How long an empty account is waited for, in ms. Default: not at all. */
    creditWaitMs?: number;
    emit(fact: RunFact): void;
  }) {
    this.#isAlone = options.isAlone;
    this.#journal = new Journal(options.lock, options.file);
    this.#bodies = options.bodies;
    this.#clock = options.clock;
    this.#turns = new CreateTurns(options.clock);
    this.#emit = options.emit;
    this.#totals = options.totals;
    this.#creditWait = new CreditWait({ ...options, waitMs: options.creditWaitMs ?? 0 });
    this.budget = new Budget({
      spentEver: options.totals.alreadyPaid,
      heldBefore: options.totals.held,
      ...(options.totals.lostPrices !== undefined && { lostBefore: options.totals.lostPrices }),
      ...(options.totals.budget !== undefined && { total: options.totals.budget }),
      ...(options.totals.maxCredits !== undefined && { run: options.totals.maxCredits }),
    });
  }

  /** The fold of everything recorded so far. */
  get lock(): Lock {
    return this.#journal.lock;
  }

  /** Whether anything was recorded in this run. */
  get recorded(): boolean {
    return this.#journal.recorded;
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  get balance(): number | null {
    return this.#balance;
  }

  async begin(order: StepOrder): Promise<Begin> {
    const known = this.#journal.purchasesOf(order);
    const job = known.find(({ jobId }) => jobId !== undefined);
    if (job?.jobId !== undefined) return { do: 'go', reserved: 0, job: { jobId: job.jobId, credits: 0 } };
    for (;;) {
      if (this.#stopped !== undefined) return { do: 'stop', because: this.#stopped };
      const answer = this.budget.reserve(order.address, order.price);
      if (answer.is === 'later') {
        await this.budget.changed();
        continue;
      }
      if (answer.is === 'over-budget') {
        this.#announceStop('budget', `${order.address} does not fit into what is left`);
        return { do: 'stop', because: 'budget' };
      }
      this.#announceCredits();
      const intent = known.find(
        ({ state, fence }) => state === 'intent' || (state === 'unresolved' && fence !== undefined),
      );
      if (intent?.since === undefined) return { do: 'go', reserved: answer.credits };
      const body = await this.#bodies.read(order.key);
      return {
        do: 'go',
        reserved: answer.credits,
        intent: { since: intent.since, ...sentAs(intent), ...(body !== undefined && { body }) },
      };
    }
  }

  async intent(order: StepOrder, request: IntendedRequest): Promise<void> {
    if (!(await this.#isAlone())) throw new GuardLostError();
    if (findReferences(order.request).length > 0) await this.#bodies.keep(order.key, request.body);
    await this.#record(order, {
      state: request.replays ? 'intent' : 'unresolved',
      since: new Date(this.#clock.now()).toISOString(),
      ...sentAs(request),
      ...what(order),
    });
  }

  async created(order: StepOrder, job: CreatedJob): Promise<void> {
    if (job.balance !== null) this.#balance = job.balance;
    const credits = job.credits ?? this.budget.reserved(order.address);
    this.budget.settle(order.address, job.credits);
    // Recorded before it is told: nobody who listens may come between an id and the disk.
    await this.#record(order, {
      state: 'running',
      jobId: job.jobId,
      ...(credits !== null && { credits }),
      ...(job.recordId !== undefined && { recordId: job.recordId }),
      ...what(order),
    });
    this.#announceCredits();
    await this.#dropBody(order);
    this.#creditWait.accepted(order.address);
  }

  async finish(order: StepOrder, result: StepResult): Promise<void> {
    switch (result.state) {
      case 'refused':
        this.budget.settle(order.address, 0);
        this.#announceCredits();
        await this.#record(order, { state: 'refused', error: result.error, ...what(order) });
        await this.#dropBody(order);
        this.#creditWait.undecided(order.address);
        return;
      case 'done':
        await this.#recordDone(order, result);
        return;
      case 'failed':
      case 'lost': {
        const before = this.#journal.purchasesOf(order).find(({ jobId }) => jobId === result.jobId);
        await this.#record(order, {
          state: result.state,
          jobId: result.jobId,
          ...creditsOf(order, before),
          error: result.error,
          ...what(order),
        });
        return;
      }
      default:
        result satisfies never;
    }
  }

  /** Only a body that names another step's output was kept. */
  async #dropBody(order: StepOrder): Promise<void> {
    if (findReferences(order.request).length > 0) await this.#bodies.drop(order.key);
  }

  async #recordDone(order: StepOrder, result: Extract<StepResult, { state: 'done' }>): Promise<void> {
    const { jobId, outputs, url } = result;
    const before = this.#journal.purchasesOf(order).find((purchase) => purchase.jobId === jobId);
    const revision = nextRevision(before, outputs);
    const own = this.#journal.lock.steps.get(order.address)?.purchases.find((purchase) => purchase.jobId === jobId);
    if (revision === undefined && own?.state === 'done') return;
    const counted = revision ?? before?.revision ?? 0;
    const known = url ?? before?.url;
    await this.#record(order, {
      state: 'done',
      jobId,
      ...creditsOf(order, before),
      outputs,
      ...(before?.recordId !== undefined && { recordId: before.recordId }),
      ...(known !== undefined && { url: known }),
      ...(counted > 0 && { revision: counted }),
      ...what(order),
    });
  }

  release(order: StepOrder): void {
    this.budget.release(order.address);
    this.#creditWait.undecided(order.address);
    this.#announceCredits();
  }

  doubt(order: StepOrder): void {
    this.budget.doubt(order.address);
    this.#creditWait.undecided(order.address);
    this.#announceCredits();
  }

  stopSpending(because: StopReason, detail: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = because;
    this.#emit({ event: 'spending-stopped', because, detail });
    this.#creditWait.cancel();
    this.budget.nudge();
  }

  outOfCredits(order: StepOrder, error: string): 'again' | 'stop' {
    if (this.#stopped === undefined && this.#creditWait.refused(order.address, error) === 'waiting') return 'again';
    this.stopSpending('balance', error);
    return 'stop';
  }

  nextAttempt(order: StepOrder): StepOrder {
    const { campaign, fingerprint, address } = order;
    const attempt = order.attempt + 1;
    const repeat = repeatOf(this.#journal.lock.steps.get(address)?.purchases ?? [], order);
    return { ...order, attempt, key: idempotencyKey({ campaign, fingerprint, repeat, attempt }) };
  }

  async pace(order: StepOrder, options: { signal: AbortSignal; maybeSent: boolean }): Promise<'go' | 'stop'> {
    const { signal, maybeSent } = options;
    for (;;) {
      if (!maybeSent) {
        await this.#creditWait.admit(order.address, signal);
        if (this.#stopped !== undefined) return 'stop';
      }
      const isOff = () => !maybeSent && this.#holdsBack(order, signal);
      if ((await this.#turns.next(signal, isOff)) === 'came') return 'go';
    }
  }

  leaves({ address }: StepOrder, { maybeSent }: { maybeSent: boolean }): boolean {
    const isHeldBack = this.#stopped !== undefined || this.#creditWait.holdsBack(address) || this.#turns.isPaused;
    if (isHeldBack && !maybeSent) return false;
    this.#turns.left();
    return true;
  }

  /** Whether a create has to be left out, or to wait for credits. Once the signal is aborted nothing waits any more. */
  #holdsBack({ address }: StepOrder, signal: AbortSignal): boolean {
    return this.#stopped !== undefined || (!signal.aborted && this.#creditWait.holdsBack(address));
  }

  penalize(ms: number): void {
    this.#turns.penalize(ms);
  }

  async jobOf(address: string, fingerprint: string): Promise<FinishedJob | undefined> {
    return this.#journal.jobOf(address, fingerprint);
  }

  async keyOfJob(jobId: string): Promise<string | undefined> {
    return this.#journal.keyOfJob(jobId);
  }

  /** Told once: a step did not fit. Cheaper ones may still. */
  #overBudget = false;
  #announceStop(because: StopReason, detail: string): void {
    if (this.#overBudget) return;
    this.#overBudget = true;
    this.#emit({ event: 'spending-stopped', because, detail });
  }

  get overBudget(): boolean {
    return this.#overBudget;
  }

  async #record(order: StepOrder, facts: Partial<Purchase> & Pick<Purchase, 'state'>): Promise<void> {
    try {
      await this.#journal.append(order, facts);
    } catch (error) {
      this.stopSpending('disk', error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #announceCredits(): void {
    const { spentNow, spentEver, held } = this.budget;
    this.#emit({
      event: 'credits-changed',
      spentNow,
      spentEver,
      held: held + this.#totals.held,
      budget: this.#totals.budget ?? null,
      balance: this.#balance,
    });
  }
}
