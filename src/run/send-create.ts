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

async function sendCreate(
  create: Exclude<Create, { is: 'searching' }>,
  purchase: Purchase,
): Promise<{ create: Create } | Ended> {
  const { order, ports, body } = purchase;
  const { gate, service, clock, signal } = ports;
  if (typeof body !== 'string') return { end: await leaveOff(create, purchase, body) };
  const replays = service.replays(order.kind);
  // Requesting a lost answer again pays for nothing new.
  const isAsked = create.is === 'sent' && replays;
  if ((await gate.enter(order, { signal, isAsked })) === 'stop') {
    return { end: await leaveOff(create, purchase, { outcome: 'left', credits: 0 }) };
  }
  let departure: Departure = { is: 'undecided' };
  try {
    const ahead = await service.clockAheadMs({ fresh: isAsked });
    const at = clock.now() + msAhead(ahead);
    // A prompt, a long queue or a suspended machine may have used up the service's replay window for the key.
    if (create.is === 'sent' && !canReplay({ replays, ageMs: at - create.send.at })) {
      const error = 'the service no longer replays its answer';
      return { end: giveUp(purchase, { error, recoverable: create.send.fence !== undefined }) };
    }
    purchase.tries += 1;
    const leftAt = elapsedOf(clock);
    const { answer, sent } =
      typeof ahead === 'number' ? await post(create, { ...purchase, body }, at) : unanswered(create, ahead.unreachable);
    let missed: Exclude<CreateAnswer, { is: 'accepted' }>;
    if (answer.is === 'accepted' && sent !== undefined) {
      departure = { is: 'accepted' };
      const { model, doubt } = answer;
      // A replayed answer reports no charge, but the first request was charged, and its lost answer may have been the
      // only report.
      const job = create.is === 'sent' && answer.job.credits === 0 ? { ...answer.job, credits: null } : answer.job; // I14 (again)
      const recorded = await recordJob(purchase, { job, send: sent, at, model, doubt });
      if (recorded !== 'taken') return { end: { order, jobId: job.jobId, credits: recorded.credits, fresh: true } };
      const message = `the service answered with job ${job.jobId}, which belongs to another request`;
      missed = { is: doubt === undefined ? 'ambiguous' : 'known', message };
    } else missed = answer as typeof missed;
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
    switch (next.do) {
      case 'look-up': {
        if (sent?.fence === undefined) throw new Error('internal error: a look-up without a fence');
        ports.emit({ event: 'create-searched', address: order.address, because: next.error });
        const { id, fence, resent } = sent;
        // The system clock may have been set since.
        const sentAt = clock.now() - (elapsedOf(clock) - leftAt);
        const found = ports.lost.lookUp(order, { id, sentAt, fence, resent });
        return { create: { is: 'searching', send: { ...sent, because: next.error }, found } };
      }
      case 'again': {
        const afterMs = next.throttled ? next.afterMs : Math.round(next.afterMs * clock.random());
        ports.emit({
          event: 'create-repeated',
          address: order.address,
          because: next.because,
          afterMs,
          ...defined({ throttled: next.throttled }),
        });
        gate.leave(order, next.throttled ? { is: 'throttled', afterMs } : { is: 'returning' });
        departure = { is: 'returning' };
        if (!next.throttled) await clock.sleep(afterMs, signal);
        if (sent === undefined) return { create };
        // Whether an earlier request may have been charged does not change, unless this one may have been.
        const is = isUnknown ? 'sent' : create.is === 'new' ? 'intended' : create.is;
        return { create: { is, send: { ...sent, because: next.because } } };
      }
      case 'drop':
        stopGate(next, ports);
        if (sent === undefined) ports.ledger.release(order);
        else return { end: await takeBack(purchase, sent, { outcome: 'left', credits: 0, error: next.error }) };
        return { end: { outcome: 'left', credits: 0, error: next.error } };
      case 'refuse':
      case 'hold':
        if (sent === undefined) throw new Error('internal error: a refusal of what was not sent');
        if (next.do === 'refuse') {
          return await refuse(purchase, next, { id: sent.id, departAs: (how) => (departure = how) });
        }
        if (await sendFirstBody(purchase)) {
          departure = { is: 'returning' };
          return { create: { is: 'intended', send: { ...sent, keyError: next.error } } };
        }
        return { end: await holdSend(purchase, { error: next.error, send: sent.id }) };
      case 'give-up': {
        if (next.stop === 'balance') departure = { is: 'out-of-credits', error: next.error };
        else stopGate(next, ports);
        const recoverable =
          sent === undefined || recoveryOf({ fence: sent.fence, replays, ageMs: at - sent.at }) !== undefined;
        return { end: giveUp(purchase, { error: next.error, recoverable }) };
      }
      default:
        return next satisfies never;
    }
  } finally {
    gate.leave(order, departure);
  }
}

function stopGate({ stop, error, waitMs }: Extract<Next, { do: 'drop' | 'give-up' }>, { gate, clock }: Ports): void {
  if (stop === undefined) return;
  gate.stop(stop, error, waitMs === undefined ? undefined : new Date(clock.now() + waitMs).toISOString());
}

/** Switches back to the first bytes sent with this idempotency key, because they return the same answer again. */
async function sendFirstBody(purchase: Purchase): Promise<boolean> {
  const first = await purchase.ports.ledger.firstBody(purchase.order);
  if (first === undefined || first === purchase.body) return false;
  purchase.body = first; // I20 (first)
  return true;
}

/** Answer used when no request is sent: nothing paid is sent to a service that has not answered anything yet. */
function unanswered(
  create: Exclude<Create, { is: 'searching' }>,
  message: string,
): { answer: CreateAnswer; sent?: Sent } {
  const answer = { is: 'not-sent', message } as const;
  return create.is === 'new' || create.is === 'made-nothing' ? { answer } : { answer, sent: create.send };
}

/**
 * Makes the create request durable, and then sends it. Without `sent` in the result, nothing was recorded and nothing
 * left.
 */
async function post(
  create: Exclude<Create, { is: 'searching' }>,
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

/**
 * Returns the newest job of the list. A create request that only the list can recover is not sent while the list cannot
 * be read.
 */
async function readFence(kind: string, { lost }: Ports): Promise<string | undefined | CreateAnswer> {
  if (kinds[kind]?.recovery !== 'list') return undefined;
  try {
    return await lost.fence(kind);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { is: 'not-sent', message: `the list that would show its job cannot be read: ${error.message}` };
  }
}

async function intend(
  purchase: Purchase & { body: string },
  { at, known, fence }: { at: number; known: Sent | undefined; fence: string | undefined },
): Promise<Sent> {
  const { order, ports, body } = purchase;
  const { ledger, service } = ports;
  const fenced = fence === undefined ? {} : { fence };
  const replays = service.replays(order.kind);
  const again = known === undefined ? {} : { resent: known.id };
  const id = await ledger.intent(order, { body, replays, at, ...fenced, ...again }); // I2
  tellIntended(purchase);
  const because = known?.because ?? 'its answer was lost';
  return { id, at: known?.at ?? at, because, resent: known !== undefined, ...fenced };
}

function tellIntended({ order, ports, reserved }: Purchase): void {
  ports.emit({ event: 'create-intended', address: order.address, key: order.key, reserved });
}

/**
 * Records that the service refused this idempotency key. If the key was refused before, the service may only have
 * replayed that answer, so the next key is tried. If it was not, the refusal is final for this run.
 */
async function refuse(
  { order, ports }: Purchase,
  next: Extract<Next, { do: 'refuse' }>,
  { id, departAs }: { id: string; departAs(how: Departure): void },
): Promise<Ended> {
  const { gate, ledger, service } = ports;
  const { error, because } = next;
  await ledger.finish(order, { state: 'refused', error, send: id });
  const end: StepEnd = { outcome: 'refused', credits: 0, error, ...defined({ because }) };
  if (next.stop !== undefined && next.stop !== 'balance') {
    gate.stop(next.stop, error);
    return { end };
  }
  const rest = order.asksOnly ? order : withoutSend(order);
  const isWalked = service.replays(order.kind);
  // I20 (repeated)
  if (isWalked && order.attempt <= order.refused) {
    departAs({ is: 'returning' });
    return { next: underKey(rest, order.attempt + 1) };
  }
  if (next.stop !== 'balance') return { end };
  departAs({ is: 'returning' });
  if (gate.leave(order, { is: 'out-of-credits', error }) !== 'again') return { end };
  return { next: underKey({ ...rest, refused: isWalked ? order.attempt : order.refused }, 1) }; // I20 (walk)
}

function underKey(order: StepOrder, attempt: number): StepOrder {
  const { campaign, fingerprint, repeat } = order;
  return { ...order, attempt, key: idempotencyKey({ campaign, fingerprint, repeat, attempt }) };
}

/**
 * Closes a create request that never left, or that was refused because of its idempotency key. If the key has an
 * earlier purchase, the request is held, so that the purchase is not forgotten.
 */
async function takeBack(purchase: Purchase, { id, keyError }: Sent, end: StepEnd): Promise<StepEnd> {
  if (keyError !== undefined) return holdSend(purchase, { error: keyError, send: id });
  await purchase.ports.ledger.finish(purchase.order, { state: 'unsent', send: id });
  return end;
}

async function leaveOff(
  create: Exclude<Create, { is: 'searching' }>,
  purchase: Purchase,
  end: StepEnd,
): Promise<StepEnd> {
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
        ? 'interrupted before its answer was known'
        : `${because}; nothing more is bought, so it was not sent again`;
      const recovery = recoveryOf({ fence, replays: service.replays(order.kind), ageMs: clock.now() - at });
      return giveUp(purchase, { error, recoverable: recovery !== undefined });
    }
    default:
      return create satisfies never;
  }
}

/**
 * Buys a job in the only valid order: reserve the price, make the intent durable, send the request once, make the job
 * ID durable. One table (outcome.ts) decides what any answer without a job means.
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

/** Makes the bytes of a request. A link whose step is no longer in the manifest exists only in the stored bytes. */
function makeRequest(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<string | StepEnd> {
  if (!order.asksOnly || findReferences(order.request).length === 0) return makeBody(order, ports, absent);
  const error = 'its answer was lost, and the links in its request are not known on this machine';
  return Promise.resolve({ outcome: 'unresolved', credits: null, error });
}

/** Requires the original bytes of an idempotency key whose answer was lost: nothing else may be sent under it. */
function requireSame(made: string | StepEnd, send: AskedSend | undefined): string | StepEnd {
  if (typeof made !== 'string' || send?.digest === undefined || digestOfBody(made) === send.digest) return made;
  const error = 'its answer was lost, and its request contained other links, which only the machine that sent it has';
  return { outcome: 'unresolved', credits: null, error, recoverable: true };
}

/** Continues a create request that an earlier run, or another clone, has begun. */
async function resume(order: StepOrder, open: AskedSend, ports: Ports): Promise<Create> {
  const { id, since, fence, resent = false } = open;
  const send = {
    id,
    at: Date.parse(since),
    because: 'its answer was lost in an earlier run',
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
