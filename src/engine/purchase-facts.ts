import type { CreatedJob } from '../contract/answer.ts';
import type { IntendedRequest, StepResult } from '../contract/ports.ts';
import { mostRevision } from '../lock/decisions.ts';
import type { Output, Purchase } from '../lock/record.ts';
import type { StepOrder } from '../plan/plan.ts';
import { digestOfBody } from '../run/kept-body.ts';

export function what(order: StepOrder): Pick<Purchase, 'request' | 'take'> {
  return { request: order.paidRequest, ...(order.take !== undefined && { take: order.take }) };
}

/** A send that is about to leave. Where its key is not replayed, it is nobody's to repeat from then on. */
export function intentFacts(
  order: StepOrder,
  { replays, at, body, fence, resent }: IntendedRequest,
  { send, account, hasLinks }: { send: string; account: string | undefined; hasLinks: boolean },
) {
  return {
    state: replays ? ('intent' as const) : ('unresolved' as const), // I1
    send,
    since: new Date(at).toISOString(),
    ...(account !== undefined && { account }),
    ...(hasLinks && { digest: digestOfBody(body) }),
    ...(fence !== undefined && { fence }),
    ...(resent !== undefined && { resent: true as const }),
    ...what(order),
  };
}

/** A job that was created. */
export function runningFacts(order: StepOrder, { jobId, recordId }: CreatedJob, credits: number | null) {
  return {
    state: 'running' as const,
    jobId,
    ...(credits !== null && { credits }),
    ...(recordId !== undefined && { recordId }),
    ...what(order),
  };
}

export function creditsOf(order: StepOrder, before: Purchase | undefined): { credits?: number } {
  const credits = before?.credits ?? order.credits;
  return credits === undefined ? {} : { credits };
}

/** A step whose files are here. `revision`: another one than the lock says. */
export function doneFacts(
  order: StepOrder,
  { jobId, outputs, url }: Extract<StepResult, { state: 'done' }>,
  { before, revision }: { before: Purchase | undefined; revision: number | undefined },
) {
  const counted = revision ?? before?.revision ?? 0;
  const known = url ?? before?.url;
  return {
    state: 'done' as const,
    jobId,
    ...creditsOf(order, before),
    outputs,
    ...(before?.recordId !== undefined && { recordId: before.recordId }),
    ...(known !== undefined && { url: known }),
    ...(counted > 0 && { revision: counted }),
    ...what(order),
  };
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
