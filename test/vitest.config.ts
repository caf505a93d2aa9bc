import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { longTests, namesTests } from './long-tests.ts';

/** Rooms whose tests leave nothing behind in their process: they share it, and load each module once. */
const shared = [
  'rooms/engine/**/',
  'rooms/graph/**/',
  'rooms/kinds/**/',
  'rooms/lock/**/',
  'rooms/manifest/**/',
  'rooms/plan/**/',
  'rooms/report/**/',
  'rooms/run/**/',
  'command/git/histories-',
].map((room) => `test/${room}*.test.ts`);
/** Together they are run by `npm run test:crash`; one that is named on the command line runs with this set, as named. */
const withLong = process.env.MEDIABATCH_TEST_LONG === '1' || namesTests(process.argv);
// Times of day are told in the reader's own zone; here everybody's is the same. What a person's programs keep is kept apart.
const env = {
  TZ: 'UTC',
  XDG_STATE_HOME: join(tmpdir(), 'mediabatch-test-state'),
  ...(withLong && { MEDIABATCH_TEST_SHORT_WAITS: '1' }),
};
const common = { testTimeout: 30_000, hookTimeout: 60_000, env };

const left = withLong ? [] : longTests;

const apart = ['test/proof/browser/**', 'test/proof/contract/**', 'test/cluster/**'];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    // Most of the time goes into the command's own processes, so a worker more than spare cores is no waste.
    maxWorkers: 2,
    projects: [
      { test: { ...common, name: 'rooms', include: shared, exclude: [...left, 'node_modules/**'], isolate: false } },
      {
        test: {
          ...common,
          name: 'whole',
          include: ['test/**/*.test.ts'],
          // They have configurations of their own: a browser, a proxy that is no dependency, many processes at a time.
          exclude: [...shared, ...left, ...apart, 'node_modules/**'],
        },
      },
    ],
  },
});
