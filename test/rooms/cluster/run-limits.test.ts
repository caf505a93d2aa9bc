import { expect, test } from 'vitest';
import { RunLimits } from '../../../src/cluster/head/head.ts';
import { submission } from './submission.ts';

test('a run that comes later with shorter time-outs does not shorten those of the runs that share its service', () => {
  const { settings } = submission({ account: 'a' });
  const limits = new RunLimits();
  limits.take({ ...settings, createTimeoutMs: 90_000, requestTimeoutMs: 40_000, patienceMs: 600_000 });
  limits.take({ ...settings, createTimeoutMs: 7000, requestTimeoutMs: 5000, patienceMs: 1000 });
  expect(limits).toEqual({ createTimeoutMs: 90_000, requestTimeoutMs: 40_000, patienceMs: 600_000 });
  limits.take(settings);
  expect(limits.patienceMs).toBe(Number.POSITIVE_INFINITY);
});
