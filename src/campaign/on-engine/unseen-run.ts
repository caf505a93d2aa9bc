import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/run-record.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Lock } from '../../lock/record.ts';
import { closedSends, isOpenSend, sendOf } from '../../lock/sends.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { requireLock } from '../read-lock.ts';
import { isOfGraph } from './engine-refusals.ts';
import { lockOfRun } from './lock-of-run.ts';

/** Ended runs that are looked through, the last ones first. */
const mostNamesakes = 10;

/**
 * The last run of this campaign that has ended on the engine and has bought what this lock does not know: whoever
 * submitted it went away before its end, and their clone perhaps with them. `last`: the last one that has ended, whatever
 * became of it.
 */
export async function findUnseenRun(
  { database, account }: Engine,
  campaign: OpenCampaign,
  graph: Pick<Graph, 'name' | 'steps'>,
): Promise<{ unseen: RunRecord | undefined; last: string | null }> {
  const { lastEndedRuns, readHeader } = await import('../../cluster/runs.ts');
  const ended = await lastEndedRuns(database, { account, campaign: graph.name, most: mostNamesakes });
  const last = ended[0]?.id ?? null;
  let lock: Lock | undefined;
  for (const run of ended) {
    if (!isOfGraph(await readHeader(database, run.id), graph)) continue;
    // What there is to say of the lock is said when it is read for the run.
    lock ??= (await requireLock({ ...campaign, tell: () => {} }, campaign.service, { serviceMoved: true })).lock;
    // A newer run of another clone says nothing of what an older one bought.
    if (hasNews(await lockOfRun(database, run.id), lock)) return { unseen: run, last };
  }
  return { unseen: undefined, last };
}

/** Whether one lock tells of a payment that another knows nothing of, whatever became of it there. */
export function hasNews(lock: Lock, known: Lock): boolean {
  const purchases = [...known.steps.values()].flatMap((record) => record.purchases);
  const [jobs, keys] = [new Set(purchases.map(({ jobId }) => jobId)), new Set(purchases.map(({ key }) => key))];
  const closed = closedSends(known);
  return [...lock.steps.values()].some((record) =>
    record.purchases.some((purchase) => {
      if (purchase.jobId !== undefined) return !jobs.has(purchase.jobId);
      // A send that was answered has left its key alone.
      return isOpenSend(purchase) && !keys.has(purchase.key) && !closed.has(sendOf(purchase));
    }),
  );
}
