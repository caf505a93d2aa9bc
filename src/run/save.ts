import type { JobResult } from '../contract/answer.ts';
import { OutputError } from '../contract/errors.ts';
import type { OutputTarget, Ports } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import type { Output } from '../lock/record.ts';
import { aspectsOf, findUnfit, type MediaFacts, unfitText } from '../plan/outputs/expectation.ts';
import type { StepOrder } from '../plan/plan.ts';
import { wantedPath } from '../plan/select/names.ts';
import type { StepEnd } from './step-end.ts';

type How = 'downloaded' | 'moved' | 'restored';
type SavedEnd = Omit<StepEnd, 'credits'>;

/** Downloads every file of a finished job. Records all files in the lock, or none. */
export async function saveOutputs(
  order: StepOrder,
  ports: Ports,
  job: { jobId: string; result: JobResult },
): Promise<SavedEnd> {
  try {
    let outputs: Output[] = [];
    for (const index of job.result.files.keys()) {
      const target = targetOf(order, ports, index);
      const collected = await collectOutput(order, ports, { jobId: job.jobId, result: job.result, index, target });
      if ('end' in collected) return collected.end;
      // Uses `concat`, because the array stays in the lock, and `push` reserves memory for 16 more items.
      outputs = outputs.concat(asAccepted(collected.output, order));
    }
    const how = order.outputs === undefined ? 'downloaded' : 'restored';
    await recordOutputs(order, ports, { jobId: job.jobId, outputs, how });
    return await checkExpectation(order, ports, outputs);
  } catch (error) {
    const end = outputFailure(error, ports);
    return end.outcome === 'running' ? { ...end, unsaved: true } : end;
  }
}

/** Renames paid files on disk, without any request. */
export async function moveOutputs(order: StepOrder, ports: Ports): Promise<StepEnd | undefined> {
  if (order.action !== 'move' || order.jobId === undefined) return undefined;
  const { jobId, outputs: known = [] } = order;
  const hasFiles = kinds[order.kind]?.media !== 'none';
  if (hasFiles && known.length === 0) return undefined;
  try {
    const outputs: Output[] = [];
    for (const [index, from] of known.entries()) {
      const output = await ports.outputs.relocate(targetOf(order, ports, index), from, { remove: true });
      if (output === undefined) return undefined;
      outputs.push(output);
    }
    await recordOutputs(order, ports, { jobId, outputs, how: 'moved' });
    return { ...(await checkExpectation(order, ports, outputs)), credits: 0 };
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
  await ports.ledger.finish(order, { state: 'done', jobId, outputs, ...defined({ url }) });
  for (const output of outputs) ports.emit({ event: 'output-saved', address: order.address, output, how });
}

/** Marks the output as accepted if a user accepted this file, or an earlier download with the same bytes. */
function asAccepted(output: Output, { outputs = [], asIs }: StepOrder): Output {
  const isAccepted = asIs || outputs.some(({ sha256, accepted }) => accepted === true && sha256 === output.sha256);
  return isAccepted ? { ...output, accepted: true } : output;
}

/** Checks the expectations after the files are recorded: files that do not meet an expectation are paid, too. */
async function checkExpectation(order: StepOrder, ports: Ports, outputs: readonly Output[]): Promise<SavedEnd> {
  const { expect } = order;
  const aspects = aspectsOf(expect);
  const measured = new Map<Output, MediaFacts | undefined>();
  if (aspects.length > 0) {
    const unaccepted = outputs.filter(({ accepted }) => accepted !== true);
    for (const output of unaccepted) measured.set(output, await ports.outputs.measure(output, aspects));
  }
  const unfit = findUnfit(expect, outputs, (output) => measured.get(output));
  if (unfit === undefined) return { outcome: 'done' };
  return { outcome: 'failed', error: `${unfitText(unfit)}; the file was saved`, unmet: unfit.unmet };
}

function outputFailure(error: unknown, ports: Ports): SavedEnd {
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

const mostTries = 5;
const longestAskedMs = 150_000;
const longestSilentMs = 60_000;

/**
 * Downloads file number `index` of a paid job. Renews an expired link, and downloads a damaged body again. After any
 * other failure, the next run downloads the file.
 */
export async function collectOutput(
  order: StepOrder,
  ports: Ports,
  job: { jobId: string; result: JobResult; index: number; target: OutputTarget },
): Promise<{ output: Output } | { end: SavedEnd }> {
  const { service, outputs, clock, signal, patienceMs = Number.POSITIVE_INFINITY } = ports;
  const { jobId, index } = job;
  const { notice } = job.target;
  const endMs = clock.now() + patienceMs;
  const interrupted = (error: string) => ({ end: { outcome: 'running', error, unsaved: true } as const });
  let url = job.result.files[index] ?? '';
  let error = '';
  let askedMs = 0;
  let isNoticed = false;
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const pauseMs = Math.min(30_000, 1000 * 2 ** (tries - 2)) * (0.5 + clock.random() / 2);
    const waitMs = Math.max(pauseMs, Math.min(longestAskedMs, askedMs));
    if (askedMs > 0 && clock.now() + waitMs > endMs) return interrupted(`${error}, longer than --patience`);
    if (askedMs >= longestSilentMs && !isNoticed) notice(`${error}; trying again, the job is not lost`);
    isNoticed ||= askedMs >= longestSilentMs;
    if (tries > 1) await clock.sleep(waitMs, signal);
    if (signal.aborted) return interrupted('interrupted');
    // A user may have accepted the incomplete file. Only the last try saves such a file: another may get all of it.
    const target = order.asIs && tries === mostTries ? { ...job.target, asIs: true as const } : job.target;
    const answer = await outputs.fetch(target, { jobId, index, url }, { signal });
    if (answer.is === 'saved') return { output: answer.output };
    if (answer.is === 'refused') return { end: { outcome: 'failed', error: answer.message } };
    error = answer.is === 'bad-bytes' ? `${new URL(url).host}: ${answer.message}` : answer.message;
    askedMs = answer.is === 'unreachable' ? (answer.retryAfterMs ?? 0) : 0;
    if (answer.is !== 'expired') continue;
    const end = await service.watch({ kind: order.kind, jobId }, { signal, fresh: false, onStatus: () => {}, notice });
    if (end.is === 'completed') url = end.result.files[index] ?? url;
  }
  error = `${error} (tried ${mostTries} times; the job is not lost)`;
  return signal.aborted ? interrupted(error) : { end: { outcome: 'failed', error } };
}
