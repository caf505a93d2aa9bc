import type { JobResult } from '../contract/answer.ts';
import { OutputError } from '../contract/errors.ts';
import type { OutputTarget } from '../contract/output-target.ts';
import type { Ports } from '../contract/ports.ts';
import { kinds } from '../kinds/index.ts';
import type { Output } from '../lock/record.ts';
import { findUnmet, needsMeasuring } from '../plan/expectation.ts';
import type { StepOrder } from '../plan/plan.ts';
import { wantedPath } from '../plan/save-names.ts';
import { collectOutput } from './collect.ts';
import type { StepEnd } from './step-end.ts';

type How = 'downloaded' | 'moved' | 'restored';

/** Fetches every file of a finished job. All of them go on record, or none. */
export async function saveOutputs(
  order: StepOrder,
  ports: Ports,
  job: { jobId: string; result: JobResult },
): Promise<Omit<StepEnd, 'credits'>> {
  try {
    const saved: Output[] = [];
    for (const index of job.result.files.keys()) {
      const target = targetOf(order, ports, index);
      const collected = await collectOutput(order, ports, { jobId: job.jobId, result: job.result, index, target });
      if (collected.is === 'uncollected') {
        const { interrupted, error } = collected;
        return interrupted ? { outcome: 'running', error, unsaved: true } : { outcome: 'failed', error };
      }
      saved.push(collected.output);
    }
    // A growing array keeps room for 16 more, and this one stays in memory.
    const outputs = [...saved];
    const how = order.outputs === undefined ? 'downloaded' : 'restored';
    await recordOutputs(order, ports, { jobId: job.jobId, outputs, how });
    return await checkExpectation(order, ports, outputs);
  } catch (error) {
    const end = outputFailure(error, ports);
    return end.outcome === 'running' ? { ...end, unsaved: true } : end;
  }
}

/** Gives paid files that are already here their new names: no request at all. */
export async function moveOutputs(order: StepOrder, ports: Ports): Promise<StepEnd | undefined> {
  if (order.action !== 'move' || order.jobId === undefined) return undefined;
  const { jobId, outputs = [] } = order;
  const hasFiles = kinds[order.kind]?.media !== 'none';
  if (hasFiles && outputs.length === 0) return undefined;
  try {
    const moved: Output[] = [];
    for (const [index, from] of outputs.entries()) {
      const output = await ports.outputs.relocate(targetOf(order, ports, index), from, { remove: true });
      if (output === undefined) return undefined;
      moved.push(output);
    }
    await recordOutputs(order, ports, { jobId, outputs: moved, how: 'moved' });
    return { ...(await checkExpectation(order, ports, moved)), credits: 0 };
  } catch (error) {
    return { ...outputFailure(error, ports), credits: 0 };
  }
}

export async function recordOutputs(
  order: StepOrder,
  ports: Ports,
  saved: { jobId: string; outputs: Output[]; how: How; url?: string },
): Promise<void> {
  const { jobId, outputs, how, url } = saved;
  await ports.ledger.finish(order, { state: 'done', jobId, outputs, ...(url !== undefined && { url }) });
  for (const output of outputs) ports.emit({ event: 'output-saved', address: order.address, output, how });
}

/** Checks files once they are on record: one that misses its expectation is paid for all the same. */
async function checkExpectation(
  { expect }: StepOrder,
  ports: Ports,
  outputs: Output[],
): Promise<Omit<StepEnd, 'credits'>> {
  if (expect === undefined) return { outcome: 'done' };
  for (const output of outputs) {
    const facts = needsMeasuring(expect) ? await ports.outputs.measure(output) : undefined;
    const [unmet] = findUnmet(expect, output, facts);
    if (unmet === undefined) continue;
    return { outcome: 'failed', error: `${output.path} does not fit \`expect\`: ${unmet}; the file is kept` };
  }
  return { outcome: 'done' };
}

function outputFailure(error: unknown, ports: Ports): Omit<StepEnd, 'credits'> {
  if (!(error instanceof OutputError)) throw error;
  if (error.why === 'disk') ports.gate.stop('disk', error.message);
  return { outcome: error.why === 'disk' ? 'running' : 'failed', error: error.message };
}

function targetOf(order: StepOrder, ports: Ports, index: number): OutputTarget {
  const media = kinds[order.kind]?.media;
  if (media === undefined || media === 'none') throw new Error(`internal error: kind ${order.kind} gives no files`);
  return {
    address: order.address,
    save: wantedPath(order, index),
    media,
    replaces: order.replaces,
    notice: (message) => ports.emit({ event: 'noticed', address: order.address, message }),
  };
}
