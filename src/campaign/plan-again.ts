import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { assemblePlan, type OutputToCheck, outputsToCheck } from '../plan/assemble.ts';
import { waitingRows } from '../plan/gates/add-to-run.ts';
import type { Plan } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import type { DecidedGraph } from '../plan/situation/decided-graph.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import { situate, withFiles } from '../plan/situation/situation.ts';
import type { OutputFacts } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';

/** A plan made during a run, and its graph with the current verdicts. */
export interface PlannedAgain {
  plan: Plan;
  graph: DecidedGraph;
}

/**
 * Makes the plan again during a run, from the run's lock. Only steps that wait at gates can change, so only their
 * inputs are checked on disk; the budget is ignored, because the run's own accounting enforces it.
 */
export async function planAgain(
  means: Pick<OpenCampaign, 'replays' | 'accountOf'> & {
    /** Milliseconds since 1970. */
    now(): number;
    /** Reads the state of recorded outputs on disk. */
    look(recorded: readonly OutputToCheck[]): Promise<OutputFacts>;
  },
  now: { graph: Graph; lock: Lock; redo: ReadonlySet<string>; agreed: Plan; took: ReadonlyMap<string, unknown> },
  same: { hints: PriceHints; selected?: ReadonlySet<string> | undefined; onUnknown?: 'ask' | 'hold' | undefined },
): Promise<PlannedAgain> {
  const { graph, lock, redo, agreed, took } = now;
  const { hints, selected, onUnknown } = same;
  const waiting = waitingRows(agreed);
  const underWay = new Set([...agreed.rows.flatMap(({ address, order }) => (order ? [address] : [])), ...took.keys()]);
  const look = () => situate({ ...graph, budget: undefined }, lock, { redo, selected, underWay });
  const first = look();
  // The check of a canary's outputs can release steps that waited for it.
  const goFirst = new Set((graph.canaries ?? []).flatMap(({ members }) => members));
  const matters = ({ step }: Match) => waiting.has(step.address) || goFirst.has(step.address);
  const recorded = outputsToCheck(first.matches.filter(matters));
  const facts = await means.look(recorded);
  // The run may have changed the lock while the files were read.
  const situation = recorded.length === 0 ? first : look();
  const looked = new Set(recorded.map(({ output }) => output.path));
  const plan = assemblePlan({
    situation: withFiles(situation, {
      ...facts,
      fileState: (output) => (looked.has(output.path) ? facts.fileState(output) : 'intact'),
    }),
    hints,
    replays: means.replays,
    accountOf: means.accountOf,
    now: means.now(),
    concurrency: agreed.concurrency,
    ...(onUnknown !== undefined && { onUnknown }),
  });
  return { plan, graph: situation.graph };
}
