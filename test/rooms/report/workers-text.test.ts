import { expect, test } from 'vitest';
import type { EngineRun } from '../../../src/contract/engine-state.ts';
import { troublesOf, workersView } from '../../../src/report/tables/workers-text.ts';
import { workerJsonLine, workerLine } from '../../../src/report/worker-text.ts';
import { noColor, textOf } from './samples.ts';

const error = 'the lock of this run on the engine is damaged: line 4 is no JSON';
const run: EngineRun = {
  ...{ id: '12345678-abcd', account: 'a'.repeat(32), campaign: 'spring', state: 'open' },
  ...{ host: 'host', manifest: 'spring.yaml', submittedMs: 65_000, store: null, protocol: 1, error },
  steps: { done: 3, failed: 2, waiting: 0, left: 4, of: 9 },
  files: { wanted: 0, saved: 0, failed: 0 },
};

test('a run that its head has put aside says so, with what is wrong and that it is tried again', () => {
  const text = textOf(workersView({ runs: [run], accounts: [], workers: [] }), 140);
  expect(text).toContain('set aside');
  expect(text).toContain(`error run 12345678 of spring was set aside, and is retried each minute: ${error}\n`);
});

test('a worker says in its log what it has put aside', () => {
  const news = { is: 'put aside', campaign: 'spring', run: run.id, error, againAfterMs: 60_000 } as const;
  expect(workerLine(news, { style: noColor, now: 0 })).toBe(
    `1970-01-01T00:00:00Z error run 12345678 of spring was set aside: ${error}; next attempt in 1 min\n`,
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

test('an open run that nobody can carry out is named, with what it lacks', () => {
  const { error: _, ...open } = run;
  const told = (lacks: EngineRun['lacks']) =>
    troublesOf({ runs: [{ ...open, ...(lacks && { lacks }) }], accounts: [], workers: [] }).map(({ text }) => text);
  expect(told(undefined)).toEqual([]);
  expect(told('worker')).toEqual(['run 12345678 of spring waits: no worker is ready for account aaaaaaaa']);
  expect(told('store')).toEqual([expect.stringContaining('no worker has its store')]);
  expect(told('leader')).toEqual(['run 12345678 of spring waits: no worker leads account aaaaaaaa']);
});

test('steps are told by how they ended, and a number that is zero is empty', () => {
  const text = textOf(workersView({ runs: [run], accounts: [], workers: [] }), 160);
  expect(text.split('\n')[0]).not.toContain('waiting');
  expect(text).toMatch(/3 of 9 +2 +4 /);
});

test('a run that was cancelled says by whom, and when', () => {
  const { error: _, ...open } = run;
  const stopping = { ...open, state: 'stopping' as const, cancelled: { by: 'me on desk', ageMs: 65_000 } };
  const text = textOf(workersView({ runs: [stopping], accounts: [], workers: [] }), 180);
  expect(text).toContain('stopping (me on desk, 1 min ago)');
});
