import type { OpenRequest } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type Listing, mostCredits } from '../../kinds/listed-model.ts';
import { documentedCredits, highestListed, listPrice, modelName, priceClass } from '../../kinds/price.ts';
import type { Lock } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { Price } from '../plan.ts';

export type PriceOf = (kind: string, request: OpenRequest) => Readonly<Price>;

/**
 * Derives prices from earlier charges, the service's documentation and the manifest. The highest of these prices is
 * used, because a reservation must be an upper bound. Hints are only estimates: if a price class has only a hint, the
 * run buys one step first, and the charge becomes the price of the class.
 */
export function pricesFrom(lock: Lock, written: WrittenPrices = {}, hints: PriceHints = {}): PriceOf {
  // Charged prices are computed on first use, because no price is needed if nothing is left to buy.
  let charged: ChargedPrices | undefined;
  const highest = new Map<string, number>();
  const said = readWritten(written);
  // Thousands of steps of one class share one price object.
  const prices = new Map<string, Readonly<Price>>();
  const share = (key: string, price: Price): Readonly<Price> => {
    const before = prices.get(key);
    if (before !== undefined) return before;
    prices.set(key, price);
    return price;
  };
  return (kindName, request) => {
    const kind = kinds[kindName];
    if (kind === undefined) return { class: kindName, credits: null, source: 'unknown' };
    const name = priceClass(kind, request);
    const known = prices.get(name);
    if (known !== undefined) return known;
    charged ??= chargedPrices([lock]);
    const [own, documented, listed] = [charged.get(name), documentedCredits(kind, request), said(name)];
    const numbers = [own?.high, documented, listed].filter((one) => one !== undefined);
    const other = hints.elsewhere?.get(name);
    if (numbers.length === 0) {
      const ofKind = highest.get(kindName) ?? highestPrice({ charged, written, hints }, kindName);
      highest.set(kindName, ofKind);
      const held = Math.max(ofKind, highestListed(kind, request, hints.listings ?? []) ?? 0);
      const price = { class: name, credits: null, ...(held > 0 && { held }) }; // I14 (hints)
      if (other !== undefined) return share(name, { ...price, source: 'other-lock', ...other });
      // Requests of one class may have several list prices, because the class contains a text's length only as a power
      // of two.
      const list = hints.listings === undefined ? undefined : listPrice(kind, request, hints.listings);
      const key =
        hints.listings === undefined ? name : `${name}\u0000${list?.low} ${list?.likely} ${list?.high} ${held}`;
      return share(key, { ...price, source: list === undefined ? 'unknown' : 'list', ...list });
    }
    const credits = Math.max(...numbers);
    const seen = own ?? other;
    if (seen !== undefined) {
      const source = own === undefined ? 'other-lock' : 'lock';
      return share(name, { class: name, credits, source, ...seen, high: Math.max(seen.high, credits) });
    }
    const source = listed === undefined ? 'documented' : 'prices';
    const certain = listed ?? credits;
    return share(name, { class: name, credits, source, low: certain, likely: certain, high: credits });
  };
}

export function heldWhereUnpriced(lock: Lock, written: WrittenPrices = {}, hints: PriceHints = {}): number {
  return worstFactor * (highestPrice({ charged: chargedPrices([lock]), written, hints }) || 1);
}

/**
 * Returns the job's charge from the service's list, or the price if that is higher. A listed charge of 0 may mean that
 * the service has not booked the charge yet.
 */
export function listedCharge(listed: number | undefined, { credits }: Price): number | undefined {
  if (listed === undefined || (listed === 0 && credits !== 0)) return undefined;
  return Math.max(listed, credits ?? 0); // I14 (adopt)
}

/** Returns the guaranteed maximum of a price: the amount to reserve, or else the maximum in a price list. */
export function ceilingOf({
  credits,
  source,
  high,
}: Pick<Price, 'credits'> & Partial<Pick<Price, 'source' | 'high'>>): number | undefined {
  return credits ?? (source === 'list' ? high : undefined);
}

/** Returns whether a price is at most the price that the plan showed. True if that price was unknown (`null`). */
export function isWithin(credits: number | null, shown: number | null): boolean {
  return shown === null || (credits !== null && credits <= shown);
}

function partsOf(name: string): string[] {
  const [kindName = '', model, ...fields] = name.split('/');
  const kind = kinds[kindName];
  if (kind?.model === undefined || model === undefined) return name.split('/');
  return [kindName, modelName(kind, { [kind.model.field]: model }) ?? model, ...fields];
}

/** Returns a function that finds the most specific entry: `image/alpha-2` takes precedence over `image`. */
function readWritten(written: WrittenPrices): (priceClass: string) => number | undefined {
  const entries = Object.entries(written)
    .map(([name, credits]) => ({ name, parts: partsOf(name), credits }))
    .sort((a, b) => b.parts.length - a.parts.length || (a.name < b.name ? -1 : 1));
  return (name) => {
    const [kind, ...rest] = name.split('/');
    return entries.find(
      ({ parts: [first, ...others] }) => first === kind && others.every((part) => rest.includes(part)),
    )?.credits;
  };
}

const mostShown = 3;

export function guessText(guesses: readonly { address: string; class: string }[], each: number): string {
  const addresses = guesses.slice(0, mostShown).map(({ address }) => address);
  const hidden = guesses.length - addresses.length;
  const names = `${addresses.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
  const kinds = [...new Set(guesses.map((guess) => guess.class.split('/')[0]))];
  const which = guesses.length > 1 ? `each of ${names}` : names;
  const written = `\`prices: { ${kinds[0]}: … }\` in the manifest`;
  return `${each} credits are reserved for ${which} as a guess: no charge is on record, and no price is known for ${kinds.join(' or ')}; ${written} sets a price`;
}

interface ChargedPrice {
  low: number;
  likely: number;
  high: number;
}

type ChargedPrices = ReadonlyMap<string, ChargedPrice>;

/**
 * Assumed upper bound of a charge, as a multiple of the estimate. If there is a limit, requests of unknown price run in
 * parallel only if the remaining credits cover each request at this bound.
 */
export const worstFactor = 8;

/** Credits by price class or by a prefix of a price class. */
export type WrittenPrices = { readonly [priceClass: string]: number };

/** Sources of estimates: locks of other campaigns, and price lists. A run reserves no credits for an estimate. */
export interface PriceHints {
  elsewhere?: ChargedPrices | undefined;
  listings?: readonly Listing[] | undefined;
}

interface PriceSources {
  charged: ChargedPrices;
  written: WrittenPrices;
  hints: PriceHints;
}

function highestPrice({ charged, written, hints }: PriceSources, kindName?: string): number {
  const limits: [name: string, credits: number][] = [
    ...Object.entries(written),
    ...[...charged, ...(hints.elsewhere ?? [])].map(([name, { high }]): [string, number] => [name, high]),
    ...Object.values(kinds).flatMap(({ name, model }) =>
      Object.values(model?.models ?? {}).map(({ credits = 0 }): [string, number] => [name, credits]),
    ),
  ];
  const meant = limits.filter(([name]) => kindName === undefined || name.split('/', 1)[0] === kindName);
  return Math.max(0, ...meant.map(([, credits]) => credits));
}

function chargedPrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  const records = locks.flatMap(({ steps }) => [...steps.values()]);
  const charges = records.flatMap((record) =>
    record.purchases.flatMap(({ request, credits = 0, jobId, kind: name = record.kind }) => {
      const kind = kinds[name];
      // An earlier charge of 0 does not predict the next charge.
      if (kind === undefined || request === undefined || jobId === undefined || credits < 1) return [];
      return [{ name: priceClass(kind, request), credits }];
    }),
  );
  const byClass = groupBy(charges, ({ name }) => name);
  return new Map([...byClass].map(([name, own]) => [name, rangeOf(own.map(({ credits }) => credits))]));
}

/** Collects charged prices from the locks of other campaigns. Skips implausible charges. */
export function plausiblePrices(locks: readonly Pick<Lock, 'steps'>[]): ChargedPrices {
  return new Map([...chargedPrices(locks)].filter(([, { high }]) => high <= mostCredits));
}

function rangeOf(charges: readonly number[]): ChargedPrice {
  const byTimes = [...groupBy(charges, (credits) => credits)].sort(
    ([a, some], [b, others]) => others.length - some.length || b - a,
  );
  const amounts = byTimes.map(([credits]) => credits);
  return { low: Math.min(...amounts), likely: amounts[0] ?? 0, high: Math.max(...amounts) };
}

const margin = 1.25;

type Priced = Pick<Price, 'credits'> & Partial<Pick<Price, 'likely' | 'source' | 'high'>>;

export function withMargin(expected: number): number {
  return Math.ceil(expected * margin);
}

/** Returns how much an approval allows for one purchase, or `undefined` if the price has no estimate. */
export function shareOf(price: Priced): number | undefined {
  const { likely, high = 0 } = price;
  const ceiling = ceilingOf(price);
  return ceiling ?? (likely === undefined ? undefined : Math.max(high, withMargin(likely)));
}

/**
 * Returns the credits to approve for `count` purchases whose price was unknown, after the first was charged. With
 * `asksAgain`, returns only the credits of the first purchase.
 */
export function shareOnceCharged(
  charged: number,
  { count, asksAgain = false }: { count: number; asksAgain?: boolean | undefined },
): number {
  return asksAgain && count > 1 ? charged : withMargin(charged * count);
}

/**
 * Returns the maximum total that an approval allows for these prices. If a price has a guaranteed maximum, the maximum
 * is added. For every other price, its estimate plus a margin, or its highest charge so far if that is higher. Prices
 * without an estimate are excluded.
 */
function sumShares(prices: Iterable<Priced>): number {
  let vouched = 0;
  let expected = 0;
  let highest = 0;
  for (const price of prices) {
    const ceiling = ceilingOf(price);
    vouched += ceiling ?? 0;
    if (ceiling !== undefined || price.likely === undefined) continue;
    expected += price.likely;
    highest += Math.max(price.likely, price.high ?? 0);
  }
  return vouched + Math.max(highest, withMargin(expected));
}

export function ceilingOfRows(
  rows: readonly { action: Parameters<typeof isSpending>[0]; credits: number | null; price?: Priced }[],
): number {
  const spending = rows.filter(({ action }) => isSpending(action));
  return sumShares(spending.map(({ credits, price }) => price ?? { credits }));
}

/** A price during a run. A run reserves no credits for an estimate, but an estimate may delay a purchase. */
export type ClassPrice = Pick<Price, 'class' | 'credits'> & Partial<Price>;

export class PriceBook {
  changes = 0;
  readonly #charged = new Map<string, number>();

  charged(priceClass: string): number {
    return this.#charged.get(priceClass) ?? 0;
  }

  learn(priceClass: string, credits: number): void {
    if (credits <= this.charged(priceClass)) return;
    this.#charged.set(priceClass, credits);
    this.changes += 1;
  }

  known(price: ClassPrice): number | null {
    const charged = this.charged(price.class);
    return charged === 0 ? price.credits : Math.max(charged, price.credits ?? 0);
  }

  expected(price: ClassPrice): number {
    return Math.max(this.charged(price.class), shownPrice(price));
  }
}

export function shownPrice({ credits, likely }: ClassPrice): number {
  return credits ?? likely ?? 0;
}
