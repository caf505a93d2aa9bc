import fc from 'fast-check';
import { test } from 'vitest';

/**
 * How often a property is tried: `full` times by `npm run test:release` and where a protection is switched off, a quarter of that
 * in the plain tests, where each run draws others. `MEDIABATCH_MODEL_RUNS` is the number for all of them.
 */
export function runs(full: number): number {
  const usual = process.env.MEDIABATCH_TEST_RUNS === 'full' ? full : Math.ceil(full / 4);
  return Number(process.env.MEDIABATCH_MODEL_RUNS ?? usual);
}

type Parameters<Values> = fc.Parameters<Values> & { timeoutMs?: number };

/** Defines a test of a property: its function must hold for all values that are drawn. A number says how many are. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  draws: { [At in keyof Values]: fc.Arbitrary<Values[At]> },
  given: number | Parameters<Values> = {},
) {
  const { timeoutMs, ...parameters } = typeof given === 'number' ? { numRuns: given } : given;
  return (title: string, holds: (...values: Values) => Promise<void> | void): void => {
    const limit = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    test(title, limit, async () => {
      const property = fc.asyncProperty<Values>(...draws, async (...values) => await holds(...values));
      await fc.assert(property, parameters);
    });
  };
}
