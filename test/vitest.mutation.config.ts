import { defineConfig } from 'vitest/config';

const rooms = ['lock', 'run', 'plan', 'engine'].map((room) => `test/${room}/**/*.test.ts`);

/** What `npm run test:mutation` runs for each mutant: tests of pure functions and of the campaign in memory, in one process. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    env: { TZ: 'UTC' },
    isolate: false,
    bail: 1,
    include: [
      ...rooms,
      'test/graph/fingerprint.test.ts',
      'test/recovery/look-up.test.ts',
      'test/recovery/lost-create.test.ts',
      'test/report/plan-text.test.ts',
      'test/report/status*.test.ts',
    ],
    // It drives the git command.
    exclude: ['test/lock/git.test.ts'],
  },
});
