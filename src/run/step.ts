import { OutputError, type OutputTarget } from '../disk/output-target.ts';
import { kinds } from '../kinds/index.ts';
import type { Output } from '../lock/record.ts';
import type { StepOrder } from '../plan/plan.ts';
import { buyJob } from './buy.ts';
import { collectOutput } from './collect.ts';
import type { Ports } from './ports.ts';
import type { StepEnd } from './step-end.ts';
import { stopFor } from './stop-for.ts';

/** A place among the jobs that may run at once; given back when the job has ended, before its output is fetched. */
export interface Slot {
  free(): void;
}

/**
 * Carries out one step: from a plan's order to a saved file. It may be run any number of times, from any point: every
 * fact it needs is asked of the ledger first, and every fact it makes is durable before the next act that relies on it.
 */
export async function runStep(order: StepOrder, ports: Ports, slot: Slot): Promise<StepEnd> {
  const { address, task, kind, action } = order;
  ports.emit({ event: 'step-started', address, task, kind, action });
  const end = await carryOut(order, ports, slot);
  ports.emit({
    event: 'step-finished',
    address,
    task,
    outcome: end.outcome,
    credits: end.credits,
    ...(end.error !== undefined && { error: end.error }),
    ...(end.recoverable && { recoverable: true }),
  });
  return end;
}

async function carryOut(order: StepOrder, ports: Ports, slot: Slot): Promise<StepEnd> {
  const moved = await moveOutput(order, ports);
  if (moved !== undefined) return moved;

  const bought = await findOrBuyJob(order, ports);
  if ('outcome' in bought) return bought;
  const { jobId, credits, fresh } = bought;

  const end = await ports.service.watch(
    { kind: order.kind, jobId },
    {
      signal: ports.signal,
      fresh,
      onStatus: (status) => ports.emit({ event: 'job-progressed', address: order.address, jobId, status }),
      notice: (message) => ports.emit({ event: 'noticed', address: order.address, message }),
    },
  );
  slot.free();
  switch (end.is) {
    case 'completed':
      ports.emit({ event: 'job-completed', address: order.address, jobId });
      return { ...(await saveOutput(order, ports, { jobId, url: end.url })), credits };
    case 'failed':
    case 'lost': {
      await ports.ledger.finish(order, { state: end.is, jobId, error: end.error });
      return { outcome: end.is, credits, error: end.error };
    }
    case 'unwatched':
      stopFor(end, ports);
      return { outcome: 'running', credits, error: end.error };
    default:
      return end satisfies never;
  }
}

/** A paid file that is already here only needs its new name: no request at all. */
async function moveOutput(order: StepOrder, ports: Ports): Promise<StepEnd | undefined> {
  if (order.action !== 'move' || order.output === undefined || order.jobId === undefined) return undefined;
  try {
    const output = await ports.outputs.relocate(targetOf(order, ports), order.output, { remove: true });
    if (output === undefined) return undefined;
    await recordOutput(order, ports, { jobId: order.jobId, output, how: 'moved' });
    return { outcome: 'done', credits: 0 };
  } catch (error) {
    return { ...outputFailure(error, ports), credits: 0 };
  }
}

type FoundJob = { jobId: string; credits: number | null; fresh: boolean };

async function findOrBuyJob(order: StepOrder, ports: Ports): Promise<FoundJob | StepEnd> {
  if (order.jobId !== undefined) return { jobId: order.jobId, credits: 0, fresh: false };
  if (order.sharesJobOf === undefined) return buyJob(order, ports);
  const shared = await ports.ledger.jobOf(order.sharesJobOf, order.fingerprint);
  if (shared !== undefined) return { jobId: shared.jobId, credits: 0, fresh: false };
  return { outcome: 'blocked', credits: 0, error: `${order.sharesJobOf} has no job to share` };
}

async function saveOutput(
  order: StepOrder,
  ports: Ports,
  job: { jobId: string; url: string },
): Promise<Omit<StepEnd, 'credits'>> {
  try {
    const collected = await collectOutput(order, ports, { ...job, target: targetOf(order, ports) });
    if (collected.is === 'uncollected') {
      return { outcome: collected.interrupted ? 'running' : 'failed', error: collected.error };
    }
    const how = order.output === undefined ? 'downloaded' : 'restored';
    await recordOutput(order, ports, { jobId: job.jobId, output: collected.output, how });
    return { outcome: 'done' };
  } catch (error) {
    return outputFailure(error, ports);
  }
}

async function recordOutput(
  order: StepOrder,
  ports: Ports,
  saved: { jobId: string; output: Output; how: 'downloaded' | 'moved' | 'restored' },
): Promise<void> {
  await ports.ledger.finish(order, { state: 'done', jobId: saved.jobId, output: saved.output });
  ports.emit({ event: 'output-saved', address: order.address, output: saved.output, how: saved.how });
}

function outputFailure(error: unknown, ports: Ports): Omit<StepEnd, 'credits'> {
  if (!(error instanceof OutputError)) throw error;
  if (error.why === 'disk') ports.ledger.stopSpending('disk', error.message);
  return { outcome: error.why === 'disk' ? 'running' : 'failed', error: error.message };
}

function targetOf(order: StepOrder, ports: Ports): OutputTarget {
  const kind = kinds[order.kind];
  if (kind === undefined) throw new Error(`internal error: no kind ${order.kind}`);
  return {
    address: order.address,
    save: order.save,
    media: kind.media,
    replaces: order.replaces,
    notice: (message) => ports.emit({ event: 'noticed', address: order.address, message }),
  };
}
