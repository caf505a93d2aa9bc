import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, experimental, patience, server } from './environment.ts';
import { longTests } from './long-tests.ts';
import { slowFirst } from './slow-first.ts';

/** Their properties are tried four times as often as in the plain tests. */
const deepened = [
  'campaign/live-model',
  'engine/{budget,canaries,gates-model,model,posts-model,takeovers}',
  'graph/{fingerprint,include-fingerprint}',
  'lock/{histories,join,read,schema,torn}',
  'manifest/{format,meaning}',
  'plan/{compare-versions,names,verdicts}',
  'sandbox/openapi',
  'service/polling/hints',
].map((name) => `test/rooms/${name}.test.ts`);

const slowest = [
  'killed/at-a-system-call',
  'command/examples-run',
  'git/histories-clones',
  'proof/honest-time',
  'polling/scale',
];

/** The long variants: a crash at every system call that matters, faults that take their time, hundreds of histories. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: [...longTests, ...deepened],
    env: {
      ...environment,
      MEDIABATCH_TEST_SHORT_WAITS: '1',
      MEDIABATCH_TEST_CRASHES: 'all',
      MEDIABATCH_TEST_RUNS: 'full',
      // Before a release ten times as many.
      MEDIABATCH_HISTORIES: process.env.MEDIABATCH_HISTORIES ?? '16',
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    sequence: { sequencer: slowFirst(slowest) },
    ...patience,
    experimental,
    server,
  },
});
