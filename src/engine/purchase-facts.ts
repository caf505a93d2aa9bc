import { mostRevision } from '../lock/decisions.ts';
import type { Output, Purchase } from '../lock/record.ts';
import type { StepOrder } from '../plan/plan.ts';

export function what(order: StepOrder): Pick<Purchase, 'request' | 'take'> {
  return { request: order.paidRequest, ...(order.take !== undefined && { take: order.take }) };
}

export function creditsOf(order: StepOrder, before: Purchase | undefined): { credits?: number } {
  const credits = before?.credits ?? order.credits;
  return credits === undefined ? {} : { credits };
}

/** Undefined when the lock already says exactly this. */
export function nextRevision(before: Purchase | undefined, outputs: Output[]): number | undefined {
  const recorded = before?.outputs;
  if (recorded === undefined) return before?.revision ?? 0;
  const same =
    recorded.length === outputs.length &&
    recorded.every(({ path, sha256 }, index) => path === outputs[index]?.path && sha256 === outputs[index]?.sha256);
  return same ? undefined : Math.min((before?.revision ?? 0) + 1, mostRevision);
}
