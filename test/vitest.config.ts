import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, experimental, limit, patience, server } from './environment.ts';
import { longTests, namesTests } from './long-tests.ts';

/** Together they are run by `npm run test:crash`; one that is named on the command line runs with this set, as named. */
const withLong = process.env.MEDIABATCH_TEST_LONG === '1' || namesTests(process.argv);
const env = {
  ...environment,
  ...(withLong && { MEDIABATCH_TEST_SHORT_WAITS: '1' }),
};
const common = { testTimeout: limit(60_000), hookTimeout: limit(60_000), env, experimental, server, ...patience };

/** They have configurations of their own: a browser, many processes at a time. */
const apart = ['test/proof/browser/**', 'test/cluster/**', 'node_modules/**'];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    // Most of their time they wait, for processes, servers and files: three keep two cores busy.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: 'plain',
          include: ['test/**/*.test.ts'],
          exclude: [...longTests, ...apart],
          // They leave nothing behind in their process: they share it, because loading each module for each file took longer.
          isolate: false,
        },
      },
      ...(withLong ? [{ test: { ...common, name: 'long', include: longTests, exclude: apart } }] : []),
    ],
  },
});
