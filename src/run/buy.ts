import type { Ports } from '../contract/ports.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import type { AskedSend, StepOrder } from '../plan/plan.ts';
import { digestOfBody } from './kept-body.ts';
import {
  type Bought,
  type Create,
  type Ended,
  giveUp,
  msAhead,
  type Purchase,
  recordFound,
  unfound,
} from './record-job.ts';
import { makeBody } from './references.ts';
import { sendCreate } from './send-create.ts';
import type { StepEnd } from './step-end.ts';

/**
 * Buys a job in the only valid order: reserve the price, make the intent durable, send the request once, make the job
 * ID durable. One table (outcome.ts) decides what any answer without a job means.
 */
export async function buyJob(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string> = new Set(),
): Promise<Bought | StepEnd> {
  for (let current = order; ; ) {
    const bought = await buyUnderKey(current, ports, absent);
    if ('end' in bought) return bought.end;
    current = bought.next;
  }
}

async function buyUnderKey(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<Ended> {
  const { ledger, clock, signal } = ports;
  if (signal.aborted) return { end: { outcome: 'left', credits: 0 } };
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { end: { outcome: 'left', credits: 0 } };
  if (begin.job !== undefined) return { end: { order, ...begin.job, fresh: false } };
  if (order.asksOnly && begin.open === undefined) {
    ledger.release(order);
    return { end: { outcome: 'done', credits: 0 } };
  }
  let create = begin.open === undefined ? ({ is: 'new' } satisfies Create) : await resume(order, begin.open, ports);
  const made = begin.body ?? (await makeRequest(order, ports, absent));
  const body = create.is === 'sent' ? requireSame(made, order) : made;
  const purchase = { order, ports, body, reserved: begin.reserved, startedAt: clock.now(), tries: 0 };
  for (;;) {
    const next = create.is === 'searching' ? await readList(create, purchase) : await sendCreate(create, purchase);
    if (!('create' in next)) return next;
    create = next.create;
  }
}

/** Makes the bytes of a request. A link whose step is no longer in the manifest exists only in the stored bytes. */
function makeRequest(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<string | StepEnd> {
  if (!order.asksOnly || findReferences(order.request).length === 0) return makeBody(order, ports, absent);
  const error = 'its answer was lost, and the links in its request are not known on this machine';
  return Promise.resolve({ outcome: 'unresolved', credits: null, error });
}

/** Requires the original bytes of an idempotency key whose answer was lost: nothing else may be sent under it. */
function requireSame(made: string | StepEnd, { send }: StepOrder): string | StepEnd {
  if (typeof made !== 'string' || send?.digest === undefined || digestOfBody(made) === send.digest) return made;
  const error = 'its answer was lost, and its request contained other links, which only the machine that sent it has';
  return { outcome: 'unresolved', credits: null, error, recoverable: true };
}

/** Continues a create request that an earlier run, or another clone, has begun. */
async function resume(order: StepOrder, open: AskedSend, ports: Ports): Promise<Create> {
  const { id, since, fence, resent = false } = open;
  const send = {
    id,
    at: Date.parse(since),
    because: 'its answer was lost in an earlier run',
    resent,
    fence,
  };
  if (fence === undefined) return { is: 'sent', send };
  const ahead = await ports.service.clockAheadMs();
  // The time of the resend is not recorded; it was at the latest just before this run.
  const sentAt = resent ? ports.clock.now() : send.at - msAhead(ahead);
  return { is: 'searching', send, found: ports.lost.lookUp(order, { id, sentAt, fence, resent }) };
}

async function readList(
  { send, found }: Extract<Create, { is: 'searching' }>,
  purchase: Purchase,
): Promise<{ create: Create } | Ended> {
  const { order, ports } = purchase;
  const answer = await found;
  if (answer.do === 'adopt') return recordFound(answer.job, send, purchase);
  if (answer.do !== 'resend') return { end: giveUp(purchase, unfound(answer, send.because)) };
  if (!order.asksOnly) return { create: { is: 'made-nothing', send } };
  // The step no longer needs the job, so only the fact that it was not made is recorded.
  await ports.ledger.finish(order, { state: 'unsent', send: send.id });
  return { end: { outcome: 'done', credits: 0 } };
}
