import { CampaignError } from '../contract/failure.ts';
import type { Graph } from '../graph/graph.ts';
import { type Call, call, way } from '../ground/advice.ts';
import type { Lock } from '../lock/record.ts';
import { findUncovered } from '../plan/agreement.ts';
import { findBehind } from '../plan/gates/block-at-gates.ts';
import type { Plan } from '../plan/plan.ts';
import { nextPurchase } from '../plan/purchases/key.ts';
import type { MakePlanOptions } from './make-plan.ts';
import type { OptionRow } from './option-table.ts';
import { findGiven, flagOf } from './options.ts';
import { digestOfSteps } from './save-plan.ts';
import { isKept, wordsOfPlan } from './saved-options.ts';
import type { SavedPlan } from './saved-plan.ts';

/**
 * Addresses that the selections of a saved plan matched when it was made. Evaluating the selections again could match
 * other steps (a step that had failed is running by now), and would redo steps that were already redone.
 */
export function chosenBy(saved: SavedPlan, lock: Lock): NonNullable<MakePlanOptions['chosen']> {
  const { select, exclude, first, sample } = saved.options;
  const isPart = [select, exclude, first, sample].some((one) => one !== undefined);
  const isOpen = (address: string) => {
    const { fingerprint, repeat } = saved.purchases.get(address) ?? {};
    const purchases = lock.steps.get(address)?.purchases ?? [];
    if (fingerprint === undefined || repeat === undefined) return false;
    return nextPurchase(purchases, fingerprint).repeat <= repeat;
  };
  // The remaining limit may be larger by now. Steps that the plan omitted for the limit stay omitted.
  const left = [...saved.shown.values()].filter(({ reason }) => reason.code === 'limit');
  return {
    redo: new Set(saved.redo.filter(isOpen)),
    ...(isPart && { selected: saved.addresses }),
    ...(left.length > 0 && { leftOut: new Set(left.map(({ address }) => address)) }),
  };
}

/**
 * Throws when the plan, made again now, would buy anything that the saved plan does not name. Purchases that an
 * interrupted run has made since are not repeated, and the rest of the saved plan is carried out.
 */
export function refuseStale(saved: SavedPlan, now: { plan: Plan; graph: Graph; service: string | undefined }): void {
  const { plan, graph, service } = now;
  const stale = (why: string) =>
    new CampaignError({
      code: 'MB3102',
      message: `${saved.path} is stale: ${why}`,
      hint: way('nothing was spent; plan again, with the same options', planAgain(saved)),
      file: saved.path,
    });
  if (saved.service !== undefined && service !== undefined && saved.service !== service) {
    throw stale('it was made for another service address');
  }
  if (saved.steps !== digestOfSteps(graph) || saved.campaign !== graph.name) {
    throw stale('the manifest, its data, its files or its variables changed since it was made');
  }
  // The cost of purchases after picks is shown apart from the amount to spend, so a purchase that is possible at once
  // must not be listed there.
  const behind = findBehind(graph, saved.gates);
  const early = [...saved.afterPicks.keys()].find((address) => !behind.has(address));
  if (early !== undefined) throw stale(`${early} hangs on none of the gates that it shows as open`);
  const found = findUncovered(saved, plan);
  if (found !== undefined) throw stale(found.text);
}

/** Plans again with the options of the saved plan. */
function planAgain({ path, options }: SavedPlan): Call {
  return call('plan', ...wordsOfPlan(options), '--out', path);
}

/** Refuses options that were settled when the plan was saved. */
export function refuseReplanning(saved: SavedPlan, options: object): void {
  const isRefused = (row: OptionRow) => (row.besideSaved ?? (isKept(row) ? 'refused' : 'taken')) === 'refused';
  const [first] = findGiven(options, isRefused);
  if (first === undefined) return;
  const given = flagOf(first.row);
  throw new CampaignError({
    code: 'MB3000',
    message: `${given} cannot be combined with a saved plan: ${saved.path} contains its own options`,
    hint: way(`plan again, with ${given} and the options that it was saved with`, planAgain(saved)),
    options: [given],
  });
}
