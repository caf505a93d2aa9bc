import { expect, test } from 'vitest';
import type { PostTarget } from '../../../src/plan/plan.ts';
import { planMarkdown } from '../../../src/report/plan/plan-markdown.ts';
import { planText } from '../../../src/report/plan/plan-text.ts';
import { postsText } from '../../../src/report/plan/post-words.ts';
import { noColor, plan, row } from './samples.ts';

const names = new Map([['a', 'Instagram @lamps\u0007']]);
const many = Array.from({ length: 10 }, (_, index) => `acc-${index}`);

test.each<[PostTarget[], string]>([
  [[{ accounts: ['a'] }], '1 post to Instagram @lamps\\x07, at once'],
  [[{ accounts: ['b'] }, { accounts: ['a', 'b'] }], '2 posts to account b and Instagram @lamps\\x07, at once'],
  [[{ accounts: [] }], '1 post to accounts that the request does not name, at once'],
  [[{ accounts: [] }, { accounts: ['b'] }], '2 posts to account b and others not named, at once'],
  [[{ accounts: ['b'], at: '2030-05-01' }], '1 post to account b, at 2030-05-01'],
  [
    [
      { accounts: ['b'], at: '2030-05-01' },
      { accounts: ['b'], at: '2030-05-01' },
    ],
    '2 posts to account b, all at 2030-05-01',
  ],
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
    '1 post to account acc-0, account acc-1, account acc-2, account acc-3, account acc-4, account acc-5, account acc-6, account acc-7 and 2 more accounts, at once',
  ],
])('%j is said', (targets, text) => {
  expect(postsText(targets.map((target) => ({ ...target, names: Object.fromEntries(names) })))).toBe(text);
});

test('posts whose time is over are told of', () => {
  const now = Date.parse('2030-05-01T08:00:00Z');
  const over = { accounts: ['a'], at: '2030-05-01T09:30:00+02:00' };
  const later = { accounts: ['a'], at: '2030-05-01T08:30:00Z' };
  const words = (...targets: PostTarget[]) => postsText(targets, now).replace(/^.*?(?=;|$)/, '');
  expect(words(later, { accounts: ['a'] }, { accounts: ['a'], at: 'soon' })).toBe('');
  expect(words(over)).toBe('; its time is over, so it goes out at once');
  expect(words(over, over)).toBe('; their time is over, so they go out at once');
  expect(words(over, later)).toBe('; the time of 1 is over, so it goes out at once');
  const late = plan([row('share', 'create', { kind: 'post', credits: 0, post: over })]);
  const said = 'account a, at 2030-05-01T09:30:00+02:00; its time is over, so it goes out at once';
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

1 to create, 1 up to date, 1 posted and changed since, 1 waiting for consent

publishes     1 post to account b, at once
waiting       1 post to account b, at once, for a consent of its own
posted        published posts stay as they are. To reschedule a post, delete it at the service, then
              --redo its exact address
to spend      0 credits`);
  expect(planMarkdown(plan(rows))).toContain('- publishes: `1 post to account b, at once`');
  expect(planText(plan(rows.slice(3)), { style: noColor, width: 100 })).toContain(
    '= share@c  post  posted; changed since (caption: a → b)',
  );
});

test('several posts are one line that says how many go where', () => {
  const rows = ['a', 'b'].map((key) =>
    row(`share@${key}`, 'create', { kind: 'post', credits: 0, post: { accounts: [key] } }),
  );
  const text = planText(plan([...rows, row('share@c', 'keep', { kind: 'post' })]), { style: noColor, width: 100 });
  expect(text).toContain(
    '+ share    post  2 posts  not posted yet: 2 posts to account a and account b, at once (a  b)',
  );
});
