import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { longTests } from './long-tests.ts';

const env = { TZ: 'UTC', XDG_STATE_HOME: join(tmpdir(), 'mediabatch-test-state') };

/** With many more histories than the plain tests have. */
const models = ['engine/model', 'engine/gates-model', 'engine/canaries', 'campaign/live-model'].map(
  (name) => `test/rooms/${name}.test.ts`,
);

/** The long variants: a crash at every system call that matters, faults that take their time, thousands of histories. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: [...longTests, ...models],
    env: {
      ...env,
      MEDIABATCH_TEST_SHORT_WAITS: '1',
      MEDIABATCH_TEST_CRASHES: 'all',
      MEDIABATCH_MODEL_RUNS: '1000',
      MEDIABATCH_HISTORIES: '120',
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
