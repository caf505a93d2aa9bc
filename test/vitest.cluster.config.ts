import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, patience } from './environment.ts';

/**
 * A campaign on several processes and a Postgres that are killed, frozen and cut off. Each test waits for most of its time –
 * for a lease to run out, for a server to come back – so several go side by side. Not part of `npm test`.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: ['test/cluster/**/*.test.ts'],
    env: environment,
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    maxConcurrency: 5,
    ...patience,
  },
});
