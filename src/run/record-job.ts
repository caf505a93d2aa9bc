import type { CreatedJob, ListedJob } from '../contract/answer.ts';
import { isDefect } from '../contract/failure.ts';
import type { LookUp, Ports } from '../contract/ports.ts';
import { defined, messageOf } from '../ground/values.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from './step-end.ts';

const mostCandidates = 3;

/** Ends a step whose create request may have been charged. The request stays open. */
export function giveUp(
  { order, ports }: Purchase,
  { error, recoverable }: { error: string; recoverable: boolean },
): StepEnd {
  ports.ledger.doubt(order);
  return { outcome: 'unresolved', credits: null, error, ...(recoverable && { recoverable }) };
}

/** Records that a charged create request must not be sent again. Only a user can tell which job it made. */
export async function holdSend(purchase: Purchase, { error, send }: { error: string; send: string }): Promise<StepEnd> {
  const { order, ports } = purchase;
  await ports.ledger.finish(order, { state: 'unresolved', error, send });
  return { ...giveUp(purchase, { error, recoverable: false }), because: 'key-known' };
}

export function unfound(
  found: Exclude<LookUp, { do: 'adopt' | 'resend' }>,
  because: string,
): { error: string; recoverable: boolean } {
  if (found.do === 'stop') return { error: `${because}; interrupted before the list was read`, recoverable: true };
  if (found.do === 'held')
    return { error: `${because}; the job was not searched for (--on-unknown hold)`, recoverable: true };
  if (found.do === 'unread') {
    return { error: `${because}; the list could not be read (${found.error})`, recoverable: true };
  }
  const ids = found.candidates.slice(0, mostCandidates).map(({ jobId }) => jobId);
  const more = found.candidates.length > ids.length ? ` and ${found.candidates.length - ids.length} more` : '';
  const which = ids.length === 0 ? '' : `; the job may be ${ids.join(', ')}${more}`;
  return { error: `${because}; ${found.error}${which}`, recoverable: false };
}

/**
 * Records a listed job for a lost create request. A listed charge of 0 counts as unknown, because the service may not
 * have booked the charge yet.
 */
export async function recordFound(found: ListedJob, send: Sent, purchase: Purchase): Promise<Ended> {
  const { order, ports } = purchase;
  const { jobId, recordId, model } = found;
  const credits = found.credits === undefined || found.credits === 0 ? null : found.credits;
  const job = { jobId, credits, isListed: true as const, balance: null, ...defined({ recordId }) };
  ports.emit({ event: 'job-found', address: order.address, jobId });
  const ahead = await ports.service.clockAheadMs();
  const at = ports.clock.now() + msAhead(ahead);
  const recorded = await recordJob(purchase, { job, send, at, model });
  if (recorded !== 'taken') return { end: { order, jobId, credits: recorded.credits, fresh: false } };
  const error = `${send.because}; the list shows job ${jobId}, which belongs to another request`;
  return { end: giveUp(purchase, { error, recoverable: false }) };
}

/**
 * Records a job. If the ledger cannot record the job, the ID is reported and the job is still collected, because it is
 * paid.
 */
export async function recordJob(
  { order, ports }: Purchase,
  made: { job: CreatedJob; send: Sent; at: number; model?: string | undefined; doubt?: string | undefined },
): Promise<{ credits: number | null } | 'taken'> {
  const { ledger, gate, service, emit } = ports;
  const { jobId, balance } = made.job; // I3 (reported)
  let { credits } = made.job;
  try {
    const answered = { id: made.send.id, replays: service.replays(order.kind), at: made.at };
    const recorded = await ledger.created(order, made.job, answered);
    if (recorded === 'taken') return 'taken'; // I3 (id)
    credits = recorded.credits;
  } catch (error) {
    const message = messageOf(error);
    const isOurs = isDefect(error);
    if (!isOurs) gate.stop('disk', message);
    emit({
      event: 'noticed',
      address: order.address,
      message: `job ${jobId} was created for ${order.address} and could not be recorded (${message}); keep this line`,
    });
    // The other steps continue: the record of this step decides how it ends.
    if (isOurs) throw error;
  }
  if (made.doubt !== undefined) {
    const message = `the service refused the create request (${made.doubt}) but named job ${jobId}, which is recorded for this step`;
    emit({ event: 'noticed', address: order.address, message });
  }
  // A step known to be free is not “of unknown price” only because the service does not report 0.
  credits ??= order.price.credits === 0 ? 0 : null;
  if (order.asksOnly) return { credits };
  emit({ event: 'job-created', address: order.address, jobId, credits, balance, ...defined({ model: made.model }) });
  return { credits };
}

/** `order`: the order as it was bought. Its idempotency key may be a later one than the plan has. */
export type Bought = { order: StepOrder; jobId: string; credits: number | null; fresh: boolean };

/** A recorded create request. Times are in ms since 1970, by the service's clock. */
export interface Sent {
  id: string;
  at: number;
  because: string;
  fence?: string | undefined;
  /** True if the request was sent again because the list showed that the first request made no job. */
  resent: boolean;
  /** Error that the service returned for this idempotency key, while the first bytes of the key are sent again. */
  keyError?: string;
}

/**
 * `intended`: durable, and certainly not received. `sent`: may have been charged. `searching`: the list is being read.
 * `made-nothing`: the list has shown that no job was made.
 */
export type Create =
  | { is: 'new' }
  | { is: 'intended' | 'sent' | 'made-nothing'; send: Sent }
  | { is: 'searching'; send: Sent; found: Promise<LookUp> };

export type Ended = { end: Bought | StepEnd } | { next: StepOrder };

export interface Purchase {
  order: StepOrder;
  ports: Ports;
  /** The bytes to send. If they cannot be made, the end of the step. */
  body: string | StepEnd;
  reserved: number | null;
  /** In ms since 1970, by the local clock. */
  startedAt: number;
  tries: number;
}

export function msAhead(ahead: number | { unreachable: string }): number {
  return typeof ahead === 'number' ? ahead : 0;
}
