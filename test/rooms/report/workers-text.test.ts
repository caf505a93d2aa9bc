import { expect, test } from 'vitest';
import type { EngineRun } from '../../../src/contract/engine-state.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { troublesOf, workersText } from '../../../src/report/tables/workers-text.ts';
import { workerJsonLine, workerLine } from '../../../src/report/worker-text.ts';

const style = makeStyle(false);
const error = 'the lock of this run on the engine is damaged: line 4 is no JSON';
const run: EngineRun = {
  ...{ id: '12345678-abcd', account: 'a'.repeat(32), campaign: 'spring', state: 'open', sandbox: false },
  ...{ host: 'host', manifest: 'spring.yaml', submittedMs: 65_000, store: null, protocol: 1, error },
  steps: { ended: 3, of: 9 },
  files: { wanted: 0, saved: 0, failed: 0 },
};

test('a run that its head has put aside says so, with what is wrong and that it is tried again', () => {
  const text = workersText({ runs: [run], accounts: [], workers: [] }, { style, width: 140 });
  expect(text).toContain('put aside');
  expect(text).toContain(`error run 12345678 of spring is put aside, and tried again each minute: ${error}\n`);
});

test('a worker says in its log what it has put aside', () => {
  const news = { is: 'put aside', campaign: 'spring', run: run.id, error, againAfterMs: 60_000 } as const;
  expect(workerLine(news, { style, now: 0 })).toBe(
    `1970-01-01T00:00:00Z error run 12345678 of spring is put aside: ${error}; the next attempt is in 1 min\n`,
  );
});

test('the same is a JSON document on a line for a program', () => {
  const news = { is: 'put aside', campaign: 'spring', run: run.id, error, againAfterMs: 60_000 } as const;
  const line = workerJsonLine(news, { now: 0 });
  expect(line.endsWith('}\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    level: 'error',
    event: 'put-aside',
    campaign: 'spring',
    run: run.id,
    error,
    againAfterMs: 60_000,
  });
});

test('what has ended troubles nobody, and a run without a worker does', () => {
  const { error: _, ...open } = run;
  const [ended, waiting] = [{ ...run, state: 'ended' as const }, open];
  expect(troublesOf({ runs: [ended], accounts: [], workers: [] })).toEqual([]);
  expect(troublesOf({ runs: [waiting], accounts: [], workers: [] })).toEqual([
    { is: 'notice', text: 'no worker has the key of account aaaaaaaa, so 1 open run waits' },
  ]);
});

test('a head says what there is, and not what there is none of', () => {
  const head = {
    ...{ id: 'w', account: 'a', host: 'h', pid: 1, protocol: 1, version: '1', store: null, files: 2, beatMs: 3 },
    ...{ isSilent: false, isHead: true, rates: { held: 0, runs: 1, creates: 0.04, inFlight: 8 } },
  };
  const text = workersText({ runs: [], accounts: [], workers: [head] }, { style, width: 140 });
  expect(text).toContain('  runs 1, in flight 8  ');
});

test('a run that was cancelled says by whom, and when', () => {
  const { error: _, ...open } = run;
  const stopping = { ...open, state: 'stopping' as const, cancelled: { by: 'me on desk', ageMs: 65_000 } };
  const text = workersText({ runs: [stopping], accounts: [], workers: [] }, { style, width: 180 });
  expect(text).toContain('stopping (me on desk, 1 min ago)');
});
