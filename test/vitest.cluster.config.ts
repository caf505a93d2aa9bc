import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, limit, patience } from './environment.ts';

const isRelease = process.env.MEDIABATCH_TEST_SET === 'release';
/** Kills and freezes of head, workers, submitter and database, limits and posts: `.ci/run` has time for these. */
const core = ['around', 'chaos', 'freeze', 'limit', 'moments', 'posts', 'server'];

/**
 * A campaign on several processes and a Postgres that are killed, frozen and cut off. Each test waits for most of its time –
 * for a lease to run out, for a server to come back – so several go side by side. `npm run test:release` runs them all.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: isRelease ? ['test/cluster/**/*.test.ts'] : core.map((name) => `test/cluster/${name}.test.ts`),
    env: {
      ...environment,
      MEDIABATCH_CLUSTER_SEEDS: process.env.MEDIABATCH_CLUSTER_SEEDS ?? (isRelease ? '12' : '4'),
    },
    testTimeout: limit(300_000),
    hookTimeout: limit(60_000),
    maxWorkers: 3,
    maxConcurrency: 5,
    ...patience,
  },
});
