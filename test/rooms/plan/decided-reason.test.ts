import { expect, test } from 'vitest';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { deciding, earlier, type GivenFacts, job, lockOf, picture, planOf, rowOf, saved, stepOf } from './facts.ts';

const graph = graphOfSteps([picture('p')]);
const p = stepOf(graph, 'p');
const was = earlier(p);
const { credits: _credits, ...uncharged } = saved(was, {
  outputs: [{ path: 'output/p.png', sha256: 'a', bytes: 1, type: 'image/png' }],
});
const { request: _request, ...unexplained } = uncharged;

const onRecord = (purchase: Purchase) => lockOf({ p: [purchase] }, { kind: 'image' });
const pinned = (purchase: Purchase) =>
  deciding(onRecord(purchase), 'p', { pin: { fingerprint: purchase.fingerprint, revision: 1 } });
const accepted = (purchase: Purchase) =>
  deciding(onRecord(purchase), 'p', {
    accepted: [{ wanted: p.fingerprint, fingerprint: purchase.fingerprint, revision: 1 }],
  });
const missing: GivenFacts = { fileState: () => 'missing' };

test.each<[string, Lock, GivenFacts, string]>([
  [
    'a pin, when nobody knows what it would cost',
    pinned(uncharged),
    {},
    'pinned; prompt: before → p (what it would cost is not known)',
  ],
  [
    'a pin, when nobody knows what changed',
    pinned(unexplained),
    {},
    'pinned; an input changed (what it would cost is not known)',
  ],
  ['an acceptance', accepted(uncharged), {}, 'accepted as it is, although prompt: before → p'],
  [
    'an acceptance, when nobody knows what changed',
    accepted(unexplained),
    {},
    'accepted as it is, although an input changed',
  ],
  ['a pin whose file is missing', pinned(uncharged), missing, 'paid; output/p.png is missing (pinned)'],
  ['an acceptance whose file is missing', accepted(uncharged), missing, 'paid; output/p.png is missing (accepted)'],
  ['a pin whose job runs', pinned(job(p)), {}, 'job p-1 is running (pinned)'],
])('the reason names %s', (_name, lock, facts, reason) => {
  expect(rowOf(planOf(graph, lock, facts), 'p').reason).toBe(reason);
});
