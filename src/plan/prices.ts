import type { OpenRequest } from '../graph/graph.ts';
import { kinds } from '../kinds/index.ts';
import { documentedCredits, priceClass } from '../kinds/price.ts';
import type { Lock } from '../lock/record.ts';
import type { Price } from './plan.ts';

/** Returns the best known price of a request. */
export type PriceOf = (kind: string, request: OpenRequest) => Readonly<Price>;

/** Credits by price class, or by a prefix of one. */
export type WrittenPrices = { readonly [priceClass: string]: number };

/**
 * Derives prices from earlier charges, from the service's documentation, and from the manifest. The highest counts,
 * because a reservation must be an upper bound.
 */
export function pricesFrom(lock: Lock, written: WrittenPrices = {}): PriceOf {
  // Computed on first use: when nothing is left to buy, no price is needed.
  let charged: ReadonlyMap<string, number> | undefined;
  const said = readWritten(written);
  // Thousands of steps of one class share one price object.
  const prices = new Map<string, Readonly<Price>>();
  return (kindName, request) => {
    const kind = kinds[kindName];
    if (kind === undefined) return { class: kindName, credits: null };
    charged ??= chargesByClass(lock);
    const name = priceClass(kind, request);
    const known = [charged.get(name), documentedCredits(kind, request), said(name)];
    const numbers = known.filter((one) => one !== undefined);
    const credits = numbers.length === 0 ? null : Math.max(...numbers);
    const before = prices.get(name);
    if (before !== undefined && before.credits === credits) return before;
    const price = { class: name, credits };
    prices.set(name, price);
    return price;
  };
}

/** Returns the highest charge for a request of each price class. */
function chargesByClass(lock: Lock): Map<string, number> {
  const charged = new Map<string, number>();
  for (const record of lock.steps.values()) {
    for (const { request, credits, jobId, kind: name = record.kind } of record.purchases) {
      const kind = kinds[name];
      // A charge of 0 does not predict the next one.
      if (kind === undefined || request === undefined || credits === undefined || credits < 1 || jobId === undefined)
        continue;
      const priced = priceClass(kind, request);
      charged.set(priced, Math.max(charged.get(priced) ?? 0, credits));
    }
  }
  return charged;
}

/** Picks the most specific of several matching entries: `image/alpha-2/resolution=4k` precedes `image`. */
function readWritten(written: WrittenPrices): (priceClass: string) => number | undefined {
  const entries = Object.entries(written)
    .map(([name, credits]) => ({ name, parts: name.split('/'), credits }))
    .sort((a, b) => b.parts.length - a.parts.length || (a.name < b.name ? -1 : 1));
  if (entries.length === 0) return () => undefined;
  const answers = new Map<string, number | undefined>();
  return (name) => {
    if (answers.has(name)) return answers.get(name);
    const [kind, ...rest] = name.split('/');
    const found = entries.find(
      ({ parts: [first, ...others] }) => first === kind && others.every((part) => rest.includes(part)),
    );
    answers.set(name, found?.credits);
    return found?.credits;
  };
}
