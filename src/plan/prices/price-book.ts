import type { Price as RowPrice } from '../plan.ts';

/** The part of a price that counts in a run. Estimates hold back, and reserve nothing. */
export type Price = Pick<RowPrice, 'class' | 'credits'> & Partial<Omit<RowPrice, 'class' | 'credits'>>;

/** Prices as a run knows them by now: what the plan says of them, and the highest charge of each price class. */
export class PriceBook {
  /** How often a price was learned. */
  changes = 0;
  readonly #charged = new Map<string, number>();

  /** Returns the highest charge of a class; 0: none is known. */
  charged(priceClass: string): number {
    return this.#charged.get(priceClass) ?? 0;
  }

  learn(priceClass: string, credits: number): void {
    if (credits <= this.charged(priceClass)) return;
    this.#charged.set(priceClass, credits);
    this.changes += 1;
  }

  /** Returns what is reserved for a purchase; `null`: nobody knows. */
  known(price: Price): number | null {
    const charged = this.charged(price.class);
    return charged === 0 ? price.credits : Math.max(charged, price.credits ?? 0);
  }

  /** Returns what a purchase is expected to cost; 0: nobody can estimate it. */
  expected(price: Price): number {
    return Math.max(this.charged(price.class), saidOf(price));
  }
}

/** Credits that a plan names for a purchase; 0: nobody can estimate it. */
export function saidOf({ credits, likely }: Price): number {
  return credits ?? likely ?? 0;
}
