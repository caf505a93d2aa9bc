/*
 * One step, from its create request to its saved file.
 * Takes: an order of the plan, and ports.
 * Returns: how the step ended, or a finished job whose files `saveJob` saves. The record of each paid act is durable before the act (I2, I3).
 * Independent of: other steps, slots, budgets, concurrency. Whether a request may be sent again is decided by `outcome.ts` after an answer, by `plan/purchases/next.ts` from the lock.
 */

import type { JobResult } from '../contract/answer.ts';
import { isDefect } from '../contract/failure.ts';
import type { Ports, UploadOrder } from '../contract/ports.ts';
import type { Json } from '../ground/json.ts';
import { mapOf, messageOf } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { isOpenSend } from '../lock/sends.ts';
import type { Carry, StepOrder } from '../plan/plan.ts';
import { idempotencyKey } from '../plan/purchases/key.ts';
import { costOfAnother, recoveryOf, whyNotAgain } from '../plan/purchases/next.ts';
import { describeMissingPart, findMissingPart, type PartCondition } from '../plan/situation/parts.ts';
import { emptiesList, fillRequest } from './references.ts';
import { moveOutputs, recordOutputs, saveOutputs } from './save.ts';
import { type Bought, buyJob } from './send-create.ts';
import { type StepEnd, stopFor } from './step-end.ts';

/** A finished job whose files are to be saved. `spent`: credits charged in this run; `null`: unknown. */
interface UnsavedJob {
  order: StepOrder;
  jobId: string;
  result: JobResult;
  spent: number | null;
}

/**
 * Executes one step until its files can be saved. A later run can repeat the step after any interruption: the ledger
 * contains every fact that the step needs, and every new fact is durable before an act that relies on it.
 *
 * @param urgency returns a factor of the polling rate: 1 for a job without dependents, more if steps or other jobs wait
 */
export async function runStep(order: StepOrder, ports: Ports, urgency: () => number): Promise<StepEnd | UnsavedJob> {
  if (order.asksOnly) return askAboutSend(order, ports);
  const moved = await moveOutputs(order, ports);
  if (moved !== undefined) return moved;
  const need =
    order.jobId === undefined ? await findNeed(order, ports) : { is: 'needed' as const, absent: new Set<string>() };
  if (need.is === 'unneeded') return { outcome: 'unneeded', credits: 0, error: need.because };
  const { act } = requireKind(order.kind);
  switch (act) {
    case 'job':
      return makeMedia(order, ports, { urgency, absent: need.absent });
    case 'upload':
      return uploadFile(order, ports);
    case 'post':
      return sendPost(order, ports, need.absent);
    default:
      return act satisfies never;
  }
}

export async function saveJob({ order, jobId, result, spent }: UnsavedJob, ports: Ports): Promise<StepEnd> {
  return { ...(await saveOutputs(order, ports, { jobId, result })), credits: spent };
}

async function askAboutSend(order: StepOrder, ports: Ports): Promise<StepEnd> {
  const { address, key } = order;
  ports.emit({ event: 'send-asked', address, key });
  const bought = await buyJob(order, ports);
  const end: StepEnd = 'outcome' in bought ? bought : { outcome: 'done', credits: bought.credits };
  settleSend(order, ports, end, 'jobId' in bought ? { jobId: bought.jobId } : {});
  return end;
}

function settleSend(order: StepOrder, ports: Ports, end: StepEnd, job: { jobId?: string } = {}): void {
  const { address, key } = order;
  const { outcome, credits, error } = end;
  ports.emit({ event: 'send-settled', address, key, outcome, credits, ...job, ...(error !== undefined && { error }) });
}

/** Buys a job and polls it. If the job fails and `retry:` allows another job, buys another job. */
async function makeMedia(
  first: StepOrder,
  ports: Ports,
  context: { urgency: () => number; absent: ReadonlySet<string> },
): Promise<StepEnd | UnsavedJob> {
  const { urgency, absent } = context;
  let spent: number | null = 0;
  let charged: number | null = null;
  for (let order = first; ; ) {
    const bought = await findOrBuyJob(order, ports, absent);
    if ('outcome' in bought) {
      // The step's credits include the charge for the earlier job, even if no other job was bought.
      return { ...bought, credits: addCredits(spent, bought.credits) };
    }
    const { jobId, fresh } = bought;
    order = bought.order;
    charged = bought.credits === 0 ? (first.credits ?? null) : bought.credits;
    spent = addCredits(spent, bought.credits);
    const end = await watchStep(order, ports, { jobId, fresh, urgency });
    switch (end.is) {
      case 'completed':
        return { order, jobId, result: end.result, spent };
      case 'lost':
      case 'failed': {
        await ports.ledger.finish(order, { state: end.is, jobId, error: end.error });
        const mayFollow = end.is === 'failed' && !ports.signal.aborted && ports.mayRetry?.(order, end.error) !== false;
        const next = mayFollow ? nextOrder(order, { error: end.error, charged }) : undefined;
        if (next === undefined) return { outcome: end.is, credits: spent, error: end.error };
        ports.emit({
          event: 'job-retried',
          address: order.address,
          jobId,
          error: end.error,
          left: next.retries?.left ?? 0,
        });
        order = next;
        break;
      }
      case 'unwatched':
        stopFor(end, ports);
        return { outcome: 'running', credits: spent, error: end.error };
      default:
        return end satisfies never;
    }
  }
}

function watchStep(order: StepOrder, ports: Ports, job: { jobId: string; fresh: boolean; urgency: () => number }) {
  const { address, kind, timeoutMs } = order;
  const { jobId, fresh, urgency } = job;
  const { model } = order.paidRequest;
  return ports.service.watch(
    { kind, jobId, ...(typeof model === 'string' && { model }) },
    {
      signal: ports.signal,
      fresh,
      urgency,
      patienceMs: timeoutMs,
      onStatus: (status) => ports.emit({ event: 'job-progressed', address, jobId, status }),
      notice: (message) => ports.emit({ event: 'noticed', address, message }),
    },
  );
}

/** Sends a post if its order is marked as approved. Does not wait until the post is published. */
async function sendPost(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<StepEnd> {
  const leaves = order.jobId === undefined && order.sharesJobOf === undefined;
  // I24
  if (leaves && order.publish !== true)
    return { outcome: 'left', credits: 0, error: 'no user approved publishing this post' };
  const bought = await findOrBuyJob(order, ports, absent);
  if ('outcome' in bought) return bought;
  await recordOutputs(bought.order, ports, { jobId: bought.jobId, outputs: [], how: 'downloaded' });
  return { outcome: 'done', credits: bought.credits };
}

async function findOrBuyJob(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<Bought | StepEnd> {
  if (order.jobId !== undefined) return { order, jobId: order.jobId, credits: 0, fresh: false };
  if (order.sharesJobOf === undefined) return buyJob(order, ports, absent);
  const shared = await ports.ledger.jobOf(order.sharesJobOf, order.fingerprint);
  if (shared !== undefined) return { order, jobId: shared.jobId, credits: 0, fresh: false };
  return { outcome: 'blocked', credits: 0, error: `${order.sharesJobOf} has no job to share` };
}

export function addCredits(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** `absent`: steps that do not exist, to which lists in the request refer. */
type Need = { is: 'needed'; absent: ReadonlySet<string> } | { is: 'unneeded'; because: string };

async function findNeed(order: StepOrder, { ledger }: Pick<Ports, 'ledger'>): Promise<Need> {
  const optional = Object.entries(order.optional ?? {});
  const conditions = [...(order.parts ?? []), ...optional.flatMap(([, list]) => list)];
  if (conditions.length === 0) return { is: 'needed', absent: new Set() };
  const counts = new Map<string, number>();
  const nameOf = ({ of, fingerprint }: Pick<PartCondition, 'of' | 'fingerprint'>) => `${of} ${fingerprint}`;
  for (const condition of conditions) {
    const job = await ledger.jobOf(condition.of, condition.fingerprint);
    if (job !== undefined) counts.set(nameOf(condition), job.files);
  }
  const count = (of: string, fingerprint: string) => counts.get(nameOf({ of, fingerprint }));
  const missing = findMissingPart(order.parts, count);
  if (missing !== undefined) {
    return { is: 'unneeded', because: describeMissingPart(missing) };
  }
  const absent = new Set(
    optional.filter(([, list]) => findMissingPart(list, count) !== undefined).map(([address]) => address),
  );
  if (emptiesList(order.request, absent)) return { is: 'unneeded', because: 'a list that the step uses is empty' };
  return { is: 'needed', absent };
}

/**
 * Returns the end of a step that a defect of mediabatch interrupted. An open create request of the step may have been
 * charged. Returns `undefined` for any other exception, or if the ledger itself failed.
 */
export function endBroken(order: StepOrder, ports: Ports, error: unknown): StepEnd | undefined {
  if (ports.signal.aborted || !isDefect(error)) return undefined; // I26 (step)
  const left = ports.ledger.abandon(order);
  if (left === 'broken') return undefined;
  const text = messageOf(error);
  const end: StepEnd = {
    ...stateOf(order, ports, left),
    error: text.startsWith('internal error') ? text : `internal error: ${text}`,
  };
  try {
    if (order.asksOnly) settleSend(order, ports, end);
  } catch {
    // The exception may come from the event listener, so ignores another exception of the listener.
  }
  return end;
}

type Left = Exclude<ReturnType<Ports['ledger']['abandon']>, 'broken'>;

function stateOf(
  { kind }: StepOrder,
  { service, clock }: Ports,
  left: Left,
): Pick<StepEnd, 'outcome' | 'credits' | 'recoverable'> {
  if (left === undefined) return { outcome: 'failed', credits: 0 };
  // I26 (open)
  if (isOpenSend(left)) {
    const { fence, since = '', keyKnown } = left;
    const recovery = recoveryOf({ fence, replays: service.replays(kind), ageMs: clock.now() - Date.parse(since) });
    const isFound = recovery !== undefined && !keyKnown;
    return { outcome: 'unresolved', credits: null, ...(isFound && { recoverable: true }) };
  }
  switch (left.state) {
    case 'running':
    case 'done':
    case 'lost':
      return { outcome: left.state, credits: left.credits ?? null };
    default:
      return { outcome: 'failed', credits: left.credits ?? 0 };
  }
}

/**
 * Returns the order that buys another job after a failed one, if the plan allows it. The order has the generation and
 * the idempotency key that a new plan would use.
 */
export function nextOrder(order: StepOrder, failed: { error: string; charged: number | null }): Carry | undefined {
  if (order.asksOnly) return undefined;
  const { retries, campaign, fingerprint, price } = order;
  const cost = { charged: failed.charged, price: price.credits };
  if (retries === undefined || whyNotAgain(retries, { error: failed.error, ...cost }) !== undefined) return undefined;
  const left = retries.credits === null ? null : retries.credits - costOfAnother(cost);
  const { generation, repeat } = retries;
  const {
    jobId: _jobId,
    credits: _credits,
    send: _send,
    sharesJobOf: _shared,
    outputs: _outputs,
    asIs: _asIs,
    ...same
  } = order;
  return {
    ...same,
    action: 'retry',
    generation,
    attempt: 1,
    repeat,
    refused: 0,
    key: idempotencyKey({ campaign, fingerprint, repeat, attempt: 1 }),
    retries: { left: retries.left - 1, credits: left, generation: generation + 1, repeat: repeat + 1 },
  };
}

/**
 * Uploads a file to the media library. Uploads are free, so uploads the file again if the answer is lost. Records the
 * public URL, because no other call of the service returns it.
 */
async function uploadFile(order: StepOrder, ports: Ports): Promise<StepEnd> {
  const { ledger, signal } = ports;
  if (order.jobId !== undefined) return { outcome: 'done', credits: 0 };
  const shared = order.sharesJobOf === undefined ? undefined : await ledger.jobOf(order.sharesJobOf, order.fingerprint);
  if (shared?.url !== undefined) {
    await recordOutputs(order, ports, { jobId: shared.jobId, outputs: [], how: 'downloaded', url: shared.url });
    return { outcome: 'done', credits: 0 };
  }
  if (signal.aborted) return { outcome: 'left', credits: 0 };
  // Uploads are free, but not needed once the run buys nothing more: the API key was refused, or the account is empty.
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { outcome: 'left', credits: 0 };
  const filled = await fillRequest(order, ports, new Set());
  if (!('body' in filled)) {
    ledger.release(order);
    return filled;
  }
  const answer = await ports.service.upload(uploadOrder(order, filled.body), signal);
  ledger.release(order);
  if (answer.is === 'uploaded') {
    const { assetId, url } = answer;
    await recordOutputs(order, ports, { jobId: assetId, outputs: [], how: 'downloaded', url });
    ports.emit({ event: 'file-uploaded', address: order.address, assetId, bytes: order.file?.bytes ?? null });
    return { outcome: 'done', credits: 0 };
  }
  switch (answer.why) {
    case 'changed':
    case 'refused':
      return { outcome: 'refused', credits: 0, error: answer.message };
    case 'auth':
    case 'unreachable':
      stopFor({ because: answer.why, error: answer.message }, ports);
      return { outcome: 'left', credits: 0, error: answer.message };
    case 'interrupted':
      return { outcome: 'left', credits: 0 };
    default:
      return answer.why satisfies never;
  }
}

function uploadOrder({ file, address }: StepOrder, filled: Json): UploadOrder {
  const { fileName, contentType, url } = mapOf(filled);
  const named = {
    ...(typeof fileName === 'string' && { fileName }),
    ...(typeof contentType === 'string' && { contentType }),
  };
  if (file !== undefined) return { ...file, ...named };
  if (typeof url === 'string') return { url, ...named };
  throw new Error(`internal error: ${address} has nothing to upload`);
}
