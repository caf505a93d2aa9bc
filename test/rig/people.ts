import type { LiveRun } from '../../src/campaign/live-run.ts';
import type { WantedVerdict } from '../../src/contract/review.ts';
import type { Graph } from '../../src/graph/graph.ts';
import type { Lock } from '../../src/lock/record.ts';
import type { Ruling } from '../../src/plan/decisions/ruling.ts';
import type { DecidedGate } from '../../src/plan/situation/find-purchases.ts';
import { situate } from '../../src/plan/situation/situation.ts';

export type Said = { [address: string]: WantedVerdict['is'] };

/** The output that a step has, as the page names it. */
export function jobAt({ steps }: Lock, address: string): string | undefined {
  return steps.get(address)?.purchases.find(({ state }) => state === 'done')?.jobId;
}

/** People say this of what these steps have now. */
export function say(live: LiveRun, said: Said): Promise<Ruling[] | 'over'> {
  const { lock } = live.state();
  return live.judge(
    Object.entries(said).map(([address, is]) => ({ address, is, job: jobAt(lock, address) ?? 'none' })),
  );
}

/** The gates as they are by this lock. */
export function gatesOf(graph: Graph, lock: Lock): readonly DecidedGate[] {
  return situate(graph, lock).graph.gates;
}
