import type { Charge } from './list-charges.ts';
import type { Situation } from './situation.ts';

/** Cost of getting to what people picked. */
export interface Approved {
  /** Outputs that are picked. */
  assets: number;
  /** Spent on tasks with gates: drafts, rejected and redone ones included. */
  credits: number;
}

/** Sums up what tasks with gates cost, and what was picked of it. Undefined where nothing is picked. */
export function sumApproved(
  { graph: { gates }, gateOf, matches, verdicts }: Situation,
  charges: readonly Charge[],
): Approved | undefined {
  if (gates.length === 0) return undefined;
  const tasks = new Set(gates.map(({ task }) => task));
  const picked = matches.filter(
    (match) =>
      gateOf.has(match.step.address) && match.purchase?.state === 'done' && verdicts.on(match)?.is === 'picked',
  );
  const spent = charges.filter(({ task, went }) => tasks.has(task) && went !== 'held');
  const credits = spent.reduce((sum, charge) => sum + (charge.credits ?? 0), 0);
  return picked.length === 0 ? undefined : { assets: picked.length, credits };
}
