/**
 * Whole processes, many times over: killed, stopped, cut off, and led through all kinds. `npm run test:crash` runs them, with thousands of
 * histories for the model; the plain tests stay under three minutes without them.
 */
export const longTests = [
  'test/faults/**/*.test.ts',
  'test/git/clones.test.ts',
  'test/git/histories-clones.test.ts',
  'test/git/histories-random.test.ts',
  'test/cli/crash.test.ts',
  'test/cli/answers.test.ts',
  'test/cli/all-kinds.test.ts',
  'test/cli/edited-lock.test.ts',
  'test/cli/removals.test.ts',
  'test/cli/service-moved.test.ts',
  'test/recovery/command.test.ts',
  'test/conduct/ends.test.ts',
  'test/conduct/one-run.test.ts',
  'test/conduct/signals.test.ts',
  'test/conduct/terminal.test.ts',
];
