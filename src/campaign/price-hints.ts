import type { Graph } from '../graph/graph.ts';
import type { Lock } from '../lock/record.ts';
import { heldPurchases } from '../plan/prices/held.ts';
import { plausiblePrices } from '../plan/prices/price-sources.ts';
import { type PriceHints, pricesFrom } from '../plan/prices/prices.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import { readOtherLocks } from './find-locks.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { readListings, type ServiceFacts } from './service-facts.ts';

/**
 * Finds price facts from sources other than the manifest and its lock: charges of the same service in other locks of
 * the working tree, and the service's lists. Sends no request; reads nothing when no price is needed.
 */
export async function findPriceHints(
  campaign: Pick<OpenCampaign, 'sandbox' | 'paths' | 'service' | 'rehearsed' | 'documents'>,
  of: {
    graph: Graph;
    lock: Lock;
    matches: readonly Match[];
    redo: ReadonlySet<string>;
    facts?: ServiceFacts | undefined;
  },
): Promise<PriceHints> {
  const { graph, lock, redo, facts } = of;
  const mayBuy = of.matches.filter(({ step, purchase }) => redo.has(step.address) || !isBought(purchase));
  const certain = pricesFrom(lock, graph.prices);
  const isCharged = ({ step }: Match) => ['lock', 'documented'].includes(certain(step.kind, step.request).source);
  const isHeldAtPrice = [...heldPurchases(lock, certain)].every(({ price }) => price?.credits != null);
  if (isHeldAtPrice && mayBuy.every(isCharged)) return {};
  const service = campaign.service ?? lock.service;
  const others = service === undefined ? [] : await readOtherLocks(campaign.paths, service);
  const elsewhere = plausiblePrices(others.map(({ lock: other }) => other));
  const isPriced = ({ step }: Match) => {
    const price = certain(step.kind, step.request);
    return price.likely !== undefined || elsewhere.has(price.class);
  };
  if (isHeldAtPrice && mayBuy.every(isPriced)) return { elsewhere };
  return { elsewhere, listings: await readListings(campaign, facts) };
}

function isBought(purchase: Match['purchase']): boolean {
  return purchase?.state === 'done' || purchase?.state === 'running';
}
