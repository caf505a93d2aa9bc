import { expect, test } from 'vitest';
import { RandomHistory } from './random-history.ts';

/** More of them: `MEDIABATCH_HISTORIES=1000`; one of them: `MEDIABATCH_HISTORY=17`. */
const count = Number(process.env.MEDIABATCH_HISTORIES ?? 24);
const only = process.env.MEDIABATCH_HISTORY;
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];

test.each(seeds)(
  'nothing is paid for that is known, and no charge is unaccounted for: history %i',
  async (seed) => {
    const history = await RandomHistory.make(seed);
    try {
      await history.begin();
      for (let acts = 6; acts > 0; acts -= 1) await history.act();
      await history.end();
    } catch (error) {
      throw new Error(`${history.told.join(', ')}: ${(error as Error).message}`, { cause: error });
    }
    expect(history.told.length).toBeGreaterThan(0);
  },
  120_000,
);
