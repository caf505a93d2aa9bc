import type { Step } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { defined } from '../../ground/values.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { recordOf } from '../../lock/join.ts';
import type { Job, Lock, LockLine, OpenSend, Purchase, StepRecord } from '../../lock/record.ts';
import { chargeName, chargesByJob, closedSends, isJob } from '../../lock/sends.ts';
import { isPost } from '../posts/post-record.ts';
import { idempotencyKey, nextPurchase } from '../purchases/key.ts';
import { openSendsOf } from '../purchases/open-sends.ts';
import type { Match } from '../situation/find-purchases.ts';
import { creditsOf, type Ruling, refuse } from './ruling.ts';

export function decidedText(kind: string): string {
  return `decided: ${isPost(kind) ? 'the post is not published' : 'the create request was not charged'}`;
}

export type Finding =
  | { is: 'job'; jobId: string; credits?: number; recordId?: string }
  | { is: 'not-spent' }
  /** The outcome of the request stays unknown, and the step is bought again, even if the user pays twice. */
  | { is: 'spend-again' };

/**
 * Returns the lock line that records a user's finding about an unresolved create request. The request stays resolved
 * after a merge with a branch on which it is unresolved. A purchase that may be paid is never removed from the lock.
 */
export function resolvePurchase(record: StepRecord, open: OpenSend, finding: Finding): LockLine {
  const { address } = record;
  const { fingerprint, generation, attempt, key, request, take } = open;
  const line = {
    address,
    kind: open.kind ?? record.kind,
    fingerprint,
    generation,
    attempt,
    key,
    ...defined({ request, take }),
  };
  const decisions = { sends: [open.send] };
  switch (finding.is) {
    case 'job':
      return {
        ...line,
        state: 'running',
        jobId: finding.jobId,
        ...defined({ credits: finding.credits, recordId: finding.recordId }),
        decisions,
      };
    case 'not-spent':
      return {
        ...line,
        state: 'refused',
        decided: true,
        error: decidedText(line.kind),
        decisions,
      };
    case 'spend-again':
      // The create request may be charged, so its price stays reserved. The next one has another idempotency key.
      return { ...open, ...line, writtenOff: true };
    default:
      return finding satisfies never;
  }
}

export function ruleOnSend(
  address: string,
  given: {
    lock: Lock;
    finding: Finding | undefined;
    send: string | undefined;
    canBeAskedFor(open: OpenSend): boolean;
  },
): Ruling | undefined {
  const { lock, finding, send, canBeAskedFor } = given;
  const record = lock.steps.get(address);
  const closed = closedSends(lock);
  const all = openSendsOf(record).filter((one) => !closed.has(one.send));
  const charge = settleCharge(record, { lock, finding });
  if (record === undefined || all.length === 0) return charge ?? nothingOpen(address, [...lock.steps.values()]);
  // The job of an earlier purchase cannot be the answer to this create request.
  if (charge?.is === 'recorded') return charge;
  const [open, another] = send === undefined ? all : all.filter((one) => one.send === send);
  if (open === undefined || another !== undefined) {
    const list = all.map((one) => `--send ${one.send} (${describeSend(one)})`).join(', ');
    const text =
      open === undefined
        ? `has no unresolved create request with the id ${JSON.stringify(send)}`
        : `has ${all.length} create requests whose outcome is unknown`;
    return refuse(address, text, `name one: ${list}`);
  }
  if (finding === undefined) return undefined;
  const kind = open.kind ?? record.kind;
  if (isPost(kind) && finding.is === 'spend-again') {
    // A post that may be published is never repeated.
    return refuse(
      address,
      'is a post that may be published already, so it is not sent a second time',
      'check the social account: if the post exists or is scheduled, pass --job ID; if not, --not-spent, and the next approved apply publishes it',
    );
  }
  if (finding.is !== 'job' && canBeAskedFor(open)) {
    return refuse(
      address,
      'needs no decision yet: apply can still recover the answer with the same idempotency key, so nothing is charged twice',
      'run apply again; a decision is needed only 23 hours after the create request was sent',
    );
  }
  const owner = finding.is === 'job' ? findOwner(finding.jobId, { lock, kind, open }) : undefined;
  if (finding.is === 'job' && owner !== undefined) {
    const text = `cannot adopt job ${finding.jobId}, which is recorded as the purchase of ${owner.address}`;
    return refuse(address, text, 'find the job of this create request at the service. Nothing was recorded');
  }
  const text = describe(finding, isPost(kind));
  return { is: 'recorded', address, text, records: [recordOf(resolvePurchase(record, open, finding))] };
}

function settleCharge(
  record: StepRecord | undefined,
  { lock, finding }: { lock: Lock; finding: Finding | undefined },
): Ruling | undefined {
  const known = chargesByJob(lock);
  const uncharged = record?.purchases.filter(isJob).filter((one) => !known.has(chargeName(one))) ?? [];
  const [job] = uncharged;
  if (record === undefined || job === undefined) return undefined;
  const { address } = record;
  const found = finding?.is === 'job' ? uncharged.find(({ jobId }) => jobId === finding.jobId) : undefined;
  if (found === undefined || finding?.is !== 'job' || finding.credits === undefined) {
    const hint = call('resolve', address, '--job', job.jobId, '--credits', 'N');
    return refuse(
      address,
      `has job ${job.jobId}, whose charge is unknown`,
      way('look up the charge, and record it', hint),
    );
  }
  const { credits } = finding;
  const purchases = record.purchases.map((one) => (one === found ? { ...found, credits } : one));
  const text = `job ${found.jobId} was charged ${creditsOf(credits)}`;
  return { is: 'recorded', address, text, records: [{ ...record, purchases }] };
}

function findOwner(
  jobId: string,
  { lock, kind, open }: { lock: Lock; kind: string; open: OpenSend },
): StepRecord | undefined {
  const isOther = (one: Purchase, own: string) =>
    one.jobId === jobId &&
    (one.kind ?? own) === kind &&
    (one.fingerprint !== open.fingerprint || (one.key !== undefined && one.key !== open.key));
  return [...lock.steps.values()].find((record) => record.purchases.some((one) => isOther(one, record.kind)));
}

function nothingOpen(address: string, records: StepRecord[]): Ruling {
  const open = records.filter((record) => openSendsOf(record).length > 0).map((record) => record.address);
  const others = open.slice(0, 10).join(', ');
  const hint =
    others === '' ? 'nothing in this lock waits for a decision' : `these steps wait for a decision: ${others}`;
  return refuse(address, 'has no create request whose outcome is unknown', hint);
}

function describeSend({ since, key }: OpenSend): string {
  return since === undefined ? `key ${key}` : `sent ${since}`;
}

function describe(finding: Finding, isOfPost: boolean): string {
  switch (finding.is) {
    case 'job': {
      const { jobId, credits } = finding;
      if (isOfPost) return `the post is published as ${jobId} and is not sent again`;
      const charged = credits === undefined ? unknownCharge : creditsOf(credits);
      return `job ${jobId} (${charged}); the next apply collects the job`;
    }
    case 'not-spent':
      return isOfPost
        ? 'the post is not published; the next approved apply publishes it (--publish)'
        : 'nothing was charged; the next apply buys the step';
    case 'spend-again':
      return 'the next apply buys the step, perhaps for the second time';
    default:
      return finding satisfies never;
  }
}

const unknownCharge = 'charge unknown: record it with `resolve` and --credits N';

/** Records a paid job as the purchase of a step without a purchase. The next run downloads the job's files. */
export function importJob(
  match: Match,
  job: { jobId: string; credits?: number; recordId?: string },
  context: { campaign: string; lock: Lock },
): Ruling {
  const { step } = match;
  const { address } = step;
  const { campaign, lock } = context;
  const why = whyNotAdopt(match, job.jobId, lock);
  if (why !== undefined) return why;
  const finding = { is: 'job', ...job } as const;
  const text = describe(finding, false);
  const own = match.record;
  const [open, another] = openSendsOf(own).filter(({ fingerprint }) => fingerprint === step.fingerprint);
  if (open !== undefined && another !== undefined) {
    return refuse(
      address,
      'has several create requests whose answers were lost, and the job belongs to only one request',
      [
        way('name the create request, as in', call('resolve', address, '--job', job.jobId, '--send', open.send)),
        `or --send ${another.send}`,
      ],
    );
  }
  if (own !== undefined && open !== undefined) {
    return { is: 'recorded', address, text, records: [recordOf(resolvePurchase(own, open, finding))] };
  }
  return { is: 'recorded', address, text, records: [newRecord(step, job, { own, campaign })] };
}

function newRecord(
  step: Step,
  { jobId, credits, recordId }: { jobId: string; credits?: number; recordId?: string },
  { own, campaign }: { own: StepRecord | undefined; campaign: string },
): StepRecord {
  const { address, kind, fingerprint, paidRequest, take } = step;
  const attempt = 1;
  const { generation, repeat } = nextPurchase(own?.purchases ?? [], fingerprint);
  const purchase: Job = {
    fingerprint,
    generation,
    attempt,
    state: 'running',
    key: idempotencyKey({ campaign, fingerprint, repeat, attempt }),
    jobId,
    ...defined({ credits, recordId, take }),
    request: paidRequest,
  };
  return { address, kind, purchases: [purchase] };
}

function whyNotAdopt({ step, purchase, movedFrom, sharesJobOf }: Match, jobId: string, lock: Lock): Ruling | undefined {
  const { address } = step;
  const owner = findRecordOf(lock, step.kind, jobId);
  if (owner !== undefined && owner.address !== address) {
    const hint = way('to move the job', call('move', owner.address, address));
    return refuse(address, `cannot adopt job ${jobId}: the job is recorded as the purchase of ${owner.address}`, hint);
  }
  if (step.decided?.wanted !== undefined) {
    return refuse(address, 'is pinned or accepted as it is', 'remove the pin first, or keep the step as it is');
  }
  if (purchase !== undefined && (purchase.state === 'done' || purchase.state === 'running')) {
    const where = movedFrom === undefined ? '' : ` (bought as ${movedFrom})`;
    const hint = way('to forget the job of this step (its id stays on record)', call('forget', address));
    return refuse(address, `has job ${purchase.jobId} already${where}`, hint);
  }
  if (sharesJobOf !== undefined) {
    const hint = way('adopt the job for that address', call('adopt', sharesJobOf, '--job', jobId));
    return refuse(address, `shares the job of ${sharesJobOf}`, hint);
  }
  return undefined;
}

function findRecordOf(lock: Lock, kind: string, jobId: string): StepRecord | undefined {
  return [...lock.steps.values()].find((record) =>
    countedPurchases(record).some((one) => one.jobId === jobId && (one.kind ?? record.kind) === kind),
  );
}
