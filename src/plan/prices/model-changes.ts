import { canonicalJson } from '../../ground/json.ts';
import { kinds } from '../../kinds/index.ts';
import { listPrice } from '../../kinds/list-price.ts';
import type { Listing } from '../../kinds/listed-model.ts';
import { modelName, priceClass } from '../../kinds/price.ts';
import type { Lock } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { ModelChange } from '../plan.generated.ts';
import type { PlanRow } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import { chargedPrices, type PriceHints } from './price-sources.ts';

export interface RefreshedList {
  before?: Listing | undefined;
  now?: Listing | undefined;
}

/**
 * Finds the models of a plan that a refreshed list no longer has or marks as deprecated, and those whose list price
 * exceeds the highest charge. A step that buys nothing is ignored.
 */
export function findModelChanges(
  rows: readonly PlanRow[],
  of: { matches: readonly Match[]; lock: Lock; hints: PriceHints; lists: readonly RefreshedList[] },
): ModelChange[] {
  const requests = new Map(of.matches.map(({ step }) => [step.address, step.request]));
  const listings = of.lists.map(({ now }) => now).filter((one) => one !== undefined);
  const charged = chargedPrices([of.lock]);
  const found = new Map<string, ModelChange>();
  for (const { address, kind: name, action } of rows) {
    const [kind, request] = [kinds[name], requests.get(address)];
    const model = kind && request && modelName(kind, request);
    if (kind === undefined || request === undefined || model === undefined) continue;
    if (!isSpending(action) && action !== 'blocked') continue;
    const add = (change: Pick<ModelChange, 'is' | 'charged' | 'listed'>) => {
      const id = canonicalJson([name, model, { ...change }]);
      const known = found.get(id);
      if (known === undefined) found.set(id, { kind: name, model, ...change, addresses: [address] });
      else known.addresses.push(address);
    };
    const modelIn = (listing: Listing | undefined) => listing?.[name]?.models[model];
    // An empty list is a list that could not be read.
    const isGone = of.lists.some(
      ({ before, now }) =>
        modelIn(before) !== undefined && now !== undefined && Object.keys(now).length > 0 && modelIn(now) === undefined,
    );
    if (isGone) add({ is: 'gone' });
    const models = listings.flatMap((listing) => modelIn(listing) ?? []);
    if (models.some(({ isDeprecated }) => isDeprecated)) add({ is: 'deprecated' });
    const priced = priceClass(kind, request);
    const high = charged.get(priced)?.high ?? of.hints.elsewhere?.get(priced)?.high;
    const listed = listPrice(kind, request, listings)?.low;
    // A class has only the magnitude of a text's length, so a longer text of the class is not a higher price.
    const isByText = models.some(({ per }) => typeof per === 'object' && 'characters' in per);
    if (high !== undefined && listed !== undefined && listed > high && !isByText) {
      add({ is: 'dearer', charged: high, listed });
    }
  }
  return [...found.values()];
}
