import type { OpenRequest } from '../../graph/graph.ts';
import { kinds } from '../../kinds/index.ts';
import { listPrice } from '../../kinds/list-price.ts';
import { documentedCredits, modelName, priceClass } from '../../kinds/price.ts';
import type { Lock } from '../../lock/record.ts';
import type { Price } from '../plan.ts';
import {
  type ChargedPrices,
  chargedPrices,
  highestOfAll,
  namedPrices,
  type PriceHints,
  type WrittenPrices,
  worstFactor,
} from './price-sources.ts';

export type { PriceHints, WrittenPrices } from './price-sources.ts';

export type PriceOf = (kind: string, request: OpenRequest) => Readonly<Price>;

/**
 * Derives prices from earlier charges, from the service's documentation, and from the manifest. The highest of these
 * counts, because a reservation must be an upper bound. Hints are only estimates: a step without another price is
 * bought alone first, and its charge becomes the price of the others.
 */
export function pricesFrom(lock: Lock, written: WrittenPrices = {}, hints: PriceHints = {}): PriceOf {
  // Computed on first use, because no price is needed when nothing is left to buy.
  let charged: ChargedPrices | undefined;
  let named: ReturnType<typeof namedPrices> | undefined;
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
      named ??= namedPrices({ charged, written, hints });
      const held = named(kind, request);
      const price = { class: name, credits: null, ...(held !== undefined && { held }) }; // I14 (hints)
      if (other !== undefined) return share(name, { ...price, source: 'other-lock', ...other });
      // Requests of one class may have several list prices, because the class has only the magnitude of a text's
      // length.
      const list = hints.listings === undefined ? undefined : listPrice(kind, request, hints.listings);
      const key =
        hints.listings === undefined ? name : `${name}\u0000${list?.low} ${list?.likely} ${list?.high} ${held}`;
      return share(key, { ...price, source: list === undefined ? 'unknown' : 'list', ...list });
    }
    const credits = Math.max(...numbers);
    const most = (high: number) => Math.max(high, credits);
    if (own !== undefined) return share(name, { class: name, credits, source: 'lock', ...own, high: most(own.high) });
    if (other !== undefined) {
      return share(name, { class: name, credits, source: 'other-lock', ...other, high: most(other.high) });
    }
    const source = listed === undefined ? 'documented' : 'prices';
    const certain = listed ?? credits;
    return share(name, { class: name, credits, source, low: certain, likely: certain, high: credits });
  };
}

/** Returns the credits to hold for a charge that the service does not state, if no price of its kind is known. */
export function heldWhereUnpriced(lock: Lock, written: WrittenPrices = {}, hints: PriceHints = {}): number {
  return worstFactor * highestOfAll({ charged: chargedPrices([lock]), written, hints });
}

/**
 * Returns the charge that the service lists for a job afterwards. If a price is known, the higher of the two counts. A
 * listed 0 may be a charge that is not booked yet. `undefined`: the list has no charge.
 */
export function listedCharge(listed: number | undefined, { credits }: Price): number | undefined {
  if (listed === undefined || (listed === 0 && credits !== 0)) return undefined;
  return Math.max(listed, credits ?? 0); // I14 (adopt)
}

/** Returns the guaranteed maximum: the amount to reserve, or a price list's ceiling. `undefined`: there is none. */
export function ceilingOf({
  credits,
  source,
  high,
}: Pick<Price, 'credits'> & Partial<Pick<Price, 'source' | 'high'>>): number | undefined {
  return credits ?? (source === 'list' ? high : undefined);
}

/** Returns whether a price does not exceed the one shown. `null`: unknown; a shown `null` allows any price. */
export function isWithin(credits: number | null, shown: number | null): boolean {
  return shown === null || (credits !== null && credits <= shown);
}

/** Splits a price class. Names of models are normalized, so that each model has one name in price classes. */
function partsOf(name: string): string[] {
  const [kindName = '', model, ...fields] = name.split('/');
  const kind = kinds[kindName];
  if (kind?.model === undefined || model === undefined) return name.split('/');
  return [kindName, modelName(kind, { [kind.model.field]: model }) ?? model, ...fields];
}

/** Returns a finder for the most specific matching entry, for example `image/alpha-2/resolution=4k` before `image`. */
function readWritten(written: WrittenPrices): (priceClass: string) => number | undefined {
  const entries = Object.entries(written)
    .map(([name, credits]) => ({ name, parts: partsOf(name), credits }))
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

const mostShown = 3;

export function guessText(guesses: readonly { address: string; class: string }[], each: number): string {
  const addresses = guesses.slice(0, mostShown).map(({ address }) => address);
  const hidden = guesses.length - addresses.length;
  const names = `${addresses.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
  const kinds = [...new Set(guesses.map((guess) => guess.class.split('/')[0]))];
  const which = guesses.length > 1 ? `each of ${names}` : names;
  const written = `\`prices: { ${kinds[0]}: … }\` in the manifest`;
  return `${each} credits are reserved for ${which}, a guess: no charge is on record, and nothing states a price of ${kinds.join(' or ')}; ${written} would`;
}
