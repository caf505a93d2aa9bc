import { groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Listing } from '../../kinds/listed-model.ts';
import { listPrice, modelName } from '../../kinds/price.ts';
import { isSpending } from '../actions.ts';
import type { ModelChange } from '../plan.generated.ts';
import type { PlanRow } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';

export interface RefreshedList {
  before?: Listing | undefined;
  now?: Listing | undefined;
}

export function findModelChanges(
  rows: readonly PlanRow[],
  matches: readonly Match[],
  lists: readonly RefreshedList[],
): ModelChange[] {
  const requests = new Map(matches.map(({ step }) => [step.address, step.request]));
  const listings = lists.map(({ now }) => now).filter((one) => one !== undefined);
  const found = rows.flatMap(({ address, kind: name, action, price }) => {
    const [kind, request] = [kinds[name], requests.get(address)];
    const model = kind && request && modelName(kind, request);
    if (kind === undefined || request === undefined || model === undefined) return [];
    if (!isSpending(action) && action !== 'blocked') return [];
    const modelIn = (listing: Listing | undefined) => listing?.[name]?.models[model];
    const models = listings.flatMap((listing) => modelIn(listing) ?? []);
    const charged = price?.source === 'lock' || price?.source === 'other-lock' ? price.high : undefined;
    // Texts of one price class differ in length, so the charge for another text does not show whether a price per character has changed.
    const isByText = models.some(({ per }) => typeof per === 'object' && 'characters' in per);
    const listed = isByText ? undefined : listPrice(kind, request, listings)?.low;
    const isGone = lists.some(
      ({ before, now = {} }) => modelIn(before) !== undefined && Object.keys(now).length > 0 && !modelIn(now),
    );
    const states = [
      ...(isGone ? ['is no longer listed by the service'] : []),
      ...(models.some(({ isDeprecated }) => isDeprecated) ? ['is marked as deprecated by the service'] : []),
      ...(charged != null && listed !== undefined && listed > charged
        ? [`is listed for ${listed} credits, but cost ${charged} before`]
        : []),
    ];
    return states.map((state) => ({ text: `${name}/${model} ${state}`, address }));
  });
  return [...groupBy(found, ({ text }) => text)].map(([text, own]) => ({
    text,
    addresses: own.map(({ address }) => address),
  }));
}
