import type { CreateAnswer } from '../contract/answer.ts';
import { elapsedOf } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { Departure, Ports } from '../contract/ports.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import { defined } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { type AskedSend, type StepOrder, withoutSend } from '../plan/plan.ts';
import { idempotencyKey } from '../plan/purchases/key.ts';
import { recoveryOf } from '../plan/purchases/next.ts';
import { canReplay, type Next, nextAfterCreate } from './outcome.ts';
import {
  type Bought,
  type Create,
  type Ended,
  giveUp,
  holdSend,
  msAhead,
  type Purchase,
  recordFound,
  recordJob,
  type Sent,
  unfound,
} from './record-job.ts';
import { digestOfBody, makeBody } from './references.ts';
import type { StepEnd } from './step-end.ts';

type Unsent = Exclude<Create, { is: 'searching' }>;

/**
 * Result of one try of a create request. `afterMs`: how long to wait before the next try, without occupying the gate.
 */
type Tried = ({ create: Create } | Ended) & { departure: Departure; afterMs?: number };

async function sendCreate(create: Unsent, purchase: Purchase): Promise<{ create: Create } | Ended> {
  const { order, ports, body } = purchase;
  const { gate, service, clock, signal } = ports;
  if (typeof body !== 'string') return { end: await leaveOff(create, purchase, body) };
  // Requesting a lost answer again pays for nothing new.
  const isAsked = create.is === 'sent' && service.replays(order.kind);
  if ((await gate.enter(order, { signal, isAsked })) === 'stop') {
    return { end: await leaveOff(create, purchase, { outcome: 'left', credits: 0 }) };
  }
  let tried: Tried | undefined;
  try {
    tried = await tryCreate(create, purchase, { body, isAsked });
  } finally {
    gate.leave(order, tried?.departure ?? { is: 'undecided' });
  }
  if (tried.afterMs !== undefined) await clock.sleep(tried.afterMs, signal);
  return tried;
}

async function tryCreate(
  create: Unsent,
  purchase: Purchase,
  { body, isAsked }: { body: string; isAsked: boolean },
): Promise<Tried> {
  const { order, ports } = purchase;
  const { service, clock } = ports;
  const replays = service.replays(order.kind);
  const ahead = await service.clockAheadMs({ fresh: isAsked });
  const at = clock.now() + msAhead(ahead);
  // A prompt, a long queue or a suspended machine may have used up the service's replay window for the key.
  if (create.is === 'sent' && !canReplay({ replays, ageMs: at - create.send.at })) {
    const error = 'the service no longer replays the answer to the create request';
    const end = giveUp(purchase, { error, recoverable: create.send.fence !== undefined });
    return { end, departure: { is: 'undecided' } };
  }
  purchase.tries += 1;
  const leftAt = elapsedOf(clock);
  const { answer, sent } =
    typeof ahead === 'number' ? await post(create, { ...purchase, body }, at) : unanswered(create, ahead.unreachable);
  const departure: Departure = { is: answer.is === 'accepted' ? 'accepted' : 'undecided' };
  const missed = answer.is === 'accepted' ? await takeJob(answer, create, purchase, { sent, at }) : answer;
  if ('end' in missed) return { ...missed, departure };
  const next = nextAfterCreate(missed, {
    replays,
    searches: sent?.fence !== undefined,
    maybeSent: create.is === 'sent' || create.is === 'made-nothing',
    tries: purchase.tries,
    ageMs: at - (sent?.at ?? at),
    elapsedMs: clock.now() - purchase.startedAt,
    patienceMs: ports.patienceMs,
  });
  const isUnknown = missed.is === 'ambiguous' || missed.is === 'in-progress';
  return act(next, { create, sent, at, leftAt, isUnknown, departure, purchase });
}

/** Records the job of an accepted request. If another request already has this job, returns an answer without a job. */
async function takeJob(
  { job: named, model, doubt }: Extract<CreateAnswer, { is: 'accepted' }>,
  create: Unsent,
  purchase: Purchase,
  { sent, at }: { sent: Sent | undefined; at: number },
): Promise<{ end: Bought } | { is: 'ambiguous' | 'known'; message: string }> {
  if (sent === undefined) throw new Error('internal error: an answer to what was not sent');
  // A replayed answer reports no charge, but the first request was charged, and its lost answer may have been the
  // only report.
  const job = create.is === 'sent' && named.credits === 0 ? { ...named, credits: null } : named; // I14 (again)
  const recorded = await recordJob(purchase, { job, send: sent, at, model, doubt });
  const { jobId } = job;
  if (recorded !== 'taken') return { end: { order: purchase.order, jobId, credits: recorded.credits, fresh: true } };
  const message = `the service answered with job ${jobId}, which belongs to another request`;
  return { is: doubt === undefined ? 'ambiguous' : 'known', message };
}

/** `leftAt`: when the request was sent, on the monotonic clock. */
interface Missed {
  create: Unsent;
  sent: Sent | undefined;
  at: number;
  leftAt: number;
  isUnknown: boolean;
  departure: Departure;
  purchase: Purchase;
}

async function act(next: Next, missed: Missed): Promise<Tried> {
  const { sent, at, departure, purchase } = missed;
  const { order, ports } = purchase;
  switch (next.do) {
    case 'look-up':
      return { create: lookUp(next.error, missed), departure };
    case 'again':
      return sendAgain(next, missed);
    case 'drop': {
      stopGate(next, ports);
      const end: StepEnd = { outcome: 'left', credits: 0, error: next.error };
      if (sent !== undefined) return { end: await takeBack(purchase, sent, end), departure };
      ports.ledger.release(order);
      return { end, departure };
    }
    case 'refuse':
    case 'hold': {
      if (sent === undefined) throw new Error('internal error: a refusal of what was not sent');
      if (next.do === 'refuse') return refuse(purchase, next, sent.id);
      if (await sendFirstBody(purchase)) {
        const send = { ...sent, keyError: next.error };
        return { create: { is: 'intended', send }, departure: { is: 'returning' } };
      }
      return { end: await holdSend(purchase, { error: next.error, send: sent.id }), departure };
    }
    case 'give-up': {
      const { error } = next;
      if (next.stop !== 'balance') stopGate(next, ports);
      const replays = ports.service.replays(order.kind);
      const recoverable =
        sent === undefined || recoveryOf({ fence: sent.fence, replays, ageMs: at - sent.at }) !== undefined;
      return {
        end: giveUp(purchase, { error, recoverable }),
        departure: next.stop === 'balance' ? { is: 'out-of-credits', error } : departure,
      };
    }
    default:
      return next satisfies never;
  }
}

function lookUp(error: string, { sent, leftAt, purchase }: Missed): Create {
  const { order, ports } = purchase;
  const { clock, emit, lost } = ports;
  if (sent?.fence === undefined) throw new Error('internal error: a look-up without a fence');
  emit({ event: 'create-searched', address: order.address, because: error });
  const { id, fence, resent } = sent;
  // The system clock may have been set since.
  const sentAt = clock.now() - (elapsedOf(clock) - leftAt);
  return {
    is: 'searching',
    send: { ...sent, because: error },
    found: lost.lookUp(order, { id, sentAt, fence, resent }),
  };
}

function sendAgain(next: Extract<Next, { do: 'again' }>, { create, sent, isUnknown, purchase }: Missed): Tried {
  const { because, throttled } = next;
  const { order, ports } = purchase;
  const afterMs = throttled ? next.afterMs : Math.round(next.afterMs * ports.clock.random());
  ports.emit({ event: 'create-repeated', address: order.address, because, afterMs, ...defined({ throttled }) });
  // Whether an earlier request may have been charged does not change, unless this one may have been.
  const is = isUnknown ? 'sent' : create.is === 'new' ? 'intended' : create.is;
  const again: Create = sent === undefined ? create : { is, send: { ...sent, because } };
  // After a throttled request, the gate makes all requests of the account wait.
  if (throttled) return { create: again, departure: { is: 'throttled', afterMs } };
  return { create: again, departure: { is: 'returning' }, afterMs };
}

function stopGate({ stop, error, waitMs }: Extract<Next, { do: 'drop' | 'give-up' }>, { gate, clock }: Ports): void {
  if (stop === undefined) return;
  gate.stop(stop, error, waitMs === undefined ? undefined : new Date(clock.now() + waitMs).toISOString());
}

/**
 * Takes the bytes that were first sent with this idempotency key, because the service replays its answer only for these
 * bytes.
 */
async function sendFirstBody(purchase: Purchase): Promise<boolean> {
  const first = await purchase.ports.ledger.firstBody(purchase.order);
  if (first === undefined || first === purchase.body) return false;
  purchase.body = first; // I20 (first)
  return true;
}

function unanswered(create: Unsent, message: string): { answer: CreateAnswer; sent?: Sent } {
  const answer = { is: 'not-sent', message } as const;
  return create.is === 'new' || create.is === 'made-nothing' ? { answer } : { answer, sent: create.send };
}

/**
 * Makes the create request durable, and then sends it. If `sent` is missing in the result, nothing was recorded or
 * sent.
 */
async function post(
  create: Unsent,
  purchase: Purchase & { body: string },
  at: number,
): Promise<{ answer: CreateAnswer; sent?: Sent }> {
  const { order, ports, body } = purchase;
  const call = { kind: order.kind, body, key: order.key };
  if (create.is === 'intended' || create.is === 'sent') {
    // An earlier run sent it, so the listeners of this run have no record of it.
    if (purchase.tries === 1) tellIntended(purchase);
    return { answer: await ports.service.create(call), sent: create.send };
  }
  const known = create.is === 'new' ? undefined : create.send;
  const fence = known?.fence ?? (await readFence(order.kind, ports));
  if (typeof fence === 'object') return { answer: fence };
  const sent = await intend(purchase, { at, known, fence });
  return { answer: await ports.service.create(call), sent };
}

/** If only the list can recover a lost answer, the create request is not sent while the list cannot be read. */
async function readFence(kind: string, { lost }: Ports): Promise<string | undefined | CreateAnswer> {
  if (kinds[kind]?.recovery !== 'list') return undefined;
  try {
    return await lost.fence(kind);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { is: 'not-sent', message: `the list of jobs cannot be read: ${error.message}` };
  }
}

async function intend(
  purchase: Purchase & { body: string },
  { at, known, fence }: { at: number; known: Sent | undefined; fence: string | undefined },
): Promise<Sent> {
  const { order, ports, body } = purchase;
  const replays = ports.service.replays(order.kind);
  const id = await ports.ledger.intent(order, { body, replays, at, fence, resent: known?.id }); // I2
  tellIntended(purchase);
  const because = known?.because ?? 'the answer to the create request was lost';
  return { id, at: known?.at ?? at, because, resent: known !== undefined, fence };
}

function tellIntended({ order, ports, reserved }: Purchase): void {
  ports.emit({ event: 'create-intended', address: order.address, key: order.key, reserved });
}

/**
 * Records that the service refused this idempotency key. If the key was refused before, the service may only have
 * replayed that refusal, so the next key is tried. Otherwise the refusal is final for this run.
 */
async function refuse(
  { order, ports }: Purchase,
  { error, because, stop }: Extract<Next, { do: 'refuse' }>,
  id: string,
): Promise<Tried> {
  const { gate, ledger, service } = ports;
  await ledger.finish(order, { state: 'refused', error, send: id });
  const end: StepEnd = { outcome: 'refused', credits: 0, error, ...defined({ because }) };
  const isOver: Tried = { end, departure: { is: 'undecided' } };
  if (stop !== undefined && stop !== 'balance') {
    gate.stop(stop, error);
    return isOver;
  }
  const rest = order.asksOnly ? order : withoutSend(order);
  const isWalked = service.replays(order.kind);
  const goOn = (next: StepOrder): Tried => ({ next, departure: { is: 'returning' } });
  if (isWalked && order.attempt <= order.refused) return goOn(underKey(rest, order.attempt + 1)); // I20 (repeated)
  if (stop !== 'balance') return isOver;
  if (gate.leave(order, { is: 'out-of-credits', error }) !== 'again') return isOver;
  return goOn(underKey({ ...rest, refused: isWalked ? order.attempt : order.refused }, 1)); // I20 (walk)
}

function underKey(order: StepOrder, attempt: number): StepOrder {
  const { campaign, fingerprint, repeat } = order;
  return { ...order, attempt, key: idempotencyKey({ campaign, fingerprint, repeat, attempt }) };
}

/**
 * Closes a create request that was not sent, or that was refused because of its idempotency key. If an earlier purchase
 * exists under the key, the request is held, so that the purchase is not lost.
 */
async function takeBack(purchase: Purchase, { id, keyError }: Sent, end: StepEnd): Promise<StepEnd> {
  if (keyError !== undefined) return holdSend(purchase, { error: keyError, send: id });
  await purchase.ports.ledger.finish(purchase.order, { state: 'unsent', send: id });
  return end;
}

async function leaveOff(create: Unsent, purchase: Purchase, end: StepEnd): Promise<StepEnd> {
  const { order, ports } = purchase;
  const { ledger, service, clock, signal } = ports;
  switch (create.is) {
    case 'new':
      ledger.release(order);
      return end;
    case 'intended':
      return takeBack(purchase, create.send, end);
    case 'sent':
    case 'made-nothing': {
      if (end.outcome !== 'left') {
        ledger.doubt(order);
        return end;
      }
      const { because, fence, at } = create.send;
      const error = signal.aborted
        ? 'interrupted before the answer arrived'
        : `${because}; nothing more is bought, so the request was not sent again`;
      const recovery = recoveryOf({ fence, replays: service.replays(order.kind), ageMs: clock.now() - at });
      return giveUp(purchase, { error, recoverable: recovery !== undefined });
    }
    default:
      return create satisfies never;
  }
}

/**
 * Buys a job: reserves the price, makes the intent durable, sends the request, makes the job ID durable. For an answer
 * without a job, `outcome.ts` decides what follows.
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

async function buyUnderKey(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<Ended> {
  const { ledger, clock, signal } = ports;
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
  let create = begin.open === undefined ? ({ is: 'new' } satisfies Create) : await resume(order, begin.open, ports);
  const made = begin.body ?? (await makeRequest(order, ports, absent));
  const body = create.is === 'sent' ? requireSame(made, begin.open) : made;
  const purchase = { order, ports, body, reserved: begin.reserved, startedAt: clock.now(), tries: 0 };
  for (;;) {
    const next = create.is === 'searching' ? await readList(create, purchase) : await sendCreate(create, purchase);
    if (!('create' in next)) return next;
    create = next.create;
  }
}

/** If the manifest no longer has a step, only the stored bytes contain its link. */
function makeRequest(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<string | StepEnd> {
  if (!order.asksOnly || findReferences(order.request).length === 0) return makeBody(order, ports, absent);
  const error = 'the answer to the create request was lost, and this machine does not have the links of the request';
  return Promise.resolve({ outcome: 'unresolved', credits: null, error });
}

/** After a lost answer, only the bytes that were first sent with the idempotency key may be sent. */
function requireSame(made: string | StepEnd, send: AskedSend | undefined): string | StepEnd {
  if (typeof made !== 'string' || send?.digest === undefined || digestOfBody(made) === send.digest) return made;
  const error =
    'the answer to the create request was lost, and the request contained other links, which only the sending machine has';
  return { outcome: 'unresolved', credits: null, error, recoverable: true };
}

/** Continues a create request that an earlier run, or another clone, has begun. */
async function resume(order: StepOrder, open: AskedSend, ports: Ports): Promise<Create> {
  const { id, since, fence, resent = false } = open;
  const send = {
    id,
    at: Date.parse(since),
    because: 'the answer to the create request was lost in an earlier run',
    resent,
    fence,
  };
  if (fence === undefined) return { is: 'sent', send };
  const ahead = await ports.service.clockAheadMs();
  // The time of the resend is not recorded; it was at the latest just before this run.
  const sentAt = resent ? ports.clock.now() : send.at - msAhead(ahead);
  return { is: 'searching', send, found: ports.lost.lookUp(order, { id, sentAt, fence, resent }) };
}

async function readList(
  { send, found }: Extract<Create, { is: 'searching' }>,
  purchase: Purchase,
): Promise<{ create: Create } | Ended> {
  const { order, ports } = purchase;
  const answer = await found;
  if (answer.do === 'adopt') return recordFound(answer.job, send, purchase);
  if (answer.do !== 'resend') return { end: giveUp(purchase, unfound(answer, send.because)) };
  if (!order.asksOnly) return { create: { is: 'made-nothing', send } };
  // The step no longer needs the job, so only the fact that it was not made is recorded.
  await ports.ledger.finish(order, { state: 'unsent', send: send.id });
  return { end: { outcome: 'done', credits: 0 } };
}
