import { expect, test } from 'vitest';
import { exitCodeOf, type RunFindings } from '../../src/engine/end-of-run.ts';
import type { Action, Plan, PlanRow } from '../../src/plan/plan.ts';

function planOf(action: Action, blockedBy?: 'budget' | 'step' | 'consent'): Plan {
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: 'c',
    concurrency: 1,
    rows: [
      {
        address: 's',
        task: 's',
        kind: 'image',
        action,
        reason: { code: 'not-bought', text: '' },
        credits: 0,
        ...(blockedBy && { blockedBy }),
      } as PlanRow,
    ],
    totals: { toSpend: 0, ceiling: 0, knownPrices: 0, unknownPrices: 0, alreadyPaid: 0, held: 0, discarded: 0 },
  };
}

const quiet: RunFindings = {
  plan: planOf('keep'),
  outcomes: [],
  stopped: undefined,
  overBudget: false,
  overPrice: false,
  hasOpenSends: false,
  interrupted: false,
  hasDefects: false,
  needsPeople: false,
};

test.each<[string, Partial<RunFindings>, number]>([
  ['nothing to do', {}, 0],
  ['a step waits for one that failed', { plan: planOf('blocked', 'step') }, 3],
  ['a post waits for somebody to agree', { plan: planOf('blocked', 'consent'), outcomes: ['done'] }, 5],
  ['a post waits, and a step failed', { plan: planOf('blocked', 'consent'), outcomes: ['failed'] }, 3],
  ['a post waits, and the balance is empty', { plan: planOf('blocked', 'consent'), stopped: 'balance' }, 4],
  ['all done', { outcomes: ['done', 'done'] }, 0],
  ['orphans do not matter', { plan: planOf('orphan') }, 0],
  ['one failed', { outcomes: ['done', 'failed'] }, 3],
  ['one refused', { outcomes: ['refused'] }, 3],
  ['one failed in an earlier run', { plan: planOf('failed') }, 3],
  ['patience ended', { outcomes: ['running'] }, 3],
  ['the balance is empty', { outcomes: ['refused', 'failed'], stopped: 'balance' }, 4],
  ['the budget was reached in the run', { overBudget: true, outcomes: ['left'] }, 4],
  ['the budget was not enough in the plan', { plan: planOf('blocked', 'budget') }, 4],
  ['an outcome is not known', { outcomes: ['unresolved', 'failed'], stopped: 'balance' }, 6],
  ['an older outcome is not known', { plan: planOf('unresolved') }, 6],
  ['something may have been charged, whatever became of its step', { hasOpenSends: true, outcomes: ['done'] }, 6],
  ['something may have been charged, and nothing is to do', { hasOpenSends: true }, 6],
  ['something may have been charged, and the budget is reached', { hasOpenSends: true, overBudget: true }, 6],
  ['something may have been charged, and the account is empty', { hasOpenSends: true, stopped: 'balance' }, 6],
  ['something may have been charged, and a step failed', { hasOpenSends: true, outcomes: ['failed'] }, 6],
  ['something may have been charged, and the service is gone', { hasOpenSends: true, stopped: 'unreachable' }, 6],
  ['the budget was reached, and then the service was gone', { overBudget: true, stopped: 'unreachable' }, 4],
  [
    'the budget was not enough, and the service is gone',
    { plan: planOf('blocked', 'budget'), stopped: 'unreachable' },
    4,
  ],
  ['the service cannot be reached', { stopped: 'unreachable', outcomes: ['left'] }, 69],
  ['the disk is full, and something may have been charged', { hasOpenSends: true, stopped: 'disk' }, 73],
  ['the disk is full', { stopped: 'disk', outcomes: ['unresolved'] }, 73],
  ['the key is refused, and something may have been charged', { hasOpenSends: true, stopped: 'auth' }, 77],
  ['the key is refused', { stopped: 'auth', outcomes: ['refused'] }, 77],
  ['interrupted, and something may have been charged', { hasOpenSends: true, interrupted: true }, 130],
  ['interrupted', { interrupted: true, outcomes: ['running', 'failed'] }, 130],
  ['a step met a mistake of ours', { hasDefects: true, hasOpenSends: true, outcomes: ['failed', 'done'] }, 1],
])('%s', (_name, findings, exit) => {
  expect(exitCodeOf({ ...quiet, ...findings })).toBe(exit);
});
