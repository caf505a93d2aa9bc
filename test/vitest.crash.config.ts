import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { environment, experimental, limit, patience, server } from './environment.ts';
import { longTests } from './long-tests.ts';
import { slowFirst } from './slow-first.ts';

/** `npm run test:release` runs everything at full depth; `.ci/run` what money depends on. */
const isRelease = process.env.MEDIABATCH_TEST_SET === 'release';

/** Before a release their properties are tried four times as often as in the plain tests. */
const deepened = [
  'campaign/live-model',
  'engine/{account,canaries,gates-model,model,posts-model,takeovers}',
  'graph/fingerprint',
  'lock/{histories,join,read,schema,torn}',
  'plan/{judge,names}',
  'sandbox/openapi',
  'service/polling/lists',
].map((name) => `test/rooms/${name}.test.ts`);

/** They measure, draw and simulate: no purchase depends on them. */
const beforeARelease = [
  'test/proof/honest-time.test.ts',
  'test/rooms/service/polling/simulation.test.ts',
  'test/rooms/sandbox/media.test.ts',
];

const slowest = ['killed/at-a-write', 'command/manual-run', 'git/clones', 'command/answers', 'killed/at-a-system-call'];

/** The long variants: a crash at every system call that matters, faults that take their time, hundreds of histories. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/build.ts', 'test/rig/postgres-setup.ts'],
    include: [...longTests, ...(isRelease ? deepened : [])],
    exclude: [...(isRelease ? [] : beforeARelease), 'node_modules/**'],
    env: {
      ...environment,
      MEDIABATCH_TEST_SHORT_WAITS: '1',
      ...(isRelease && { MEDIABATCH_TEST_CRASHES: 'all', MEDIABATCH_TEST_RUNS: 'full' }),
      MEDIABATCH_HISTORIES: process.env.MEDIABATCH_HISTORIES ?? (isRelease ? '16' : '8'),
    },
    testTimeout: limit(isRelease ? 600_000 : 60_000),
    hookTimeout: limit(60_000),
    maxWorkers: 3,
    sequence: { sequencer: slowFirst(slowest) },
    ...patience,
    experimental,
    server,
  },
});
