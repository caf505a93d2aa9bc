import { expect, test } from 'vitest';
import type { EngineRun } from '../../../src/contract/engine-state.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { workersText } from '../../../src/report/tables/workers-text.ts';
import { workerLine } from '../../../src/report/worker-text.ts';

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
