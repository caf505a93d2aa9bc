import { expect, test } from 'vitest';
import { ListTrust } from '../../../../src/service/polling/job-list.ts';

/** A list as it is seen, step by step: `+` first with the news, `-` behind, a number: so many seconds later. */
function seen(steps: string, start: 'unknown' | 'stale' = 'unknown') {
  let now = 0;
  const trust = new ListTrust({ now: () => now }, start);
  for (const step of steps.split(' ').filter(Boolean)) {
    if (step === '+') trust.wasFirst();
    else if (step === '-') trust.wasBehind();
    else now += Number(step) * 1000;
  }
  const { isTrusted, isAskable } = trust;
  return { isTrusted, isAskable };
}

test.each([
  ['', { isTrusted: false, isAskable: true }],
  ['+', { isTrusted: true, isAskable: true }],
  ['-', { isTrusted: false, isAskable: true }],
  ['+ -', { isTrusted: true, isAskable: true }],
  ['+ - + -', { isTrusted: true, isAskable: true }],
  ['- -', { isTrusted: false, isAskable: false }],
  ['+ - -', { isTrusted: false, isAskable: false }],
  ['- - 599.999', { isTrusted: false, isAskable: false }],
  ['- - 600', { isTrusted: false, isAskable: true }],
  ['- - 600 -', { isTrusted: false, isAskable: true }],
  ['- - 600 - -', { isTrusted: false, isAskable: false }],
  ['- - +', { isTrusted: true, isAskable: true }],
])('a list that was seen “%s”', (steps, is) => {
  expect(seen(steps)).toEqual(is);
});

test('a list that was stale when it was last seen is asked after ten minutes', () => {
  expect(seen('599.999', 'stale').isAskable).toBe(false);
  expect(seen('600', 'stale')).toEqual({ isTrusted: false, isAskable: true });
});
