import { describe, expect, test } from 'vitest';
import type { ReviewAsset, ReviewData, ReviewGate } from '../../../src/contract/review.ts';
import { tellNext, tellReview, tellReviewed } from '../../../src/review/tell.ts';

type Is = 'picked' | 'rejected' | undefined;

/** Gates with one output each. `planned`: there is nothing to see yet. */
function dataOf(...gates: { state?: ReviewGate['state']; verdict?: Is; planned?: true; job?: string }[]): ReviewData {
  const assets = gates.map(({ verdict, planned, job = 'job' }, index): ReviewAsset => {
    const file = { is: 'image' as const, path: 'a.png', mediaType: 'image/png', bytes: 1, sha256: '' };
    return {
      ...{ address: `pic@${index}`, task: 'pic', kind: 'image', matrix: {}, tags: [], request: {}, differs: [], job },
      ...{ state: planned ? 'planned' : 'done', files: planned ? [] : [file], isJudged: planned !== true },
      ...{ earlier: [], madeFrom: [], usedBy: [] },
      ...(verdict !== undefined && { verdict: { is: verdict } }),
    };
  });
  const groups = gates.map(({ state }, index) => ({
    ...{ name: `pic@${index}`, task: 'pic', differBy: [], members: [index] },
    ...(state !== undefined && {
      gate: { is: 'approve' as const, choose: 1, state, waiting: 0, waitingCredits: 0 },
    }),
  }));
  return { version: 1, revision: 1, campaign: 'c', file: 'c.yaml', canDecide: true, groups, assets };
}

const paste = ({ call }: { call: string }) => `mediabatch ${call} c.yaml`;

describe('at the beginning', () => {
  test.each([
    ['1 gate is open, 1 output to look at', dataOf({ state: 'open' })],
    ['2 gates are open, 3 outputs to look at', dataOf({ state: 'open' }, { state: 'contested' }, { state: 'decided' })],
    ['every gate is decided, 1 output to look at', dataOf({ state: 'decided' })],
    ['1 gate is open, 1 output to look at', dataOf({ state: 'open' }, { state: 'open', planned: true })],
    ['what the open gates ask about is not bought yet, 0 outputs to look at', dataOf({ state: 'open', planned: true })],
    ['1 output to look at; no task has a gate, so there is nothing to decide', dataOf({})],
  ])('%s', (text, data) => {
    expect(tellReview(data)).toBe(text);
  });
});

describe('what can be bought now', () => {
  const buys = [{ action: 'create' as const }, { action: 'redo' as const }, { action: 'keep' as const }];

  test('is told with its command when nobody is waited for', () => {
    const text = '2 steps can be bought now: mediabatch apply c.yaml';
    expect(tellNext(dataOf({ state: 'decided' }), buys, paste)).toBe(text);
    expect(tellNext(dataOf({ state: 'decided' }, { state: 'open', planned: true }), buys, paste)).toBe(text);
    expect(tellNext(dataOf({ state: 'decided' }, { state: 'rejected' }), buys, paste)).toBe(text);
  });

  test.each([
    ['somebody is to decide', dataOf({ state: 'decided' }, { state: 'open' }), buys],
    ['two people picked differently', dataOf({ state: 'decided' }, { state: 'contested' }), buys],
    ['nothing was decided', dataOf({}), buys],
    ['everything is bought', dataOf({ state: 'decided' }), buys.slice(2)],
  ])('is not told where %s', (_, data, rows) => {
    expect(tellNext(data, rows, paste)).toBeUndefined();
  });
});

describe('at the end', () => {
  const before = dataOf({ state: 'open' }, { state: 'open' }, { state: 'decided', verdict: 'picked' });

  test('what was decided, what is left, and the next command', () => {
    const now = dataOf(
      { state: 'decided', verdict: 'picked' },
      { state: 'rejected', verdict: 'rejected' },
      { state: 'decided', verdict: 'picked' },
    );
    expect(tellReviewed(before, now, paste)).toBe(
      'picked 1, rejected 1, 1 gate is still open\n  then: mediabatch apply c.yaml\n',
    );
  });

  test('no next command where nothing was decided; a verdict on what was bought anew counts', () => {
    expect(tellReviewed(before, before, paste)).toBe('picked 0, rejected 0, 2 gates are still open\n');
    const redone = dataOf({ state: 'open' }, { state: 'open' }, { state: 'decided', verdict: 'picked', job: 'new' });
    expect(tellReviewed(before, redone, paste)).toContain('picked 1, rejected 0');
  });
});
