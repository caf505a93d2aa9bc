import { join } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { call, way } from '../ground/advice.ts';
import type { JsonMap } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { listPrice } from '../kinds/list-price.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import { embedSandbox, type RunningSandbox } from './embed-sandbox.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { RehearsalOptions } from './option-table.ts';
import { shownPath } from './paths.ts';
import { readKeptListings } from './service-facts.ts';

const mostForOne = 100;
const leastBalance = 1000;
const defaultSpeed = 5;

export async function rehearse(
  plan: Plan,
  { paths, rehearsed }: OpenCampaign,
  { waits, credits: given, speed = defaultSpeed, failRate = 0 }: RehearsalOptions & { waits: boolean },
): Promise<RunningSandbox> {
  const dataDir = join(paths.state, 'sandbox');
  const listings = await readKeptListings({ paths, service: rehearsed });
  const priceOf = (kind: string, body: JsonMap) => listPrice(requireKind(kind), body, listings)?.likely;
  const running = await embedSandbox({ files: { dataDir }, port: 0, speed, failRate, rehearsal: { priceOf } });
  try {
    requireJobs(plan, running, { lock: paths.lock, dataDir });
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

const mostNamed = 20;

function requireJobs(
  { rows }: Plan,
  running: RunningSandbox,
  { lock, dataDir }: { lock: string; dataDir: string },
): void {
  // The files of a moved step are on this machine.
  const gone = rows.filter(
    ({ action, order }) => action !== 'move' && order?.jobId !== undefined && !running.knows(order.jobId),
  );
  if (gone.length === 0) return;
  const names = gone.length > mostNamed ? ['*'] : gone.map(({ address }) => address);
  throw new CampaignError({
    code: 'MB3404',
    message: `${shownPath(lock)} belongs to a sandbox that no longer exists: ${shownPath(dataDir)} does not have ${countOf(gone.length, 'job')} that this run needs (it was deleted, or the lock is from another machine)`,
    hint: way('only sandbox credits are lost; create them again', call('forget', ...names, '--force')),
    lock: shownPath(lock),
  });
}
