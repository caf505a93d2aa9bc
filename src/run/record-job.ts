import type { CreatedJob } from '../contract/answer.ts';
import { isDefect } from '../contract/failure.ts';
import type { ListedJob } from '../contract/listed-job.ts';
import type { LookUp } from '../contract/ports.ts';
import { messageOf } from '../ground/values.ts';
import { type Ended, msAhead, type Purchase, type Sent } from './purchase.ts';
import type { StepEnd } from './step-end.ts';

/** Number of job IDs named when only a person can tell which it is. */
const mostCandidates = 3;

/** Gives up a send that may have been charged, when this cannot be found out now. It stays open on record. */
export function giveUp(
  { order, ports }: Purchase,
  { error, recoverable }: { error: string; recoverable: boolean },
): StepEnd {
  ports.ledger.doubt(order);
  return { outcome: 'unresolved', credits: null, error, ...(recoverable && { recoverable }) };
}

/** Holds a send that was charged: a person says which job it is. That nobody sends it again is on record. */
export async function holdSend(purchase: Purchase, { error, send }: { error: string; send: string }): Promise<StepEnd> {
  const { order, ports } = purchase;
  await ports.ledger.finish(order, { state: 'unresolved', error, send });
  return giveUp(purchase, { error, recoverable: false });
}

/** Message about a create on which the list is inconclusive. */
export function unfound(
  found: Exclude<LookUp, { do: 'adopt' | 'resend' }>,
  because: string,
): { error: string; recoverable: boolean } {
  if (found.do === 'stop') return { error: `${because}; interrupted before the list was read`, recoverable: true };
  if (found.do === 'held') return { error: `${because}; not searched for (--on-unknown hold)`, recoverable: true };
  if (found.do === 'unread') {
    return { error: `${because}; the list could not be read (${found.error})`, recoverable: true };
  }
  const ids = found.candidates.slice(0, mostCandidates).map(({ jobId }) => jobId);
  const more = found.candidates.length > ids.length ? ` and ${found.candidates.length - ids.length} more` : '';
  const which = ids.length === 0 ? '' : `; it may be ${ids.join(', ')}${more}`;
  return { error: `${because}; ${found.error}${which}`, recoverable: false };
}

/** Records a job that was made after all, as the list shows. A charge of zero there may be one not booked yet. */
export async function recordFound(found: ListedJob, send: Sent, purchase: Purchase): Promise<Ended> {
  const { order, ports } = purchase;
  const { jobId, recordId, model } = found;
  const credits = found.credits === undefined || found.credits === 0 ? null : found.credits;
  const job = { jobId, credits, isListed: true as const, balance: null, ...(recordId !== undefined && { recordId }) };
  ports.emit({ event: 'job-found', address: order.address, jobId });
  const ahead = await ports.service.clockAheadMs();
  const at = ports.clock.now() + msAhead(ahead);
  const recorded = await recordJob(purchase, { job, send, at, model });
  if (recorded !== 'taken') return { end: { order, jobId, credits: recorded.credits, fresh: false } };
  const error = `${send.because}; the list shows job ${jobId}, which belongs to another request`;
  return { end: giveUp(purchase, { error, recoverable: false }) };
}

/** Records a job. The ID is worth money: if the ledger fails, it is at least reported, and the job still collected. */
export async function recordJob(
  { order, ports }: Purchase,
  made: { job: CreatedJob; send: Sent; at: number; model?: string | undefined; doubt?: string | undefined },
): Promise<{ credits: number | null } | 'taken'> {
  const { ledger, gate, service, emit } = ports;
  const { jobId, balance } = made.job; // I3 (told)
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
    // The others go on: what is on record of this one decides how it ends.
    if (isOurs) throw error;
  }
  if (made.doubt !== undefined) {
    const message = `the service refused it (${made.doubt}) and names job ${jobId}, which is taken for its own`;
    emit({ event: 'noticed', address: order.address, message });
  }
  if (order.asksOnly) return { credits };
  emit({
    event: 'job-created',
    address: order.address,
    jobId,
    // A step known to be free is not “of unknown price” because nobody says 0.
    credits: credits ?? (order.price.credits === 0 ? 0 : null),
    balance,
    ...(made.model !== undefined && { model: made.model }),
  });
  return { credits };
}
