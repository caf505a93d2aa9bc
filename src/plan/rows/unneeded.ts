import type { Graph } from '../../graph/graph.ts';
import type { Lock } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import type { Reason } from '../plan.generated.ts';
import type { Plan, PlanRow } from '../plan.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
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

/** Finds steps that are not needed and have no output: a part that they use does not exist, or what they use was rejected. */
export function findUnneeded(graph: Graph, matches: readonly Match[]): ReadonlySet<string> {
  const conditions = findConditions(graph);
  const count = partCounter(matches);
  const isUnneeded = (match: Match) =>
    isDecidedAgainst(match) ||
    (match.purchase === undefined && findMissingPart(conditions.get(match.step.address), count) !== undefined);
  return new Set(matches.filter(isUnneeded).map(({ step }) => step.address));
}

/** A running job, an open create request and a sent post are still settled. */
function isDecidedAgainst({ step, purchase, record }: Match): boolean {
  if (step.rejected === undefined || record?.purchases.some(isOpenSend)) return false;
  if (record !== undefined && isPost(step.kind) && sendsOf(record).length > 0) return false;
  return purchase === undefined || purchase.state === 'refused' || purchase.state === 'failed';
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
