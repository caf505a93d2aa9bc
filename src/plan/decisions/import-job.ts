import type { Step } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { defined } from '../../ground/values.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { recordOf } from '../../lock/join.ts';
import type { Job, Lock, StepRecord } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import { idempotencyKey, nextPurchase } from '../purchases/key.ts';
import { openSendsOf } from '../purchases/open-sends.ts';
import type { Match } from '../situation/find-purchases.ts';
import { chargeRuling, resolvePurchase } from './resolve-purchase.ts';
import { creditsOf, type Ruling, refuse } from './ruling.ts';

/** Records a paid job, from any source, as the purchase of a step that has none. The next run downloads it. */
export function importJob(
  match: Match,
  job: { jobId: string; credits?: number; recordId?: string },
  context: { campaign: string; lock: Lock },
): Ruling {
  const { step } = match;
  const { address } = step;
  const { campaign, lock } = context;
  const charge = recordCharge(match, job);
  if (charge !== undefined) return charge;
  const why = whyNot(match, job.jobId, lock);
  if (why !== undefined) return why;
  const charged = job.credits === undefined ? unknownCharge : creditsOf(job.credits);
  const text = `its job is ${job.jobId} (${charged}); the next apply collects it`;
  const own = match.record;
  const [open, another] = openSendsOf(own).filter(({ fingerprint }) => fingerprint === step.fingerprint);
  if (open !== undefined && another !== undefined) {
    return refuse(address, 'has several creates whose answer was lost, and the job answers one of them', [
      way('say which one, as in', call('resolve', address, '--job', job.jobId, '--send', open.send)),
      `or --send ${another.send}`,
    ]);
  }
  if (own !== undefined && open !== undefined) {
    return { is: 'recorded', address, text, records: [recordOf(resolvePurchase(own, open, { is: 'job', ...job }))] };
  }
  return { is: 'recorded', address, text, records: [newRecord(step, job, { own, campaign })] };
}

const unknownCharge = 'its charge is unknown: adopt it again with --credits N once you know';

/** Adds the charge to a job that is already on record. A known charge is never overwritten. */
function recordCharge({ record, purchase }: Match, job: { jobId: string; credits?: number }): Ruling | undefined {
  const { jobId, credits } = job;
  if (record === undefined || credits === undefined || purchase === undefined || !isJob(purchase)) return undefined;
  if (!record.purchases.includes(purchase) || purchase.jobId !== jobId || purchase.credits !== undefined)
    return undefined;
  return chargeRuling(record, purchase, credits);
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

function whyNot({ step, purchase, movedFrom, sharesJobOf }: Match, jobId: string, lock: Lock): Ruling | undefined {
  const { address } = step;
  const owner = findOwner(lock, step.kind, jobId);
  if (owner !== undefined && owner.address !== address) {
    return refuse(
      address,
      `cannot have job ${jobId}: it is on record as ${owner.address}`,
      way('to hand it over', call('move', owner.address, address)),
    );
  }
  if (step.decided?.wanted !== undefined) {
    return refuse(address, 'is pinned or accepted as it is', 'remove the pin first, or keep the step as it is');
  }
  if (purchase !== undefined && (purchase.state === 'done' || purchase.state === 'running')) {
    const where = movedFrom === undefined ? '' : ` (bought as ${movedFrom})`;
    return refuse(
      address,
      purchase.jobId === jobId ? `has job ${jobId} already` : `has job ${purchase.jobId} already${where}`,
      way(
        'only a step without a job can adopt one; to free this step, while its job id stays on record',
        call('forget', address),
      ),
    );
  }
  if (sharesJobOf !== undefined) {
    return refuse(
      address,
      `shares the job of ${sharesJobOf}`,
      way('adopt it there', call('adopt', sharesJobOf, '--job', jobId)),
    );
  }
  return undefined;
}

/** Finds the record that has a job. A forgotten job may be imported again; each kind has its own job numbers. */
function findOwner(lock: Lock, kind: string, jobId: string): StepRecord | undefined {
  return [...lock.steps.values()].find((record) =>
    countedPurchases(record).some((one) => one.jobId === jobId && (one.kind ?? record.kind) === kind),
  );
}
