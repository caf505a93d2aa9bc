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

/** A plan made during a run, and the graph by which it was made: with the verdicts that count. */
export interface PlannedAgain {
  plan: Plan;
  graph: DecidedGraph;
}

/**
 * Plans during a run, by its own lock. Only what waited at gates matters, so only its outputs are looked at; and what the
 * credits cover is for the run's own account to say.
 */
export async function planAgain(
  means: Pick<OpenCampaign, 'replays' | 'accountOf'> & {
    /** Milliseconds since 1970. */
    now(): number;
    /** Asks the disk about recorded outputs. */
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
  // Whether a canary fits lets others go on that waited.
  const goFirst = new Set((graph.canaries ?? []).flatMap(({ members }) => members));
  const matters = ({ step }: Match) => waiting.has(step.address) || goFirst.has(step.address);
  const recorded = outputsToCheck(first.matches.filter(matters));
  const facts = await means.look(recorded);
  // The run goes on meanwhile, and its lock with it.
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
