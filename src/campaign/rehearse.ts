import { join, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import { call, way } from '../ground/advice.ts';
import type { JsonMap } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { listPrice } from '../kinds/list-price.ts';
import type { Listing } from '../kinds/listed-model.ts';
import type { Lock } from '../lock/record.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import { embedSandbox, type RunningSandbox } from './embed-sandbox.ts';
import type { RehearsalOptions } from './options.ts';
import type { CampaignPaths } from './paths.ts';

/** Highest price of one job of the sandbox. */
const mostForOne = 100;
/** Credits of a new sandbox. Users know this number. */
const leastBalance = 1000;
const defaultSpeed = 5;

/** Starts the embedded service for a run. Its account covers the plan, unless its credits were given. */
export async function rehearse(
  plan: Plan,
  of: {
    options: RehearsalOptions;
    paths: CampaignPaths;
    lock: Lock;
    /** Whether steps after gates are bought in the same run. */
    withPicks?: boolean;
    /** Lists of the service that is rehearsed. Empty if only the sandbox is known. */
    listings: readonly Listing[];
  },
): Promise<RunningSandbox> {
  const { options, paths, lock, withPicks = false, listings } = of;
  const dataDir = join(paths.state, 'sandbox');
  const { credits: given, speed = defaultSpeed, failRate = 0 } = options;
  const priceOf = (kind: string, body: JsonMap) => listPrice(requireKind(kind), body, listings)?.likely;
  const running = await embedSandbox({ dataDir, port: 0, speed, failRate, rehearsal: { priceOf } });
  try {
    const gone = neededJobs(plan, lock).filter(({ jobId }) => !running.knows(jobId));
    if (gone.length > 0) throw sandboxGone(gone, { paths, dataDir });
    const credits = given ?? Math.max(running.balance(), creditsToCover(plan, { withPicks }));
    if (credits !== running.balance()) running.setBalance(credits);
    return running;
  } catch (error) {
    await running.close();
    throw error;
  }
}

/**
 * Returns the budget or the most that the plan may cost, whichever is more, so that a rehearsal never runs out of
 * sandbox credits.
 */
export function creditsToCover({ rows, totals }: Plan, { withPicks = false }: { withPicks?: boolean } = {}): number {
  let most = 0;
  for (const { action, order, later, wouldCost } of rows) {
    if (later !== undefined && withPicks) most += (1 + (later.retries ?? 0)) * (wouldCost ?? mostForOne);
    if (order === undefined) continue;
    const purchases = (isSpending(action) ? 1 : 0) + (order.retries?.left ?? 0);
    most += purchases * (order.price.credits ?? mostForOne);
  }
  return Math.max(leastBalance, totals.budgetLeft ?? 0, most);
}

interface NeededJob {
  address: string;
  jobId: string;
}

/** Jobs of earlier runs that this run needs: jobs that it collects, and jobs whose links are used in requests. */
export function neededJobs({ rows }: Plan, lock: Lock): NeededJob[] {
  const needed = new Map<string, string>();
  const spending = new Set(rows.filter(({ action }) => isSpending(action)).map(({ address }) => address));
  for (const { address, action, order } of rows) {
    if (order === undefined) continue;
    // The files of a move are on this disk.
    if (order.jobId !== undefined && action !== 'move') needed.set(address, order.jobId);
    if (!isSpending(action)) continue;
    for (const used of findReferences(order.request)) {
      const purchases = lock.steps.get(used)?.purchases ?? [];
      const jobId = purchases.find(({ state }) => state === 'done' || state === 'running')?.jobId;
      if (jobId !== undefined && !spending.has(used)) needed.set(used, jobId);
    }
  }
  return [...needed].map(([address, jobId]) => ({ address, jobId }));
}

const mostNamed = 20;

/** Error for jobs that the sandbox no longer has, because a run would poll each of them until it gives up. */
function sandboxGone(
  gone: readonly NeededJob[],
  { paths, dataDir }: { paths: CampaignPaths; dataDir: string },
): CampaignError {
  const shown = (path: string) => relative('', path) || path;
  const names = gone.length > mostNamed ? ['*'] : gone.map(({ address }) => address);
  return new CampaignError({
    code: 'MB3404',
    message: `${shown(paths.lock)} is of a sandbox that is gone: ${shown(dataDir)} does not have ${countOf(gone.length, 'job')} that this run needs (it was deleted, or the lock is from another machine)`,
    hint: way('only sandbox credits are lost; create them again', call('forget', ...names, '--force')),
    lock: shown(paths.lock),
  });
}
