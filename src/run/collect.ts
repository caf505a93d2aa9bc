import type { JobResult } from '../contract/answer.ts';
import type { OutputTarget } from '../contract/output-target.ts';
import type { Ports } from '../contract/ports.ts';
import type { Output } from '../lock/record.ts';
import type { StepOrder } from '../plan/plan.ts';

export type Collected =
  | { is: 'collected'; output: Output }
  | { is: 'uncollected'; error: string; interrupted: boolean };

const mostTries = 5;

/**
 * Fetches the `index`-th file of a finished job. It is paid for, so nothing here gives it up for good: an expired link
 * is renewed, a broken body is fetched again, and whatever still fails stays attached to its job for the next run.
 */
export async function collectOutput(
  order: StepOrder,
  ports: Ports,
  job: { jobId: string; result: JobResult; index: number; target: OutputTarget },
): Promise<Collected> {
  const { service, outputs, clock, signal } = ports;
  const { jobId, index } = job;
  let url = job.result.files[index] ?? '';
  let error = '';
  for (let tries = 1; tries <= mostTries; tries += 1) {
    if (tries > 1) await clock.sleep(Math.min(30_000, 1000 * 2 ** (tries - 2)) * (0.5 + clock.random() / 2), signal);
    if (signal.aborted) return { is: 'uncollected', error: 'interrupted', interrupted: true };
    const answer = await outputs.fetch(job.target, { jobId, index, url }, { signal });
    switch (answer.is) {
      case 'saved':
        return { is: 'collected', output: answer.output };
      case 'refused':
        return { is: 'uncollected', error: answer.message, interrupted: false };
      case 'unreachable':
      case 'bad-bytes':
        error = answer.message;
        break;
      case 'expired': {
        error = answer.message;
        const end = await service.watch(
          { kind: order.kind, jobId },
          { signal, fresh: false, onStatus: () => {}, notice: job.target.notice },
        );
        if (end.is === 'completed') url = end.result.files[index] ?? url;
        break;
      }
      default:
        return answer satisfies never;
    }
  }
  return {
    is: 'uncollected',
    error: `${error} (tried ${mostTries} times; the job is kept)`,
    interrupted: signal.aborted,
  };
}
