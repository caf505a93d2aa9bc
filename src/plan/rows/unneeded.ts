import type { Graph } from '../../graph/graph.ts';
import type { Lock } from '../../lock/record.ts';
import type { Reason } from '../plan.generated.ts';
import type { Plan, PlanRow } from '../plan.ts';
import { reasonOf } from '../reason.ts';
import type { Match } from '../situation/find-purchases.ts';
import {
  type CountParts,
  findConditions,
  findMissingPart,
  type PartCondition,
  partCounter,
} from '../situation/parts.ts';
import { lastingFacts } from './draft.ts';

/** Finds steps that are not needed: a part that they use does not exist, and nothing was bought. */
export function findUnneeded(graph: Graph, matches: readonly Match[]): ReadonlySet<string> {
  const conditions = findConditions(graph);
  if (conditions.size === 0) return new Set();
  const count = partCounter(matches);
  const isUnneeded = ({ step, purchase }: Match) =>
    purchase === undefined && findMissingPart(conditions.get(step.address), count) !== undefined;
  return new Set(matches.filter(isUnneeded).map(({ step }) => step.address));
}

export function partsOnRecord({ steps }: Pick<Lock, 'steps'>): CountParts {
  return (address, fingerprint) =>
    steps
      .get(address)
      ?.purchases.find((one) => one.state === 'done' && one.fingerprint === fingerprint && one.outputs !== undefined)
      ?.outputs?.length;
}

export function withoutUnneeded(plan: Plan, count: CountParts): { plan: Plan; unneeded: readonly PlanRow[] } {
  const unneeded: PlanRow[] = [];
  const rows = plan.rows.map((row): PlanRow => {
    const missing = row.action === 'blocked' ? findMissingPart(row.parts, count) : undefined;
    if (missing === undefined) return row;
    const rests: PlanRow = {
      ...lastingFacts(row),
      action: 'keep',
      credits: 0,
      unneeded: true,
      reason: notNeeded(missing),
    };
    unneeded.push(rests);
    return rests;
  });
  return { plan: unneeded.length === 0 ? plan : { ...plan, rows }, unneeded };
}

export function notNeeded({ condition, parts }: { condition: PartCondition; parts: number }): Reason {
  return reasonOf('not-needed', `not needed: ${condition.of} gave ${parts}`);
}
