import { join } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import { call, way } from '../ground/advice.ts';
import type { JsonMap } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { listPrice } from '../kinds/price.ts';
import type { Lock } from '../lock/record.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import { embedSandbox, type RunningSandbox } from './embed-sandbox.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { RehearsalOptions } from './option-table.ts';
import { shownPath } from './paths.ts';
import type { LockedPlan } from './run.ts';
import { readKeptListings } from './service-facts.ts';

const mostForOne = 100;
const leastBalance = 1000;
const defaultSpeed = 5;

export async function rehearse(
  { made: plan, loaded }: Pick<LockedPlan, 'made' | 'loaded'>,
  { paths, rehearsed }: OpenCampaign,
  { waits, credits: given, speed = defaultSpeed, failRate = 0 }: RehearsalOptions & { waits: boolean },
): Promise<RunningSandbox> {
  const dataDir = join(paths.state, 'sandbox');
  const listings = await readKeptListings({ paths, service: rehearsed });
  const priceOf = (kind: string, body: JsonMap) => listPrice(requireKind(kind), body, listings)?.likely;
  const running = await embedSandbox({ files: { dataDir }, port: 0, speed, failRate, rehearsal: { priceOf } });
  try {
    const gone = neededJobs(plan, loaded.lock).filter(([, jobId]) => !running.knows(jobId));
    if (gone.length > 0) throw sandboxGone(gone, { lock: paths.lock, dataDir });
    const credits = given ?? Math.max(running.balance(), creditsToCover(plan, waits));
    if (credits !== running.balance()) running.setBalance(credits);
    return running;
  } catch (error) {
    await running.close();
    throw error;
  }
}

function creditsToCover({ rows, totals }: Plan, withPicks: boolean): number {
  let most = 0;
  for (const { action, order, later, wouldCost } of rows) {
    if (later !== undefined && withPicks) most += (1 + (later.retries ?? 0)) * (wouldCost ?? mostForOne);
    if (order === undefined) continue;
    const purchases = (isSpending(action) ? 1 : 0) + (order.retries?.left ?? 0);
    most += purchases * (order.price.credits ?? mostForOne);
  }
  return Math.max(leastBalance, totals.budgetLeft ?? 0, most);
}

type NeededJob = readonly [address: string, jobId: string];

/** Returns the jobs that a run of the plan polls or downloads, and the jobs whose outputs its purchases use. */
function neededJobs({ rows }: Plan, lock: Lock): NeededJob[] {
  const needed = new Map<string, string>();
  const spending = new Set(rows.filter(({ action }) => isSpending(action)).map(({ address }) => address));
  for (const { address, action, order } of rows) {
    if (order === undefined) continue;
    // The sandbox need not have the job of a renamed step, because the files of the step are on this machine.
    if (order.jobId !== undefined && action !== 'move') needed.set(address, order.jobId);
    if (!isSpending(action)) continue;
    for (const used of findReferences(order.request)) {
      const purchases = lock.steps.get(used)?.purchases ?? [];
      const jobId = purchases.find(({ state }) => state === 'done' || state === 'running')?.jobId;
      if (jobId !== undefined && !spending.has(used)) needed.set(used, jobId);
    }
  }
  return [...needed];
}

const mostNamed = 20;

function sandboxGone(gone: readonly NeededJob[], { lock, dataDir }: { lock: string; dataDir: string }): CampaignError {
  const names = gone.length > mostNamed ? ['*'] : gone.map(([address]) => address);
  return new CampaignError({
    code: 'MB3404',
    message: `${shownPath(lock)} belongs to a sandbox that no longer exists: ${shownPath(dataDir)} does not have ${countOf(gone.length, 'job')} that this run needs (its data was deleted, or the lock is from another machine)`,
    hint: way(
      'only sandbox credits are lost; to let the next run create the jobs again, forget the old jobs',
      call('forget', ...names, '--force'),
    ),
    lock: shownPath(lock),
  });
}
