import { accessSync, constants } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { programVariables } from '../src/campaign/environment.ts';

// Temporary folders are in memory where the system has a file system for that: command tests take a quarter less time.
process.env.TMPDIR ??= memoryFolder();

/** What a person's programs keep. It ends with the run of the tests: what one run has spent, the next one does not know. */
export const stateHome = join(tmpdir(), `mediabatch-test-state-${process.pid}`);

/** The environment of all tests. */
export const environment = {
  ...(process.env.TMPDIR && { TMPDIR: process.env.TMPDIR }),
  // Times of day are told in the reader's own zone; here everybody's is the same.
  TZ: 'UTC',
  XDG_STATE_HOME: stateHome,
  // Whoever starts the tests: consent is given as it is where a person types.
  ...Object.fromEntries([...programVariables, 'MEDIABATCH_CONSENT'].map((name) => [name, ''])),
};

/** A limit in ms that grows with the load of the machine: a busy machine is slow, and no test is wrong because of it. */
export function limit(ms: number): number {
  const [lastMinute = 0] = loadavg();
  return Math.ceil(ms * Math.max(1, lastMinute / availableParallelism()));
}

/** Keeps transformed modules on disk between runs, keyed by their text. */
export const experimental = { fsModuleCache: true };

/** What is built is loaded as Node loads it. */
export const server = { deps: { external: [/\/dist\//] } };

/**
 * A busy machine explains a test that ran out of time, never a wrong answer. Where nobody sits, such a one is run once more,
 * and `.ci/run` names it. What is polled comes, or does not: its limit is just below that of a test, to say what was missing.
 */
export const patience = {
  retry: process.env.CI ? { count: 1, condition: /timed out|in time/i } : 0,
  expect: { poll: { timeout: limit(50_000) } },
};

function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
