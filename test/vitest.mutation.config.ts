import { defineConfig } from 'vitest/config';

const rooms = ['lock', 'run', 'plan', 'engine'].map((room) => `test/rooms/${room}/**/*.test.ts`);

/** What `npm run test:mutation` runs for each mutant: tests of pure functions and of the campaign in memory, in one process. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    env: { TZ: 'UTC' },
    isolate: false,
    bail: 1,
    include: [
      ...rooms,
      'test/rooms/graph/fingerprint.test.ts',
      'test/rooms/run/look-up.test.ts',
      'test/rooms/engine/lost-create.test.ts',
      'test/rooms/report/plan-text.test.ts',
      'test/rooms/report/status*.test.ts',
    ],
    // It drives the git command.
    exclude: ['test/rooms/lock/git.test.ts'],
  },
});
