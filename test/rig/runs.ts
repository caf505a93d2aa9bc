/**
 * How often a property is tried: `full` times by `npm run test:release` and where a protection is switched off, a quarter of that
 * in the plain tests, where each run draws others. `MEDIABATCH_MODEL_RUNS` is the number for all of them.
 */
export function runs(full: number): number {
  const usual = process.env.MEDIABATCH_TEST_RUNS === 'full' ? full : Math.ceil(full / 4);
  return Number(process.env.MEDIABATCH_MODEL_RUNS ?? usual);
}
