import type { OpenRequest } from '../graph/graph.ts';
import { kinds } from '../kinds/index.ts';
import { documentedCredits, priceClass } from '../kinds/price.ts';
import type { Lock } from '../lock/record.ts';
import type { Price } from './plan.ts';

/** What a request costs, as far as anybody knows. */
export type PriceOf = (kind: string, request: OpenRequest) => Price;

/**
 * Prices from what was charged before and from the service's documentation. The highest counts: a reservation must be an
 * upper bound.
 */
export function pricesFrom(lock: Lock): PriceOf {
  const charged = new Map<string, number>();
  for (const record of lock.steps.values()) {
    const kind = kinds[record.kind];
    if (kind === undefined) continue;
    for (const { request, credits, jobId } of record.purchases) {
      // A charge of nothing says nothing about the next one.
      if (request === undefined || credits === undefined || credits < 1 || jobId === undefined) continue;
      const name = priceClass(kind, request);
      charged.set(name, Math.max(charged.get(name) ?? 0, credits));
    }
  }
  return (kindName, request) => {
    const kind = kinds[kindName];
    if (kind === undefined) return { class: kindName, credits: null };
    const name = priceClass(kind, request);
    const known = [charged.get(name), documentedCredits(kind, request)].filter((credits) => credits !== undefined);
    return { class: name, credits: known.length === 0 ? null : Math.max(...known) };
  };
}
