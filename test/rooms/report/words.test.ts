import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PostTarget } from '../../../src/plan/plan.ts';
import { table } from '../../../src/report/document.ts';
import { bytesText, creditsText, elapsedText } from '../../../src/report/numbers.ts';
import { capText, postsText } from '../../../src/report/plan/plan-facts.ts';
import { planMarkdown, planText } from '../../../src/report/plan/plan-text.ts';
import { blockLines } from '../../../src/report/render/terminal-text.ts';
import { makeStyle, wantsColor, wantsScreen } from '../../../src/report/style.ts';
import { cutMiddle, cutToWidth, displayWidth } from '../../../src/report/text-width.ts';
import { forAll } from '../../rig/runs.ts';
import { noColor, plan, row } from './samples.ts';

function linesOf(text: string, room: number): string[] {
  const style = makeStyle(false);
  return blockLines(table([{ title: '', cut: 'wrap', least: 1 }], [[text]]), { style, room });
}

describe('widths', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['größe', 5],
    ['e\u0301', 1],
    ['漢字', 4],
    ['한글', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['🎉', 2],
    ['❤️', 2],
    ['❤', 1],
    ['🇩🇪', 2],
    ['“→”…', 4],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['漢字漢字', 4, '漢…'],
    ['漢字', 4, '漢字'],
    ['abc', 0, ''],
  ])('%s is cut to %i columns as %s', (text, width, cut) => {
    expect(cutToWidth(text, width)).toBe(cut);
  });

  test.each([
    ['abcdefghij', 7, 'abc…hij'],
    ['abcdefghij', 6, 'ab…hij'],
    ['漢字漢字漢字', 7, '漢…字'],
    ['abc', 3, 'abc'],
    ['abc', 0, ''],
  ])('%s loses its middle at %i columns as %s', (text, width, cut) => {
    expect(cutMiddle(text, width)).toBe(cut);
  });

  const text = fc.string({ unit: fc.constantFrom('a', ' ', '漢', '🎉', 'é', '::') });
  forAll([text, fc.integer({ min: 2, max: 30 })])('never exceeds the width', (value, width) => {
    for (const cut of [cutToWidth(value, width), cutMiddle(value, width)]) {
      expect(displayWidth(cut)).toBeLessThanOrEqual(width);
    }
    if (width < 5) return;
    for (const line of linesOf(value, width)) {
      expect(displayWidth(line)).toBeLessThanOrEqual(width);
      expect(line.startsWith('::')).toBe(false);
    }
  });

  test.each([
    ['one two three', 20, ['one two three']],
    ['one two three', 8, ['one two', 'three']],
    ['abcdefghijkl', 5, ['abcd', 'efgh', 'ijkl']],
    ['say ::error::x', 8, ['say', '\\x3a:er', 'ror::x']],
    ['  one   two ', 20, ['one   two']],
    ['abcdef ', 6, ['abcdef']],
  ])('%s is wrapped at %i', (text, width, lines) => {
    expect(linesOf(text, width)).toEqual(lines);
  });
});

describe('numbers', () => {
  test.each([
    [null, '?'],
    [0, '0'],
    [9999, '9999'],
    [10_000, '10\u202f000'],
    [1_234_567, '1\u202f234\u202f567'],
    [-12_000, '-12\u202f000'],
  ])('%s credits are written %s', (credits, text) => {
    expect(creditsText(credits)).toBe(text);
  });

  test.each([
    [0, '0:00'],
    [41_999, '0:41'],
    [600_000, '10:00'],
    [3_723_000, '1:02:03'],
    [-5, '0:00'],
  ])('%i ms are written %s', (ms, text) => {
    expect(elapsedText(ms)).toBe(text);
  });

  test.each([
    [812, '812 B'],
    [1000, '1.0 kB'],
    [123_456, '123 kB'],
    [999_600, '1.0 MB'],
    [1_234_567, '1.2 MB'],
    [4_000_000_000, '4.0 GB'],
  ])('%i bytes are written %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });
});

describe('style', () => {
  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ CI: 'true' }, false, false],
    [{ CI: 'true', FORCE_COLOR: '1' }, false, true],
  ])('with %j and terminal %s, colours: %s', (env, isTerminal, wanted) => {
    expect(wantsColor(env, isTerminal)).toBe(wanted);
  });

  test.each([
    [{}, true, true],
    [{}, false, false],
    [{ CI: 'true' }, true, false],
    [{ CI: 'false' }, true, true],
    [{ TERM: 'dumb' }, true, false],
    [{ FORCE_COLOR: '1' }, false, false],
  ])('with %j and terminal %s, a screen: %s', (env, isTerminal, wanted) => {
    expect(wantsScreen(env, isTerminal)).toBe(wanted);
  });
});

test('a question about prices that nobody knows says what they stay within', () => {
  const within = ', within the remaining budget of 50';
  expect(capText({ unknownPrices: 4, toSpend: null, ceiling: 15, budgetLeft: 50 })).toBe(within);
  expect(capText({ unknownPrices: 4, toSpend: 48, ceiling: 60, budgetLeft: 50 })).toBe(within);
  expect(capText({ unknownPrices: 4, toSpend: 12, ceiling: 15, budgetLeft: 50 })).toBe('');
  expect(capText({ unknownPrices: 0, toSpend: 60, ceiling: 60, budgetLeft: 50 })).toBe('');
  expect(capText({ unknownPrices: 4, toSpend: null, ceiling: 15 })).toBe('');
});

const names = new Map([['a', 'Instagram @lamps\u0007']]);
const many = Array.from({ length: 10 }, (_, index) => `acc-${index}`);

test.each<[PostTarget[], string]>([
  [[{ accounts: ['a'] }], '1 post to Instagram @lamps\\x07, at once'],
  [[{ accounts: ['b'] }, { accounts: ['a', 'b'] }], '2 posts to account b, Instagram @lamps\\x07, at once'],
  [[{ accounts: [] }], '1 post to accounts that the request does not name, at once'],
  [[{ accounts: [] }, { accounts: ['b'] }], '2 posts to account b, accounts that the request does not name, at once'],
  [[{ accounts: ['b'], at: '2030-05-01' }], '1 post to account b, at 2030-05-01'],
  [Array.from({ length: 2 }, () => ({ accounts: ['b'], at: '2030-05-01' })), '2 posts to account b, at 2030-05-01'],
  [
    [
      { accounts: ['b'], at: '2030-05-01T09:00:00+02:00' },
      { accounts: ['b'] },
      { accounts: ['b'], at: '2030-05-01T08:00:00Z', perhaps: true },
    ],
    'up to 3 posts to account b, 1 at once, 2 from 2030-05-01T09:00:00+02:00 to 2030-05-01T08:00:00Z',
  ],
  [
    [{ accounts: many }],
    '1 post to account acc-0, account acc-1, account acc-2, account acc-3, account acc-4, account acc-5, account acc-6, account acc-7, … and 2 more, at once',
  ],
])('%j is said', (targets, text) => {
  expect(postsText(targets.map((target) => ({ ...target, names: Object.fromEntries(names) })))).toBe(text);
});

test('posts whose time is over are reported', () => {
  const now = Date.parse('2030-05-01T08:00:00Z');
  const over = { accounts: ['a'], at: '2030-05-01T09:30:00+02:00' };
  const later = { accounts: ['a'], at: '2030-05-01T08:30:00Z' };
  const words = (...targets: PostTarget[]) => postsText(targets, now).replace(/^.*?(?=;|$)/, '');
  expect(words(later, { accounts: ['a'] }, { accounts: ['a'], at: 'soon' })).toBe('');
  expect(words(over)).toBe('; 1 overdue, published at once');
  expect(words(over, over)).toBe('; 2 overdue, published at once');
  expect(words(over, later)).toBe('; 1 overdue, published at once');
  const late = plan([row('share', 'create', { kind: 'post', credits: 0, post: over })]);
  const said = 'account a, at 2030-05-01T09:30:00+02:00; 1 overdue, published at once';
  expect(planText(late, { style: noColor, width: 200, now })).toContain(said);
});

test('a plan says apart what goes public, what waits, and what is out and changed since', () => {
  const post = { kind: 'post', credits: 0, post: { accounts: ['b'] } };
  const rows = [
    row('pic', 'keep'),
    row('share@a', 'create', { ...post, reason: 'not posted yet' }),
    row('share@b', 'blocked', { ...post, blockedBy: 'consent', reason: { code: 'consent', text: 'waits' } }),
    row('share@c', 'keep', {
      kind: 'post',
      changedSince: true,
      reason: { code: 'posted-changed', text: 'posted; changed since (caption: a → b)' },
    }),
  ];
  const text = planText(plan(rows), { style: noColor, width: 100 });
  expect(text).toContain(`
+ share@a  post   not posted yet: 1 post to account b, at once
x share@b  post   waits
= share@c  post   posted; changed since (caption: a → b)
= pic      image  up to date

1 to create, 1 up to date, 1 posted, then changed, 1 waiting for consent

publishes     1 post to account b, at once
waiting       1 post to account b, at once, for separate consent
posted        published posts are not changed. To reschedule a post, delete it at the service, then
              --redo its exact address
to spend      0 credits`);
  expect(planMarkdown(plan(rows))).toContain('- publishes: `1 post to account b, at once`');
  expect(planText(plan(rows.slice(3)), { style: noColor, width: 100 })).toContain(
    '= share@c  post  posted; changed since (caption: a → b)',
  );
});
