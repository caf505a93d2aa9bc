import { kinds } from '../kinds/index.ts';
import type { Purchase, StepRecord } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import { countRefused, idempotencyKey } from '../plan/key.ts';
import { askedSend, type SendFacts, settlingOf } from '../plan/open-sends.ts';
import { type Carry, type StepOrder, withoutSend } from '../plan/plan.ts';
import { nextOrder } from './retry.ts';
import type { StepEnd } from './step-end.ts';

/** Rest of an order. `spent`: credits that earlier heads of this run were charged for it; `null`: unknown. */
export type Resumed = { order: StepOrder; spent: number | null } | { end: StepEnd };

/**
 * Finds what is left of an order of a plan after somebody else has carried it out for a while, by what is on record of
 * it since: nothing is bought that was bought, and a send without an answer is asked about before anything else.
 * `before` and `record`: what is on record of its address, when the plan was made and now. Without news the order stays
 * as it is.
 */
export function resumeOrder(
  order: StepOrder,
  { before, record }: { before: StepRecord | undefined; record: StepRecord | undefined },
  facts: SendFacts,
): Resumed {
  // It only asks, and the ledger knows whether there is still something to ask.
  if (order.asksOnly || record === undefined) return { order, spent: 0 };
  const same = record.purchases.filter(
    ({ fingerprint, forgotten, kind = record.kind }) =>
      fingerprint === order.fingerprint && forgotten !== true && kind === order.kind,
  );
  if (order.sharesJobOf !== undefined && order.jobId === undefined) return resumeShared(order, same, before);
  let current: Carry = order;
  let spent: number | null = 0;
  for (;;) {
    const made = same.filter(({ generation }) => generation === current.generation);
    const job = chooseJob(made, current);
    if (job?.jobId === undefined) return resumeSend(current, made, { facts, spent, record });
    const isNew = current.jobId === undefined;
    if (isNew) spent = addUp(spent, job.credits ?? null);
    const attached = attach(current, job);
    const old = before?.purchases.find(({ jobId, key }) => jobId === job.jobId && key === job.key);
    if (old !== undefined && isSame(old, job)) return { order: isNew ? attached : current, spent };
    switch (job.state) {
      case 'done':
        return isCollected(current, job) ? { end: { outcome: 'done', credits: spent } } : { order: attached, spent };
      case 'failed':
      case 'lost': {
        const error = job.error ?? `job ${job.jobId} ${job.state}`;
        const charged = isNew ? (job.credits ?? null) : (order.credits ?? null);
        const next = job.state === 'failed' ? nextOrder(attached, { error, charged }) : undefined;
        if (next === undefined) return { end: { outcome: job.state, credits: spent, error } };
        current = next;
        break;
      }
      default:
        return { order: attached, spent };
    }
  }
}

/** Chooses a purchase with a job; of several under a generation, the one that the order knows, or that is furthest. */
function chooseJob(made: readonly Purchase[], { jobId }: Carry): Purchase | undefined {
  const jobs = made.filter((purchase) => purchase.jobId !== undefined);
  const furthest = ['done', 'running', 'failed', 'lost'];
  const [first] = [...jobs].sort((a, b) => furthest.indexOf(a.state) - furthest.indexOf(b.state));
  return jobs.find((purchase) => purchase.jobId === jobId) ?? first;
}

function attach(order: Carry, { jobId, key, attempt, credits }: Purchase): Carry {
  const rest = withoutSend(order);
  if (jobId === undefined) return rest;
  // As what it is: jobs that run take their places before anything new is bought.
  const action = rest.action === 'download' || rest.action === 'move' ? rest.action : ('attach' as const);
  return { ...rest, action, key, attempt, jobId, ...(credits !== undefined && { credits }) };
}

/** Whether nothing was recorded of it since. */
function isSame(old: Purchase, now: Purchase): boolean {
  const isSaved = (purchase: Purchase) => purchase.outputs !== undefined;
  return old.state === now.state && old.revision === now.revision && isSaved(old) === isSaved(now);
}

/** Whether its files are saved, and nothing is left to look at. */
function isCollected({ kind, expect }: Carry, { outputs }: Purchase): boolean {
  return kinds[kind]?.media === 'none' || (outputs !== undefined && expect === undefined);
}

/** Resumes an order of which no job is known: the newest send decides. */
function resumeSend(
  order: Carry,
  made: readonly Purchase[],
  { facts, spent, record }: { facts: SendFacts; spent: number | null; record: StepRecord },
): Resumed {
  if (order.jobId !== undefined) return { order, spent };
  const { campaign, fingerprint, repeat } = order;
  const refused = countRefused(record.purchases, { campaign, fingerprint, repeat });
  const open = made.filter(isOpenSend);
  const asked = open.find((purchase) => settlingOf(purchase, facts).by !== 'person') ?? open[0];
  if (asked !== undefined) {
    const settling = settlingOf(asked, facts);
    if (settling.by === 'person') return { end: { outcome: 'unresolved', credits: null, error: settling.reason } };
    const { key, attempt } = asked;
    return { order: { ...order, key, attempt, refused, send: askedSend(asked) }, spent };
  }
  const unsent = withoutSend(order);
  if (made.every(({ state }) => state !== 'refused')) return { order: unsent, spent };
  // A refusal is free, and may not hold any more.
  const key = idempotencyKey({ campaign, fingerprint, repeat, attempt: 1 });
  return { order: { ...unsent, attempt: 1, key, refused }, spent };
}

/** Resumes an order whose job is another step's; its files here are this one's. */
function resumeShared(order: Carry, same: readonly Purchase[], before: StepRecord | undefined): Resumed {
  const saved = same.find(({ state, outputs }) => state === 'done' && outputs !== undefined);
  const old = before?.purchases.find(({ jobId }) => jobId === saved?.jobId);
  const isNews = saved !== undefined && (old === undefined || !isSame(old, saved));
  const isOver = isNews && order.expect === undefined;
  return isOver ? { end: { outcome: 'done', credits: 0 } } : { order, spent: 0 };
}

function addUp(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
