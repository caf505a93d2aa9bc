import { kinds } from '../kinds/index.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { CreateAnswer, CreatedJob } from '../service/answer.ts';
import type { ListedJob } from '../service/read-listed.ts';
import { makeBody } from './job-links.ts';
import { type CreateSituation, canReplay, nextAfterCreate } from './outcome.ts';
import type { LookUp, Ports } from './ports.ts';
import type { StepEnd } from './step-end.ts';

/** Ids of jobs that are named when nobody but a person can tell which it is. */
const mostCandidates = 3;

/** `order`: what was bought in the end, which may be a later attempt than the plan's. */
type Bought = { order: StepOrder; jobId: string; credits: number | null; fresh: boolean };

/**
 * The paid act, in its only order: the price is reserved, the intent is durable, the request leaves once, the job id is
 * durable. What an answer other than a job means is decided by one table (outcome.ts).
 */
export async function buyJob(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string> = new Set(),
): Promise<Bought | StepEnd> {
  for (let current = order; ; current = ports.ledger.nextAttempt(current)) {
    const bought = await buyOnce(current, ports, absent);
    if (bought !== 'again') return bought;
  }
}

/** `again`: refused for want of credits, recorded as such, and the account may be filled up while this run waits. */
async function buyOnce(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string>,
): Promise<Bought | StepEnd | 'again'> {
  const { ledger, service, lost, clock, signal, emit } = ports;
  if (signal.aborted) return { outcome: 'left', credits: 0 };
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { outcome: 'left', credits: 0 };
  if (begin.job !== undefined) return { order, ...begin.job, fresh: false };

  const { intent } = begin;
  const replays = service.replays(order.kind);
  const listed = kinds[order.kind]?.recovery === 'list';
  let { fence, resent } = intent ?? {};
  const startedAt = clock.now();
  const firstSentAt = intent === undefined ? startedAt : Date.parse(intent.since);
  let searching =
    intent === undefined || fence === undefined
      ? undefined
      : // When it was sent again is not on record: at the latest just before this run.
        lost.lookUp(order, { sentAt: resent ? startedAt : firstSentAt, fence, resent: resent === true });
  let because = 'its answer was lost in an earlier run';

  const made = intent?.body ?? (await makeBody(order, ports, absent));
  if (typeof made !== 'string' && searching === undefined) {
    if (intent === undefined) ledger.release(order);
    else ledger.doubt(order);
    return made;
  }
  let maybeSent = intent !== undefined;
  let recorded = intent !== undefined;

  for (let tries = 1; ; tries += 1) {
    if (searching !== undefined) {
      const found = await searching;
      searching = undefined;
      if (found.do === 'adopt') return recordFound(order, ports, found.job);
      if (found.do !== 'resend') return settle(order, ports, { do: 'give-up', ...unfound(found, because) });
      resent = true;
      recorded = false;
    }
    if (typeof made !== 'string') {
      ledger.doubt(order);
      return made;
    }
    const body = made;
    const { pace, leave } = await takeTurn(order, ports, maybeSent && replays);
    try {
      if (signal.aborted || (pace === 'stop' && !(maybeSent && replays))) {
        if (maybeSent) {
          const error = signal.aborted
            ? 'interrupted before its answer was known'
            : `${because}; nothing more is bought, so it was not sent again`;
          return await settle(order, ports, { do: 'give-up', error, recoverable: replays || fence !== undefined });
        }
        if (recorded) await ledger.finish(order, { state: 'refused', error: 'given up before it was accepted' });
        else ledger.release(order);
        return { outcome: 'left', credits: 0 };
      }
      if (!recorded) {
        if (listed) fence ??= await lost.fence(order.kind);
        await ledger.intent(order, { body, replays, ...(fence !== undefined && { fence }), ...(resent && { resent }) });
        recorded = true;
        emit({ event: 'create-intended', address: order.address, key: order.key, reserved: begin.reserved });
      }
      // A prompt, a long queue or a suspended machine may have taken the time in which the service still replays the key.
      if (maybeSent && !resent && !canReplay({ replays, ageMs: clock.now() - firstSentAt })) {
        const error = 'the time in which its answer could be asked for again has passed';
        return await settle(order, ports, { do: 'give-up', error, recoverable: false });
      }
      const sentAt = clock.now();
      const answer = await checkJob(await service.create({ kind: order.kind, body, key: order.key }), order, ports);
      if (answer.is === 'accepted') {
        await recordJob(order, ports, answer);
        return { order, jobId: answer.job.jobId, credits: answer.job.credits, fresh: true };
      }
      const situation: CreateSituation = {
        replays,
        searches: fence !== undefined,
        maybeSent,
        tries,
        ageMs: clock.now() - firstSentAt,
        elapsedMs: clock.now() - startedAt,
      };
      const next = nextAfterCreate(answer, situation);
      if (answer.is === 'ambiguous' || answer.is === 'in-progress') maybeSent = true;
      if (next.do === 'look-up') {
        if (fence === undefined) throw new Error('internal error: a look-up without a fence');
        because = next.error;
        emit({ event: 'create-searched', address: order.address, because });
        searching = lost.lookUp(order, { sentAt, fence, resent: resent === true });
        continue;
      }
      if (next.do === 'again') {
        const afterMs = next.throttled ? next.afterMs : Math.round(next.afterMs * clock.random());
        emit({ event: 'create-repeated', address: order.address, because: next.because, afterMs });
        leave();
        if (next.throttled) ledger.penalize(afterMs);
        else await clock.sleep(afterMs, signal);
        continue;
      }
      const isAgain = next.stop === 'balance' && ledger.outOfCredits(order, next.error) === 'again';
      if (next.stop !== undefined && next.stop !== 'balance') ledger.stopSpending(next.stop, next.error);
      const recoverable = canReplay(situation) || situation.searches;
      const end = await settle(order, ports, { ...next, recoverable });
      return isAgain && next.do === 'refuse' ? 'again' : end;
    } finally {
      leave();
    }
  }
}

/** Waits until this create may leave. What was allowed before it waited for its place on the wire may not be any more. */
async function takeTurn(
  order: StepOrder,
  { ledger, lost, signal }: Ports,
  maybeSent: boolean,
): Promise<{ pace: 'go' | 'stop'; leave(): void }> {
  for (;;) {
    const pace = await ledger.pace(order, { signal, maybeSent });
    const leave = await lost.admit(order.kind);
    if (pace === 'stop' || signal.aborted || ledger.leaves(order, { maybeSent })) return { pace, leave };
    leave();
  }
}

/** What to say of a create that the list did not tell about. */
function unfound(
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

/** It was made after all: the list shows it. */
async function recordFound(order: StepOrder, ports: Ports, found: ListedJob): Promise<Bought> {
  const { jobId, recordId, credits = null, model } = found;
  const job = { jobId, credits, balance: null, ...(recordId !== undefined && { recordId }) };
  ports.emit({ event: 'job-found', address: order.address, jobId });
  await recordJob(order, ports, { job, ...(model !== undefined && { model }) });
  return { order, jobId, credits, fresh: false };
}

/** An id that is on record for another purchase cannot be this one's: whatever was charged, its job is not known. */
async function checkJob(answer: CreateAnswer, order: StepOrder, { ledger }: Ports): Promise<CreateAnswer> {
  if (answer.is !== 'accepted') return answer;
  const key = await ledger.keyOfJob(answer.job.jobId);
  if (key === undefined || key === order.key) return answer;
  return {
    is: 'ambiguous',
    message: `the service answered with job ${answer.job.jobId}, which belongs to another request`,
  };
}

async function settle(
  order: StepOrder,
  { ledger }: Ports,
  next: { do: 'refuse' | 'drop' | 'give-up'; error: string; recoverable: boolean },
): Promise<StepEnd> {
  switch (next.do) {
    case 'refuse':
      await ledger.finish(order, { state: 'refused', error: next.error });
      return { outcome: 'refused', credits: 0, error: next.error };
    case 'drop':
      await ledger.finish(order, { state: 'refused', error: `never sent: ${next.error}` });
      return { outcome: 'left', credits: 0, error: next.error };
    case 'give-up':
      ledger.doubt(order);
      return {
        outcome: 'unresolved',
        credits: null,
        error: next.error,
        ...(next.recoverable && { recoverable: true }),
      };
    default:
      return next.do satisfies never;
  }
}

/** The id is worth money: should the ledger fail now, it is at least said aloud, and the job is still collected. */
async function recordJob(
  order: StepOrder,
  { ledger, emit }: Ports,
  answer: { job: CreatedJob; model?: string },
): Promise<void> {
  const { jobId, credits, balance } = answer.job;
  try {
    await ledger.created(order, answer.job);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    ledger.stopSpending('disk', message);
    emit({
      event: 'noticed',
      address: order.address,
      message: `job ${jobId} was created for ${order.address} and could not be recorded (${message}); keep this line`,
    });
  }
  emit({
    event: 'job-created',
    address: order.address,
    jobId,
    // What is free by all that is known is not “of unknown price” because nobody says 0.
    credits: credits ?? (order.price.credits === 0 ? 0 : null),
    balance,
    ...(answer.model !== undefined && { model: answer.model }),
  });
}
