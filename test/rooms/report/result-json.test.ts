import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { RunEvent, RunFact, StepOutcome } from '../../../src/contract/event.ts';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { type EndedPlan, resultText } from '../../../src/report/run/result-json.ts';
import { createRunView } from '../../../src/report/run/run-view.ts';
import { at, row } from './samples.ts';

const schema = JSON.parse(readFileSync(new URL('../../../schemas/result.schema.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
ajv.addFormat('date-time', true);
const isResult = ajv.compile(schema);

const ended: RunFact = {
  event: 'run-ended',
  exit: 3,
  outcomes: { done: 1, failed: 1 },
  kept: 1,
  spentNow: 4,
  spentEver: 6,
  held: 0,
  balance: 90,
  elapsedMs: 5,
};

function resultOf(rows: PlanRow[], facts: { finished?: RunFact[]; gates?: EndedPlan['plan']['gates'] } = {}) {
  const { finished = [], gates } = facts;
  const view = createRunView();
  const outcomes = new Map<string, StepOutcome>();
  for (const fact of finished) {
    if (fact.event !== 'step-finished') continue;
    const { address, task, outcome } = fact;
    foldEvent(view, at(0, { event: 'step-started', address, task, kind: 'image', action: 'create' }));
    foldEvent(view, at(1, fact));
    outcomes.set(address, outcome);
  }
  const end = at(9, ended) as Extract<RunEvent, { event: 'run-ended' }>;
  const next = [{ command: 'mediabatch review', credits: 0, needs: 'person' }];
  const text = resultText({ plan: { campaign: 'spring', rows, ...(gates && { gates }) }, outcomes, view, end, next });
  const document = JSON.parse(text);
  expect(isResult(document), JSON.stringify(isResult.errors)).toBe(true);
  return { text, document };
}

function finished(address: string, outcome: StepOutcome, more: object = {}): RunFact {
  return { event: 'step-finished', address, task: address, outcome, credits: 2, ...more };
}

test('each step stands there as it is now, with its reason where it is not done', () => {
  const post = { accounts: ['acc_1'], names: { acc_1: 'Shop' }, at: '2030-03-01T09:00:00Z' };
  const rows = [
    row('kept', 'keep'),
    row('part', 'keep', { unneeded: true }),
    row('bought', 'create'),
    row('broken', 'create'),
    row('after', 'create'),
    row('unfit', 'failed', { reason: { code: 'unfit', text: 'too short' } }),
    row('unbegun', 'create'),
    row('final', 'blocked', { blockedBy: 'gate', reason: { code: 'gate', text: 'people are to decide' } }),
    row('share', 'blocked', { kind: 'post', blockedBy: 'consent', reason: { code: 'consent', text: 'waits' }, post }),
    row('bought', 'create', { send: 's1' }),
    row('old', 'orphan'),
  ];
  const draft = { name: 'draft', task: 'draft', members: ['draft/1'], picked: [], note: 'calm' };
  const gates = [{ ...draft, is: 'choose' as const, choose: 1, state: 'open' as const, waiting: 1 }];
  const { document } = resultOf(rows, {
    finished: [
      finished('bought', 'done'),
      finished('broken', 'failed', { error: 'x'.repeat(400) }),
      finished('after', 'blocked', { credits: 0, need: { address: 'broken', is: 'failed' } }),
    ],
    gates,
  });
  expect(document.rows).toEqual([
    { address: 'kept', state: 'done' },
    { address: 'part', state: 'unneeded' },
    { address: 'bought', state: 'done' },
    { address: 'broken', state: 'failed', credits: 2, error: `${'x'.repeat(300)}…` },
    { address: 'after', state: 'blocked', need: { address: 'broken', is: 'failed' } },
    { address: 'unfit', state: 'failed', error: 'too short' },
    { address: 'unbegun', state: 'left' },
    { address: 'final', state: 'blocked', because: 'gate' },
    {
      address: 'share',
      state: 'blocked',
      because: 'consent',
      post: { accounts: ['acc_1'], at: '2030-03-01T09:00:00Z' },
    },
    { address: 'bought', send: 's1', state: 'left' },
  ]);
  expect(document.gates).toEqual([{ name: 'draft', is: 'choose', state: 'open', choose: 1, waiting: 1 }]);
});

test('130 steps, of which 24 are posts that wait, are less than 10 kB', () => {
  const post = { accounts: ['acc_a26a6b25c78b1c8d'], at: '2030-03-01T09:00:00Z' };
  const reason = { code: 'consent', text: 'waits for somebody who agrees to publish it' } as const;
  const bought = Array.from({ length: 106 }, (_, index) => row(`final@S${index},9:16,en`, 'create'));
  const posts = Array.from({ length: 24 }, (_, index) =>
    row(`share@S${index},9:16,en`, 'blocked', { kind: 'post', blockedBy: 'consent', reason, post }),
  );
  const { text } = resultOf([...bought, ...posts], {
    finished: bought.map(({ address }) => finished(address, 'done')),
  });
  expect(Buffer.byteLength(text)).toBeLessThan(10_000);
});
