import { expect, test } from 'vitest';
import { findContradiction } from '../../../src/campaign/saved-plan.ts';
import { plan, row } from '../report/samples.ts';

const saved = { manifest: 'campaign.yaml', options: {}, steps: '0'.repeat(64), purchases: {} };

test('an open send may stand beside its step, and a step stands once', () => {
  const step = row('hero', 'create');
  const send = row('hero', 'create', { send: 's1' });
  expect(findContradiction({ ...plan([step, send]), saved })).toBeUndefined();
  expect(findContradiction({ ...plan([step, send, step]), saved })).toBe('it has two rows for one step');
});

test('what an open send may cost is no row of its step', () => {
  const purchases = { hero: { fingerprint: '1:aa', repeat: 1 } };
  const beside = plan([row('hero', 'keep'), row('hero', 'create', { send: 's1' })]);
  expect(findContradiction({ ...beside, saved: { ...saved, purchases } })).toBe('it buys hero, but no row shows that');
});

test('what is expected of its prices follows from its rows', () => {
  const price = { class: 'c', credits: null, source: 'list' as const, low: 3, likely: 3 };
  const rows = [row('hero', 'create', { credits: null, price })];
  const estimate = { low: 3, likely: 3, high: null, unpriced: 0, sources: { list: 1 } };
  const planned = (likely: number, ceiling = 4) => ({
    ...plan(rows, { toSpend: likely, ceiling, knownPrices: 0, unknownPrices: 1, estimate: { ...estimate, likely } }),
    saved,
  });
  expect(findContradiction(planned(3, 40))).toBe('its rows do not add up to its ceiling');
  expect(findContradiction(planned(3))).toBeUndefined();
  expect(findContradiction(planned(1))).toBe('its rows do not add up to its estimate');
  const two = plan([row('hero', 'create', { credits: 4, price })], { knownPrices: 4 });
  expect(findContradiction({ ...two, saved })).toBe('hero has two prices');
});
