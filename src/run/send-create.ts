import type { CreateAnswer, CreatedJob, ListedJob } from '../contract/answer.ts';
import { elapsedOf } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import { isDefect } from '../contract/failure.ts';
import type { Departure, LookUp, Ports } from '../contract/ports.ts';
import { defined, messageOf } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { type AskedSend, type StepOrder, withoutSend } from '../plan/plan.ts';
import { idempotencyKey } from '../plan/purchases/key.ts';
import { recoveryOf } from '../plan/purchases/next.ts';
import { canReplay, type Next, nextAfterCreate } from './outcome.ts';
import { makeBody, requireSame } from './references.ts';
import type { StepEnd } from './step-end.ts';

/** `order`: the order with the idempotency key that was used, which may be a later one than in the plan. */
export type Bought = { order: StepOrder; jobId: string; credits: number | null; fresh: boolean };

/**
 * Buys a job: reserves the price, makes the intent durable, sends the request, makes the job ID durable. After an
 * answer without a job, `outcome.ts` decides what follows.
 */
export async function buyJob(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string> = new Set(),
): Promise<Bought | StepEnd> {
  for (let current = order; ; ) {
    const bought = await buyUnderKey(current, ports, absent);
    if ('end' in bought) return bought.end;
    current = bought.next;
  }
}

type Ended = { end: Bought | StepEnd } | { next: StepOrder };

async function buyUnderKey(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<Ended> {
  const { ledger, signal } = ports;
  if (signal.aborted) return { end: { outcome: 'left', credits: 0 } };
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { end: { outcome: 'left', credits: 0 } };
  if (begin.job !== undefined) return { end: { order, ...begin.job, fresh: false } };
  if (order.asksOnly && begin.open === undefined) {
    ledger.release(order);
    return { end: { outcome: 'done', credits: 0 } };
  }
  if (begin.held !== undefined) {
    ledger.doubt(order);
    return { end: { outcome: 'unresolved', credits: null, error: begin.held } };
  }
  const create: Create = begin.open === undefined ? { is: 'new' } : await resume(order, begin.open, ports);
  const made = begin.body ?? (await makeBody(order, ports, absent));
  const body = create.is === 'sent' ? requireSame(made, begin.open) : made;
  return new Purchase(order, ports, { body, reserved: begin.reserved }).make(create);
}

/** Continues a create request that an earlier run, or another clone, has begun. */
async function resume(order: StepOrder, open: AskedSend, ports: Ports): Promise<Create> {
  const { id, since, fence, resent = false } = open;
  const because = 'the answer to the create request was lost in an earlier run';
  const send = { id, at: Date.parse(since), because, resent, fence };
  if (fence === undefined) return { is: 'sent', send };
  const ahead = await ports.service.clockAheadMs();
  // The lock does not contain the time at which a request was sent again, so the latest possible time counts.
  const sentAt = resent ? ports.clock.now() : send.at - msAhead(ahead);
  return { is: 'searching', send, found: ports.lost.lookUp(order, { id, sentAt, fence, resent }) };
}

function msAhead(ahead: number | { unreachable: string }): number {
  return typeof ahead === 'number' ? ahead : 0;
}

/** A create request in the lock. Times are in ms since 1970, by the service's clock. */
interface Sent {
  id: string;
  at: number;
  because: string;
  fence?: string | undefined;
  /** True if the request was sent again because the service's list showed that the first one made no job. */
  resent: boolean;
  /** Error that the service returned for this idempotency key, while the first bytes of the key are sent again. */
  keyError?: string;
}

/**
 * State of a create request. `intended`: durable in the lock, and certainly not received. `sent`: may have been
 * charged. `made-nothing`: the service's list has shown that it made no job.
 */
type Unsent = { is: 'new' } | { is: 'intended' | 'sent' | 'made-nothing'; send: Sent };
type Searching = { is: 'searching'; send: Sent; found: Promise<LookUp> };
type Create = Unsent | Searching;

/** Result of one try of a create request. `afterMs`: time in ms to wait outside the create gate before the next try. */
type AttemptResult = ({ create: Create } | Ended) & { departure: Departure; afterMs?: number };

/** `leftAt`: when the request was sent, on the monotonic clock. */
interface Missed {
  create: Unsent;
  sent: Sent | undefined;
  at: number;
  leftAt: number;
  isUnknown: boolean;
  departure: Departure;
}

/** One purchase under one idempotency key. */
class Purchase {
  readonly #order: StepOrder;
  readonly #ports: Ports;
  /** The bytes to send or, if the body cannot be made, the end of the step. */
  #body: string | StepEnd;
  readonly #reserved: number | null;
  /** In ms since 1970, by the local clock. */
  readonly #startedAt: number;
  #tries = 0;

  constructor(order: StepOrder, ports: Ports, { body, reserved }: { body: string | StepEnd; reserved: number | null }) {
    this.#order = order;
    this.#ports = ports;
    this.#body = body;
    this.#reserved = reserved;
    this.#startedAt = ports.clock.now();
  }

  async make(first: Create): Promise<Ended> {
    for (let create = first; ; ) {
      const next = create.is === 'searching' ? await this.#readList(create) : await this.#send(create);
      if (!('create' in next)) return next;
      create = next.create;
    }
  }

  get #replays(): boolean {
    return this.#ports.service.replays(this.#order.kind);
  }

  async #send(create: Unsent): Promise<{ create: Create } | Ended> {
    const { gate, clock, signal } = this.#ports;
    const body = this.#body;
    if (typeof body !== 'string') return { end: await this.#stopSending(create, body) };
    // A repeated request for a lost answer buys nothing new.
    const isAsked = create.is === 'sent' && this.#replays;
    if ((await gate.enter(this.#order, { signal, isAsked })) === 'stop') {
      return { end: await this.#stopSending(create, { outcome: 'left', credits: 0 }) };
    }
    let tried: AttemptResult | undefined;
    try {
      tried = await this.#try(create, body, isAsked);
    } finally {
      gate.leave(this.#order, tried?.departure ?? { is: 'undecided' });
    }
    if (tried.afterMs !== undefined) await clock.sleep(tried.afterMs, signal);
    return tried;
  }

  async #try(create: Unsent, body: string, isAsked: boolean): Promise<AttemptResult> {
    const { service, clock, patienceMs } = this.#ports;
    const replays = this.#replays;
    const ahead = await service.clockAheadMs({ fresh: isAsked });
    const at = clock.now() + msAhead(ahead);
    // The run may have waited for a user, a slot or a suspended machine until the service's replay window ended.
    if (create.is === 'sent' && !canReplay({ replays, ageMs: at - create.send.at })) {
      const error = 'the service no longer replays the answer to the create request';
      const end = this.#leaveOpen(error, create.send.fence !== undefined);
      return { end, departure: { is: 'undecided' } };
    }
    this.#tries += 1;
    const leftAt = elapsedOf(clock);
    const { answer, sent } =
      typeof ahead === 'number' ? await this.#post(create, body, at) : unanswered(create, ahead.unreachable);
    const departure: Departure = { is: answer.is === 'accepted' ? 'accepted' : 'undecided' };
    const missed = answer.is === 'accepted' ? await this.#recordJob(answer, create, { sent, at }) : answer;
    if ('end' in missed) return { ...missed, departure };
    const next = nextAfterCreate(missed, {
      replays,
      searches: sent?.fence !== undefined,
      maybeSent: create.is === 'sent' || create.is === 'made-nothing',
      tries: this.#tries,
      ageMs: at - (sent?.at ?? at),
      elapsedMs: clock.now() - this.#startedAt,
      patienceMs,
    });
    const isUnknown = missed.is === 'ambiguous' || missed.is === 'in-progress';
    return this.#act(next, { create, sent, at, leftAt, isUnknown, departure });
  }

  /**
   * Makes the create request durable, and then sends it. A result without `sent` means that nothing was recorded or
   * sent.
   */
  async #post(create: Unsent, body: string, at: number): Promise<{ answer: CreateAnswer; sent?: Sent }> {
    const { service } = this.#ports;
    const { kind, key } = this.#order;
    if (create.is === 'intended' || create.is === 'sent') {
      // An earlier run sent the request, so the listeners of this run have had no event about it.
      if (this.#tries === 1) this.#reportIntended();
      return { answer: await service.create({ kind, body, key }), sent: create.send };
    }
    const known = create.is === 'new' ? undefined : create.send;
    const fence = known?.fence ?? (await readFence(kind, this.#ports));
    if (typeof fence === 'object') return { answer: fence };
    const intent = { body, replays: this.#replays, at, fence, resent: known?.id };
    const id = await this.#ports.ledger.intent(this.#order, intent); // I2
    this.#reportIntended();
    const because = known?.because ?? 'the answer to the create request was lost';
    const sent = { id, at: known?.at ?? at, because, resent: known !== undefined, fence };
    return { answer: await service.create({ kind, body, key }), sent };
  }

  #reportIntended(): void {
    const { address, key } = this.#order;
    this.#ports.emit({ event: 'create-intended', address, key, reserved: this.#reserved });
  }

  /** Records the job of an accepted request. If another request already has this job, returns an answer without a job. */
  async #recordJob(
    { job: named, model, doubt }: Extract<CreateAnswer, { is: 'accepted' }>,
    create: Unsent,
    { sent, at }: { sent: Sent | undefined; at: number },
  ): Promise<{ end: Bought } | { is: 'ambiguous' | 'known'; message: string }> {
    if (sent === undefined) throw new Error('internal error: an answer to a create request that was not sent');
    // A replayed answer reports no charge, but the first request may have been charged, and its answer was lost.
    const job = create.is === 'sent' && named.credits === 0 ? { ...named, credits: null } : named; // I14 (again)
    const recorded = await this.#record({ job, send: sent, at, model, doubt });
    const { jobId } = job;
    if (recorded !== 'taken') return { end: { order: this.#order, jobId, credits: recorded.credits, fresh: true } };
    const message = `the service answered with job ${jobId}, which belongs to another request`;
    return { is: doubt === undefined ? 'ambiguous' : 'known', message };
  }

  async #act(next: Next, missed: Missed): Promise<AttemptResult> {
    const { create, sent, at, departure } = missed;
    switch (next.do) {
      case 'look-up':
        return { create: this.#lookUp(next.error, missed), departure };
      case 'again':
        return this.#sendAgain(next, missed);
      case 'drop': {
        this.#stopGate(next);
        const end: StepEnd = { outcome: 'left', credits: 0, error: next.error };
        if (sent !== undefined) return { end: await this.#withdraw(sent, end), departure };
        this.#ports.ledger.release(this.#order);
        return { end, departure };
      }
      case 'refuse':
      case 'hold': {
        if (sent === undefined) throw new Error('internal error: a refusal of a create request that was not sent');
        if (next.do === 'refuse') return this.#refuse(next, sent.id);
        if (await this.#sendFirstBody()) {
          const send = { ...sent, keyError: next.error };
          // The request may have waited long at the gate, so checks the age of a key that was sent before again.
          return { create: { is: create.is === 'sent' ? 'sent' : 'intended', send }, departure: { is: 'returning' } };
        }
        return { end: await this.#hold(next.error, sent.id), departure };
      }
      case 'give-up': {
        const { error } = next;
        if (next.stop !== 'balance') this.#stopGate(next);
        const end = this.#leaveOpen(error, sent === undefined || this.#isRecoverable(sent, at));
        return { end, departure: next.stop === 'balance' ? { is: 'out-of-credits', error } : departure };
      }
      default:
        return next satisfies never;
    }
  }

  #isRecoverable({ fence, at: sentAt }: Sent, now: number): boolean {
    return recoveryOf({ fence, replays: this.#replays, ageMs: now - sentAt }) !== undefined;
  }

  #lookUp(error: string, { sent, leftAt }: Missed): Searching {
    const { clock, emit, lost } = this.#ports;
    if (sent?.fence === undefined) throw new Error('internal error: a search for a create request without a fence');
    emit({ event: 'create-searched', address: this.#order.address, because: error });
    const { id, fence, resent } = sent;
    // Uses the monotonic clock, because a user may have set the system clock after the request was sent.
    const sentAt = clock.now() - (elapsedOf(clock) - leftAt);
    const found = lost.lookUp(this.#order, { id, sentAt, fence, resent });
    return { is: 'searching', send: { ...sent, because: error }, found };
  }

  #sendAgain(next: Extract<Next, { do: 'again' }>, { create, sent, isUnknown }: Missed): AttemptResult {
    const { because, throttled } = next;
    const { clock, emit } = this.#ports;
    const afterMs = throttled ? next.afterMs : Math.round(next.afterMs * clock.random());
    emit({ event: 'create-repeated', address: this.#order.address, because, afterMs, ...defined({ throttled }) });
    // Even if this request was certainly not charged, an earlier one with the same key may have been charged.
    const is = isUnknown ? 'sent' : create.is === 'new' ? 'intended' : create.is;
    const again: Create = sent === undefined ? create : { is, send: { ...sent, because } };
    // After a throttled request, the gate makes all requests of the account wait.
    if (throttled) return { create: again, departure: { is: 'throttled', afterMs } };
    return { create: again, departure: { is: 'returning' }, afterMs };
  }

  #stopGate({ stop, error, waitMs }: Extract<Next, { do: 'drop' | 'give-up' }>): void {
    if (stop === undefined) return;
    const { gate, clock } = this.#ports;
    gate.stop(stop, error, waitMs === undefined ? undefined : new Date(clock.now() + waitMs).toISOString());
  }

  /**
   * Restores the bytes that were first sent with this idempotency key, because the service replays an answer only for
   * those. Returns false if no other bytes are stored.
   */
  async #sendFirstBody(): Promise<boolean> {
    const first = await this.#ports.ledger.firstBody(this.#order);
    if (first === undefined || first === this.#body) return false;
    this.#body = first; // I20 (first)
    return true;
  }

  /**
   * Records that the service refused this idempotency key. If the key was refused before, the service may have replayed
   * the earlier refusal, so the next key is tried. A first refusal is final for this run.
   */
  async #refuse({ error, because, stop }: Extract<Next, { do: 'refuse' }>, id: string): Promise<AttemptResult> {
    const { gate, ledger } = this.#ports;
    const order = this.#order;
    await ledger.finish(order, { state: 'refused', error, send: id });
    const end: StepEnd = { outcome: 'refused', credits: 0, error, ...defined({ because }) };
    const isOver: AttemptResult = { end, departure: { is: 'undecided' } };
    if (stop !== undefined && stop !== 'balance') {
      gate.stop(stop, error);
      return isOver;
    }
    const rest = order.asksOnly ? order : withoutSend(order);
    const isWalked = this.#replays;
    const goOn = (next: StepOrder): AttemptResult => ({ next, departure: { is: 'returning' } });
    if (isWalked && order.attempt <= order.refused) return goOn(underKey(rest, order.attempt + 1)); // I20 (repeated)
    if (stop !== 'balance') return isOver;
    if (gate.leave(order, { is: 'out-of-credits', error }) !== 'again') return isOver;
    return goOn(underKey({ ...rest, refused: isWalked ? order.attempt : order.refused }, 1)); // I20 (walk)
  }

  /** Ends a step whose run sends no further create request. A request that may have been charged stays open. */
  async #stopSending(create: Unsent, end: StepEnd): Promise<StepEnd> {
    const { ledger, clock, signal } = this.#ports;
    switch (create.is) {
      case 'new':
        ledger.release(this.#order);
        return end;
      case 'intended':
        return this.#withdraw(create.send, end);
      case 'sent':
      case 'made-nothing': {
        if (end.outcome !== 'left') {
          ledger.doubt(this.#order);
          return end;
        }
        const error = signal.aborted
          ? 'interrupted before the answer arrived'
          : `${create.send.because}; nothing more is bought, so the request was not sent again`;
        return this.#leaveOpen(error, this.#isRecoverable(create.send, clock.now()));
      }
      default:
        return create satisfies never;
    }
  }

  /**
   * Closes a create request that was not sent, or that was refused because of its idempotency key. If the service
   * refused the key because a job exists for it, marks the request as unresolved, so that the job is not lost.
   */
  async #withdraw({ id, keyError }: Sent, end: StepEnd): Promise<StepEnd> {
    if (keyError !== undefined) return this.#hold(keyError, id);
    await this.#ports.ledger.finish(this.#order, { state: 'unsent', send: id });
    return end;
  }

  /** Ends a step whose create request may have been charged. The request stays open. */
  #leaveOpen(error: string, recoverable: boolean): StepEnd {
    this.#ports.ledger.doubt(this.#order);
    return { outcome: 'unresolved', credits: null, error, ...(recoverable && { recoverable }) };
  }

  /** Records that a charged create request must not be sent again. Only a user can find the job of the request. */
  async #hold(error: string, send: string): Promise<StepEnd> {
    await this.#ports.ledger.finish(this.#order, { state: 'unresolved', error, send });
    return { ...this.#leaveOpen(error, false), because: 'key-known' };
  }

  async #readList({ send, found }: Searching): Promise<{ create: Create } | Ended> {
    const answer = await found;
    if (answer.do === 'adopt') return { end: await this.#adopt(answer.job, send) };
    if (answer.do !== 'resend') {
      return { end: this.#leaveOpen(`${send.because}; ${describeUnfound(answer)}`, answer.do !== 'hold') };
    }
    if (!this.#order.asksOnly) return { create: { is: 'made-nothing', send } };
    // No step needs the job of this create request, so the run only records that it made no job.
    await this.#ports.ledger.finish(this.#order, { state: 'unsent', send: send.id });
    return { end: { outcome: 'done', credits: 0 } };
  }

  /**
   * Records the job that was found in the service's list for a lost create request. A charge of 0 in the list counts as
   * unknown, because the service may not have booked the charge yet.
   */
  async #adopt({ jobId, recordId, model, credits }: ListedJob, send: Sent): Promise<Bought | StepEnd> {
    const { emit, service, clock } = this.#ports;
    const order = this.#order;
    const job = { jobId, credits: credits || null, isListed: true as const, balance: null, ...defined({ recordId }) };
    emit({ event: 'job-found', address: order.address, jobId });
    const ahead = await service.clockAheadMs();
    const recorded = await this.#record({ job, send, at: clock.now() + msAhead(ahead), model });
    if (recorded !== 'taken') return { order, jobId, credits: recorded.credits, fresh: false };
    return this.#leaveOpen(`${send.because}; the list shows job ${jobId}, which belongs to another request`, false);
  }

  /**
   * Records a job. If the ledger cannot record the job, reports its ID and still saves its outputs: the job is paid.
   */
  async #record(made: {
    job: CreatedJob;
    send: Sent;
    at: number;
    model?: string | undefined;
    doubt?: string | undefined;
  }): Promise<{ credits: number | null } | 'taken'> {
    const { ledger, gate, emit } = this.#ports;
    const order = this.#order;
    const { address, price } = order;
    const { jobId, balance } = made.job; // I3 (reported)
    const notice = (message: string) => emit({ event: 'noticed', address, message });
    let { credits } = made.job;
    try {
      const answered = { id: made.send.id, replays: this.#replays, at: made.at };
      const recorded = await ledger.created(order, made.job, answered);
      if (recorded === 'taken') return 'taken'; // I3 (id)
      credits = recorded.credits;
    } catch (error) {
      const message = messageOf(error);
      const isOurs = isDefect(error);
      if (!isOurs) gate.stop('disk', message);
      notice(`job ${jobId} was created for ${address} and could not be recorded (${message}); keep this line`);
      // After a defect of mediabatch, the other steps continue, and this step ends as its lock record says.
      if (isOurs) throw error;
    }
    if (made.doubt !== undefined) {
      notice(
        `the service refused the create request (${made.doubt}) but named job ${jobId}, which is recorded for this step`,
      );
    }
    // If the service reports no charge for a free step, the charge is 0.
    credits ??= price.credits === 0 ? 0 : null;
    if (order.asksOnly) return { credits };
    emit({ event: 'job-created', address, jobId, credits, balance, ...defined({ model: made.model }) });
    return { credits };
  }
}

function unanswered(create: Unsent, message: string): { answer: CreateAnswer; sent?: Sent } {
  const answer = { is: 'not-sent', message } as const;
  return create.is === 'new' || create.is === 'made-nothing' ? { answer } : { answer, sent: create.send };
}

/** Reads the fence. While the list is unreadable, the run sends no create request that needs a fence. */
async function readFence(kind: string, { lost }: Ports): Promise<string | undefined | CreateAnswer> {
  if (kinds[kind]?.recovery !== 'list') return undefined;
  try {
    return await lost.fence(kind);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const message = `the list of jobs cannot be read: ${error.message}`;
    if (error.status === 429) return { is: 'throttled', afterMs: error.retryAfterMs ?? null, message };
    return { is: 'not-sent', message };
  }
}

function underKey(order: StepOrder, attempt: number): StepOrder {
  const { campaign, fingerprint, repeat } = order;
  return { ...order, attempt, key: idempotencyKey({ campaign, fingerprint, repeat, attempt }) };
}

const mostCandidates = 3;

function describeUnfound(found: Exclude<LookUp, { do: 'adopt' | 'resend' }>): string {
  switch (found.do) {
    case 'stop':
      return 'interrupted before the list was read';
    case 'held':
      return 'the job was not searched for (--on-unknown hold)';
    case 'unread':
      return `the list could not be read (${found.error})`;
    case 'hold': {
      const ids = found.candidates.slice(0, mostCandidates).map(({ jobId }) => jobId);
      const more = found.candidates.length > ids.length ? ` and ${found.candidates.length - ids.length} more` : '';
      return `${found.error}${ids.length === 0 ? '' : `; the job may be ${ids.join(', ')}${more}`}`;
    }
    default:
      return found satisfies never;
  }
}
