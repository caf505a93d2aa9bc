import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * A campaign on several processes and a Postgres that are killed, frozen and cut off. Each test waits for most of its time –
 * for a lease to run out, for a server to come back – so several go side by side. Not part of `npm test`.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: ['test/cluster/**/*.test.ts'],
    env: { TZ: 'UTC', XDG_STATE_HOME: join(tmpdir(), 'mediabatch-test-state') },
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    maxConcurrency: 5,
  },
});
