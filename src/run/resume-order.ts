import type { Lock, Purchase } from '../lock/record.ts';
import { closedSends, isOpenSend, sendOf } from '../lock/sends.ts';
import { spentCredits } from '../lock/spent.ts';
import { countRefused, idempotencyKey } from '../plan/key.ts';
import { askedSend, type SendFacts, settlingOf } from '../plan/open-sends.ts';
import type { PlanTotals, StepOrder } from '../plan/plan.ts';
import { ceilingOf } from '../plan/prices.ts';
import { nextOrder } from './retry.ts';
import type { StepEnd } from './step-end.ts';

/**
 * What an order of a plan is after somebody has begun it and was interrupted: an open send is asked about, a known job is
 * attached to, what is done is done, a failed job is followed by the purchase that `retry:` allows. What the lock says
 * nothing of is as planned.
 */
export function resumeOrder(planned: StepOrder, lock: Lock, facts: SendFacts): { order: StepOrder } | { end: StepEnd } {
  if (planned.asksOnly) return askAgain(planned, lock);
  // Putting a file in its place again changes nothing.
  if (planned.action === 'download' || planned.action === 'move') return { order: planned };
  const closed = closedSends(lock);
  let spent: number | null = 0;
  for (let order = planned; ; ) {
    const own = purchasesOf(order, lock);
    const job = own.find(({ jobId, forgotten }) => jobId !== undefined && forgotten !== true);
    const open = own.filter((one) => isOpenSend(one) && one.forgotten !== true && !closed.has(sendOf(one)));
    if (job === undefined) return open.length > 0 ? ask(order, open, facts) : { order: afterRefusals(order, own) };
    const charged = planned.jobId === job.jobId ? 0 : (job.credits ?? null);
    spent = spent === null || charged === null ? null : spent + charged;
    // Whether its file meets \`expect\` is seen when it is fetched.
    if (job.state === 'done' && planned.expect !== undefined) return { order: attachTo(order, job) };
    if (job.state === 'done') return { end: { outcome: 'done', credits: spent } };
    if (job.state === 'lost') return { end: { outcome: 'lost', credits: spent, error: job.error } };
    if (job.state !== 'failed') return { order: attachTo(order, job) };
    const error = job.error ?? 'its job failed';
    const next = nextOrder(order, { error, charged: job.credits ?? null });
    if (next === undefined) return { end: { outcome: 'failed', credits: spent, error } };
    order = next;
  }
}

/** Purchases of this very order: under any of its keys. */
function purchasesOf({ address, movedFrom, fingerprint, generation }: StepOrder, lock: Lock): Purchase[] {
  const addresses = [address, ...(movedFrom === undefined ? [] : [movedFrom])];
  return addresses
    .flatMap((one) => lock.steps.get(one)?.purchases ?? [])
    .filter((purchase) => purchase.fingerprint === fingerprint && purchase.generation === generation);
}

function askAgain(order: StepOrder, lock: Lock): { order: StepOrder } | { end: StepEnd } {
  const closed = closedSends(lock);
  for (const { purchases } of lock.steps.values()) {
    const send = purchases.find((one) => isOpenSend(one) && sendOf(one) === order.send?.id);
    if (send !== undefined && !closed.has(sendOf(send))) return { order: { ...order, send: askedSend(send) } };
  }
  return { end: { outcome: 'done', credits: 0 } };
}

/** Of several sends the first one that can be asked about. */
function ask(order: StepOrder, open: readonly Purchase[], facts: SendFacts): { order: StepOrder } | { end: StepEnd } {
  const settlings = open.map((purchase) => ({ purchase, how: settlingOf(purchase, facts) }));
  const [first] = settlings;
  const found = settlings.find(({ how }) => how.by !== 'person');
  if (found === undefined) return { end: { outcome: 'unresolved', credits: null, error: first?.how.reason } };
  const { purchase } = found;
  return { order: { ...order, attempt: purchase.attempt, key: purchase.key, send: askedSend(purchase) } };
}

/** Refused keys are tried again in order, because a refusal is free, and may have been of that moment. */
function afterRefusals({ send: _send, ...order }: StepOrder, own: readonly Purchase[]): StepOrder {
  const { campaign, fingerprint, repeat } = order;
  if (order.jobId !== undefined || !own.some(({ state }) => state === 'refused')) return order;
  const refused = countRefused(own, { campaign, fingerprint, repeat });
  return { ...order, refused, attempt: 1, key: idempotencyKey({ campaign, fingerprint, repeat, attempt: 1 }) };
}

function attachTo({ send: _send, ...order }: StepOrder, { jobId, attempt, key, credits }: Purchase): StepOrder {
  return {
    ...order,
    action: 'attach',
    attempt,
    key,
    ...(jobId !== undefined && { jobId }),
    ...(credits !== undefined && { credits }),
  };
}

/**
 * What the lock says of a run that somebody has begun, of the same plan. `planned`: its orders as they were; `asked`: sends
 * that are asked about now, whose price is reserved anew. Spent and held together stay below the caps of the plan.
 */
export function totalsOfFold(
  totals: PlanTotals,
  { planned, lock, asked }: { planned: Iterable<StepOrder>; lock: Lock; asked: ReadonlySet<string> },
): { totals: PlanTotals; closedPrices: ReadonlySet<string>; learned: ReadonlyMap<string, number> } {
  const alreadyPaid = spentCredits(lock);
  const closed = closedSends(lock);
  const lost: string[] = [];
  const closedPrices = new Set<string>();
  /** What was charged, by price class: what nobody knew before need not be found out again. */
  const learned = new Map<string, number>();
  const seen = new Set<string>();
  let held = 0;
  for (const { address, fingerprint, generation, price, asksOnly } of planned) {
    if (asksOnly) continue;
    for (const purchase of lock.steps.get(address)?.purchases ?? []) {
      if (purchase.fingerprint !== fingerprint || purchase.generation < generation) continue;
      const ceiling = ceilingOf(price);
      if (ceiling !== undefined && (purchase.credits ?? 0) > ceiling) closedPrices.add(price.class);
      const { credits = 0 } = purchase;
      if (credits > 0) learned.set(price.class, Math.max(credits, learned.get(price.class) ?? 0));
      const isSilent = purchase.jobId !== undefined && purchase.credits === undefined && purchase.state !== 'refused';
      const isLost = isOpenSend(purchase) && !closed.has(sendOf(purchase)) && !asked.has(sendOf(purchase));
      const name = isSilent ? `job ${purchase.jobId}` : isLost ? sendOf(purchase) : undefined;
      if (name === undefined || seen.has(name)) continue;
      seen.add(name);
      if (price.credits === null) lost.push(price.class);
      else held += price.credits;
    }
  }
  const { maxCredits, lostPrices = [] } = totals;
  const spentNow = alreadyPaid - totals.alreadyPaid;
  const left = maxCredits === undefined ? undefined : Math.max(0, maxCredits - spentNow - held);
  const all = [...lostPrices, ...lost];
  return {
    totals: {
      ...totals,
      alreadyPaid,
      held: totals.held + held,
      ...(all.length > 0 && { lostPrices: all }),
      // A charge of unknown size cannot be taken from the cap of a run.
      ...(left !== undefined && { maxCredits: lost.length > 0 ? 0 : left }),
    },
    closedPrices,
    learned,
  };
}
