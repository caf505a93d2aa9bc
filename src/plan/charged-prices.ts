import { kinds } from '../kinds/index.ts';
import { mostCredits } from '../kinds/listed-model.ts';
import { priceClass } from '../kinds/price.ts';
import type { Lock } from '../lock/record.ts';

/** Charges for jobs of one price class: the least, the most frequent (of several the highest), and the most. */
export interface ChargedPrice {
  low: number;
  likely: number;
  high: number;
}

/** Charged prices, by price class. */
export type ChargedPrices = ReadonlyMap<string, ChargedPrice>;

/** Counts what was charged in these locks, by price class. */
export function chargedPrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  const counts = new Map<string, Map<number, number>>();
  for (const { steps } of locks) {
    for (const record of steps.values()) {
      for (const { request, credits, jobId, kind: name = record.kind } of record.purchases) {
        const kind = kinds[name];
        // A charge of 0 does not predict the next one.
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

/** The same from locks that somebody else may have written: what no job costs is left out. */
export function plausiblePrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  return new Map([...chargedPrices(locks)].filter(([, { high }]) => high <= mostCredits));
}

function sumUp(seen: ReadonlyMap<number, number>): ChargedPrice {
  const amounts = [...seen].sort(([a, times], [b, others]) => others - times || b - a);
  const all = [...seen.keys()];
  return { low: Math.min(...all), likely: amounts[0]?.[0] ?? 0, high: Math.max(...all) };
}
