import { idempotencyKey } from '../plan/key.ts';
import type { Carry, StepOrder } from '../plan/plan.ts';
import { isHopeless } from '../plan/retry.ts';

/**
 * The order for buying a failed job again, if the plan allows one. It is another purchase: a generation and a key of
 * its own, made from the same facts as a plan would.
 */
export function nextOrder(order: StepOrder, failed: { error: string; charged: number | null }): Carry | undefined {
  if (order.asksOnly) return undefined;
  const { retries, campaign, fingerprint } = order;
  if (retries === undefined || retries.left <= 0 || isHopeless(failed.error)) return undefined;
  // The charge for the failed job is the best available estimate for the next one.
  const price = Math.max(1, order.price.credits ?? 0, failed.charged ?? 0);
  const left = retries.credits === null ? null : retries.credits - price;
  if (left !== null && left < 0) return undefined;
  const { generation, repeat } = retries;
  const { jobId: _jobId, credits: _credits, send: _send, sharesJobOf: _shared, outputs: _outputs, ...same } = order;
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
