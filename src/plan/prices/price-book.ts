import type { Price as RowPrice } from '../plan.ts';

/**
 * The parts of a price that matter during a run. A run reserves nothing for an estimate, but an estimate can delay a
 * purchase.
 */
export type Price = Pick<RowPrice, 'class' | 'credits'> & Partial<Omit<RowPrice, 'class' | 'credits'>>;

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

  known(price: Price): number | null {
    const charged = this.charged(price.class);
    return charged === 0 ? price.credits : Math.max(charged, price.credits ?? 0);
  }

  expected(price: Price): number {
    return Math.max(this.charged(price.class), saidOf(price));
  }
}

export function saidOf({ credits, likely }: Price): number {
  return credits ?? likely ?? 0;
}
