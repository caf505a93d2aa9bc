import type { Graph } from '../graph/graph.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { safeText } from '../report/safe-text.ts';
import { shellWord } from '../report/shell-word.ts';
import type { PlanCommandOptions } from './apply-options.ts';
import { CommandError, exitCodes } from './exit.ts';
import { digestOfSteps, type SavedPlan } from './saved-plan.ts';

/**
 * Throws when the plan as it is made now would buy what the saved one does not name. What was bought since, by a run that
 * was interrupted, is not bought again, and the rest of the saved plan goes on.
 */
export function refuseStale(
  saved: SavedPlan,
  now: { plan: Plan; graph: Graph; service: string | undefined; manifest: string },
): void {
  const { plan, graph, service, manifest } = now;
  const stale = (why: string) =>
    new CommandError(
      exitCodes.wrongInput,
      `${safeText(saved.path)} is stale: ${why}`,
      `plan again, with the same options: mediabatch plan ${shellWord(manifest)} --out ${shellWord(saved.path)}; nothing was spent`,
    );
  if (saved.service !== undefined && service !== undefined && saved.service !== service) {
    throw stale('it was made for another service address');
  }
  if (saved.steps !== digestOfSteps(graph)) {
    throw stale('the manifest, its data, its files or its variables changed since it was made');
  }
  const others = plan.rows.filter(({ address, action, credits, order }) => {
    if (!isSpending(action) || order === undefined) return false;
    const planned = saved.purchases.get(address);
    if (planned === undefined || planned.generation !== order.generation) return true;
    return planned.credits !== null && (credits === null || credits > planned.credits);
  });
  const [first] = others;
  if (first === undefined) return;
  const price = first.credits === null ? 'at an unknown price' : `for ${first.credits}`;
  const more = others.length === 1 ? '' : `, and ${others.length - 1} more`;
  throw stale(
    `${first.address} would be bought now ${price} (${safeText(first.reason)})${more}, which is not what it says`,
  );
}

/** Whether the saved plan says what each of these purchases costs. */
export function namesAllPrices(saved: SavedPlan, plan: Plan): boolean {
  const spending = plan.rows.filter(({ action }) => isSpending(action));
  return spending.every(({ address }) => typeof saved.purchases.get(address)?.credits === 'number');
}

/** What `apply` may not be told again: the plan was made with it. */
export function refuseReplanning(saved: SavedPlan, options: PlanCommandOptions & { dryRun?: boolean }): void {
  const { dryRun, sandbox, lock, var: vars, select, exclude, redo, maxCredits } = options;
  const settled = {
    '--dry-run': dryRun,
    '--sandbox': sandbox,
    '--lock': lock,
    '--var': vars,
    '--select': select,
    '--exclude': exclude,
    '--redo': redo,
    '--max-credits': maxCredits,
  };
  const [first] = Object.entries(settled).find(([, value]) => value !== undefined) ?? [];
  if (first === undefined) return;
  throw new CommandError(
    exitCodes.wrongUsage,
    `${first} does not go with a saved plan: what ${safeText(saved.path)} does was settled when it was made`,
    `plan again with it: mediabatch plan ${shellWord(saved.manifest)} ${first} … --out ${shellWord(saved.path)}`,
  );
}
