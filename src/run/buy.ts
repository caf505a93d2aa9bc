import type { StepOrder } from '../plan/plan.ts';
import type { CreateAnswer, CreatedJob } from '../service/answer.ts';
import { makeBody } from './job-links.ts';
import { type CreateSituation, canReplay, nextAfterCreate } from './outcome.ts';
import type { Ports } from './ports.ts';
import type { StepEnd } from './step-end.ts';

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
  const { ledger, service, clock, signal, emit } = ports;
  if (signal.aborted) return { outcome: 'left', credits: 0 };
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { outcome: 'left', credits: 0 };
  if (begin.job !== undefined) return { order, ...begin.job, fresh: false };

  const replays = service.replays(order.kind);
  const made = begin.intent?.body ?? (await makeBody(order, ports, absent));
  if (typeof made !== 'string') {
    if (begin.intent === undefined) ledger.release(order);
    else ledger.doubt(order);
    return made;
  }
  const body = made;
  const startedAt = clock.now();
  const firstSentAt = begin.intent === undefined ? startedAt : Date.parse(begin.intent.since);
  let maybeSent = begin.intent !== undefined;
  let recorded = begin.intent !== undefined;

  for (let tries = 1; ; tries += 1) {
    const pace = await ledger.pace(order, { signal, maybeSent });
    if (signal.aborted || (pace === 'stop' && !maybeSent)) {
      if (maybeSent) {
        const error = 'interrupted before its answer was known';
        return settle(order, ports, { do: 'give-up', error, recoverable: replays });
      }
      if (recorded) await ledger.finish(order, { state: 'refused', error: 'given up before it was accepted' });
      else ledger.release(order);
      return { outcome: 'left', credits: 0 };
    }
    if (!recorded) {
      await ledger.intent(order, { body, replays });
      recorded = true;
      emit({ event: 'create-intended', address: order.address, key: order.key, reserved: begin.reserved });
    }
    // A prompt, a long queue or a suspended machine may have taken the time in which the service still replays the key.
    if (maybeSent && !canReplay({ replays, ageMs: clock.now() - firstSentAt })) {
      const error = 'the time in which its answer could be asked for again has passed';
      return settle(order, ports, { do: 'give-up', error, recoverable: false });
    }
    const answer = await checkJob(await service.create({ kind: order.kind, body, key: order.key }), order, ports);
    if (answer.is === 'accepted') {
      await recordJob(order, ports, answer);
      return { order, jobId: answer.job.jobId, credits: answer.job.credits, fresh: true };
    }
    const situation: CreateSituation = {
      replays,
      maybeSent,
      tries,
      ageMs: clock.now() - firstSentAt,
      elapsedMs: clock.now() - startedAt,
    };
    const next = nextAfterCreate(answer, situation);
    if (answer.is === 'ambiguous' || answer.is === 'in-progress') maybeSent = true;
    if (next.do === 'again') {
      const afterMs = next.throttled ? next.afterMs : Math.round(next.afterMs * clock.random());
      emit({ event: 'create-repeated', address: order.address, because: next.because, afterMs });
      if (next.throttled) ledger.penalize(afterMs);
      else await clock.sleep(afterMs, signal);
      continue;
    }
    const isAgain = next.stop === 'balance' && ledger.outOfCredits(order, next.error) === 'again';
    if (next.stop !== undefined && next.stop !== 'balance') ledger.stopSpending(next.stop, next.error);
    const end = await settle(order, ports, { ...next, recoverable: canReplay(situation) });
    return isAgain && next.do === 'refuse' ? 'again' : end;
  }
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
