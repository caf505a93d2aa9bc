import type { OpenRequest } from '../../graph/graph.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { highestListed } from '../../kinds/list-price.ts';
import { type Listing, mostCredits } from '../../kinds/listed-model.ts';
import { priceClass } from '../../kinds/price.ts';
import type { Lock } from '../../lock/record.ts';

/** Lowest, most frequent (of several, the highest) and highest charge for jobs of one price class. */
interface ChargedPrice {
  low: number;
  likely: number;
  high: number;
}

export type ChargedPrices = ReadonlyMap<string, ChargedPrice>;

/**
 * Upper bound for the charge of a create request, as a multiple of its estimate. Under a cap, requests with a charge
 * that is not known yet run at the same time only if the rest of the cap could pay for all of them at this bound.
 */
export const worstFactor = 8;

/** Credits by price class, or by a prefix of one. */
export type WrittenPrices = { readonly [priceClass: string]: number };

/** Sources of prices in addition to the manifest and its lock. They give estimates, for which nothing is reserved. */
export interface PriceHints {
  /** Prices from other locks, charged by the same service. */
  elsewhere?: ChargedPrices | undefined;
  listings?: readonly Listing[] | undefined;
}

interface PriceSources {
  charged: ChargedPrices;
  written: WrittenPrices;
  hints: PriceHints;
}

/**
 * Returns a finder for the highest price of a kind in any source: documents, price lists, earlier charges, the
 * manifest. A charge that the service does not state is held at that price. `undefined`: no source has a price above 0.
 */
export function namedPrices(from: PriceSources): (kind: Kind, request: OpenRequest) => number | undefined {
  const known = new Map<string, number>();
  return (kind, request) => {
    const named = known.get(kind.name) ?? highest(namesOf(from, (name) => name === kind.name)) ?? 0;
    known.set(kind.name, named);
    return highest([named, highestListed(kind, request, from.hints.listings ?? []) ?? 0]);
  };
}

/** Returns the highest price of any kind in all sources except price lists. */
export function highestOfAll(from: PriceSources): number {
  return highest(namesOf(from, () => true)) ?? 1;
}

function namesOf({ charged, written, hints }: PriceSources, isMeant: (kind: string) => boolean): number[] {
  const limits: [name: string, credits: number][] = [
    ...Object.entries(written),
    ...[...charged, ...(hints.elsewhere ?? [])].map(([name, { high }]): [string, number] => [name, high]),
    ...Object.values(kinds).flatMap(({ name, model }) =>
      Object.values(model?.models ?? {}).map(({ credits = 0 }): [string, number] => [name, credits]),
    ),
  ];
  return limits.flatMap(([name, credits]) => (isMeant(name.split('/')[0] ?? name) ? [credits] : []));
}

function highest(amounts: readonly number[]): number | undefined {
  const most = Math.max(0, ...amounts);
  return most > 0 ? most : undefined;
}

export function chargedPrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  const counts = new Map<string, Map<number, number>>();
  for (const { steps } of locks) {
    for (const record of steps.values()) {
      for (const { request, credits, jobId, kind: name = record.kind } of record.purchases) {
        const kind = kinds[name];
        // A charge of 0 does not predict the next charge.
        if (kind === undefined || request === undefined || credits === undefined || jobId === undefined) continue;
        if (credits < 1) continue;
        const priced = priceClass(kind, request);
        const seen = counts.get(priced) ?? new Map<number, number>();
        seen.set(credits, (seen.get(credits) ?? 0) + 1);
        counts.set(priced, seen);
      }
    }
  }
  return new Map([...counts].map(([name, seen]) => [name, sumUp(seen)]));
}

/** Collects charged prices from locks that others may have written. Implausible charges are dropped. */
export function plausiblePrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  return new Map([...chargedPrices(locks)].filter(([, { high }]) => high <= mostCredits));
}

function sumUp(seen: ReadonlyMap<number, number>): ChargedPrice {
  const amounts = [...seen].sort(([a, times], [b, others]) => others - times || b - a);
  const all = [...seen.keys()];
  return { low: Math.min(...all), likely: amounts[0]?.[0] ?? 0, high: Math.max(...all) };
}
