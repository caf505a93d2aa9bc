import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/listed-model.ts';
import { allowPosts } from '../../../src/plan/consent.ts';
import { orderId, type Plan, type StepOrder } from '../../../src/plan/plan.ts';
import { type ResumedPlan, resumePlan } from '../../../src/run/resume-plan.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { images, launch, type RunOptions, TestCampaign } from '../../rig/campaign.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { completed, type Trouble } from '../../rig/scripted-service.ts';

const timeoutMs = 900_000;

/** One plan, carried out by one process after the other, each of which knows what is on record and nothing else. */
class Relay {
  readonly campaign: TestCampaign;
  readonly plan: Plan;
  readonly #before;
  readonly #options: RunOptions;
  readonly ends = new Map<string, StepEnd>();

  constructor(campaign: TestCampaign, options: RunOptions = {}) {
    this.campaign = campaign;
    this.#options = { concurrency: 3, ...options };
    this.plan = allowPosts(campaign.plan(this.#options));
    this.#before = campaign.file.read();
  }

  resume(): ResumedPlan {
    const { campaign, ends } = this;
    return resumePlan(this.plan, {
      before: this.#before,
      lock: campaign.file.read(),
      prices: campaign.graph.prices,
      ends,
      now: campaign.clock.now(),
      replays: campaign.service.canReplay ? 'yes' : 'no',
      accountOf: (send) => `${send}-${campaign.account}`,
    });
  }

  /** `remembers`: of the ends that a process saw, so many were on record when it died. */
  async run(dieAt?: { line: number; written: boolean }, remembers = Number.POSITIVE_INFINITY): Promise<void> {
    const resumed = this.resume();
    this.#compare(resumed);
    for (const [name, end] of resumed.newEnds) this.ends.set(name, end);
    const onEnd = (name: string, end: StepEnd) => {
      const before = resumed.spent.get(name) ?? 0;
      const credits = end.credits === null ? null : end.credits + before;
      if (this.ends.size < remembers) this.ends.set(name, { ...end, credits });
    };
    const options = { ...this.#options, resumed, onEnd, unsettled: true };
    if (dieAt === undefined) await this.campaign.run(options);
    else await this.campaign.runAndDie(dieAt, options);
  }

  /** Where a new plan would go on with the same purchase, both say how. */
  #compare({ plan, ends, newEnds }: ResumedPlan): void {
    const again = this.campaign.plan(this.#options);
    const replanned = new Map(again.rows.flatMap(({ order }) => (order ? [[orderId(order), order]] : [])));
    const resumed = new Map<string, unknown>();
    const expected = new Map<string, unknown>();
    for (const { order } of plan.rows) {
      if (order === undefined || ends.has(orderId(order))) continue;
      const other = replanned.get(orderId(order));
      const row = again.rows.find(({ address }) => address === order.address);
      // A plan can say this ahead; an order finds out when its turn comes.
      const isHeldBack = row?.action === 'blocked' || row?.unneeded === true;
      if (other === undefined && isHeldBack) continue;
      resumed.set(orderId(order), purchaseOf(order));
      expected.set(orderId(order), other === undefined ? 'nothing to do' : purchaseOf(other));
    }
    expect(resumed).toEqual(expected);
    for (const [name, { outcome }] of newEnds) {
      const action = again.rows.find(({ address }) => address === name)?.action;
      if (outcome === 'done') expect([name, action]).toEqual([name, 'keep']);
    }
  }

  get spent(): number {
    return this.campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0);
  }
}

/** What decides what is paid for. */
function purchaseOf({ key, generation, attempt, repeat, refused, jobId, send, sharesJobOf }: StepOrder) {
  return { key, generation, attempt, repeat, refused, jobId, send, sharesJobOf };
}

/** When a process dies; `remembers`: ends on record at most; `ambiguous`: the answer to one
 * of its creates is lost; `silent`, if 0: the service does not say what it charges. */
const deaths = fc.array(
  fc.record({
    line: fc.nat(9),
    written: fc.boolean(),
    remembers: fc.nat(6),
    ambiguous: fc.boolean(),
    silent: fc.nat(3),
  }),
  { maxLength: 6 },
);

describe('a plan that one process after the other carries out', () => {
  const chained = `version: 1
name: test
tasks:
  pic: { kind: image, foreach: [p1, p2, p3], with: { prompt: "a {{row}}" } }
  twin: { kind: image, with: { prompt: "a p1" } }
  song: { kind: music, foreach: [s1, s2], with: { model: song-7.5, prompt: "{{row}}" } }
`;

  forAll([deaths], { numRuns: runs(30), timeoutMs })(
    'buys each thing once and ends as one process',
    async (moments) => {
      const relay = new Relay(new TestCampaign(chained));
      const { service } = relay.campaign;
      for (const { ambiguous, remembers, silent: _, ...dieAt } of moments) {
        const from = service.creates.length + 1;
        service.trouble = (create) =>
          ambiguous && create === from ? { answer: { is: 'ambiguous', message: 'lost' }, booked: true } : undefined;
        await relay.run(dieAt, remembers);
        service.trouble = () => undefined;
      }
      await relay.run();
      expect(service.ledger.map(({ body }) => body).sort()).toEqual(
        [...new Set(service.ledger.map(({ body }) => body))].sort(),
      );
      expect(service.ledger).toHaveLength(5);
      const orders = relay.plan.rows.flatMap(({ order }) => (order ? [orderId(order)] : []));
      expect([...relay.ends.keys()].sort()).toEqual(orders.sort());
      expect([...relay.ends.values()].map(({ outcome }) => outcome)).toEqual(orders.map(() => 'done'));
      expect(relay.campaign.plan().rows.map(({ action }) => action)).toEqual(orders.map(() => 'keep'));
    },
  );

  const wished = fc.record({
    moments: deaths,
    budget: fc.option(fc.integer({ min: 3, max: 40 })),
    maxCredits: fc.option(fc.integer({ min: 3, max: 40 })),
    isKnown: fc.boolean(),
  });
  forAll([wished], { numRuns: runs(30), timeoutMs })(
    'never spends more than its caps, at prices known or unknown',
    async ({ moments, budget, maxCredits, isKnown }) => {
      const prices = isKnown ? 'prices: { image: 3 }\n' : '';
      const extra = `${prices}${budget === null ? '' : `budget: { credits: ${budget} }\n`}`;
      const campaign = new TestCampaign(images(8, extra));
      const relay = new Relay(campaign, maxCredits === null ? {} : { maxCredits });
      const { service } = campaign;
      const cap = Math.min(budget ?? Number.POSITIVE_INFINITY, maxCredits ?? Number.POSITIVE_INFINITY);
      for (const { ambiguous, remembers, silent, ...dieAt } of moments) {
        service.silent = silent === 0;
        const from = service.creates.length + 2;
        service.trouble = (create) =>
          ambiguous && create === from ? { answer: { is: 'ambiguous', message: 'lost' }, booked: true } : undefined;
        await relay.run(dieAt, remembers);
        expect(relay.spent).toBeLessThanOrEqual(cap);
        service.trouble = () => undefined;
        service.silent = false;
      }
      await relay.run();
      expect(relay.spent).toBeLessThanOrEqual(cap);
      const bodies = service.ledger.map(({ body }) => body);
      expect(new Set(bodies).size).toBe(bodies.length);
      // What the caps allow is bought, however often somebody died. What an unstated charge may have been stays held.
      if (moments.some(({ silent }) => silent === 0)) return;
      expect(relay.spent).toBe(Math.min(24, Math.floor(cap / 3) * 3));
    },
  );

  forAll([deaths, fc.integer({ min: 2, max: 5 })], { numRuns: runs(30), timeoutMs })(
    'retries as often as the plan allows, counted over all of them',
    async (moments, attempts) => {
      const manifest = images(2).replace('kind: image', `kind: image, retry: { attempts: ${attempts} }`);
      const relay = new Relay(new TestCampaign(manifest));
      const { service } = relay.campaign;
      service.endOf = () => ({ is: 'failed', error: 'came to nothing' });
      for (const { remembers, ambiguous: _, silent: _silent, ...dieAt } of moments) await relay.run(dieAt, remembers);
      await relay.run();
      expect(service.ledger).toHaveLength(2 * attempts);
      const ends = [...relay.ends.values()];
      expect(ends.map(({ outcome, credits }) => ({ outcome, credits }))).toEqual(
        ends.map(() => ({ outcome: 'failed', credits: 3 * attempts })),
      );
    },
  );

  const history = fc.array(
    fc.record({
      line: fc.nat(9),
      written: fc.boolean(),
      remembers: fc.nat(8),
      trouble: fc.constantFrom('none', 'lost', 'lost and booked', 'refused', 'no credits'),
      from: fc.nat(3),
      count: fc.integer({ min: 1, max: 6 }),
      fails: fc.option(fc.nat(3)),
      hours: fc.constantFrom(0, 0, 1, 22, 30),
      replays: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );
  forAll([history], { numRuns: runs(40), timeoutMs })(
    'posts, parts, uploads, lists and kinds that cannot be asked again: whatever happens, each is bought at most once',
    async (moments) => {
      const campaign = new TestCampaign(launch());
      const { service, clock } = campaign;
      service.jobMs = 3000;
      const failing = new Set<string>();
      service.endOf = ({ jobId, body }) => {
        if (failing.has(jobId)) return { is: 'failed', error: 'boom' };
        if (!body.includes('videoUrl')) return undefined;
        return completed('https://files.example/c0', 'https://files.example/c1');
      };
      const relay = new Relay(campaign);
      for (const { trouble, from, count, fails, hours, replays, remembers, ...dieAt } of moments) {
        const first = service.creates.length + from;
        const answer = troubles[trouble];
        service.trouble = (create) => (create > first && create <= first + count ? answer : undefined);
        service.canReplay = replays;
        const job = fails === null ? undefined : service.ledger[service.ledger.length - 1 - fails];
        if (job !== undefined) failing.add(job.jobId);
        await relay.run(dieAt, remembers);
        service.trouble = () => undefined;
        clock.advance(hours * 3_600_000);
      }
      await relay.run();
      const bodies = service.ledger.map(({ body }) => body);
      expect(bodies.sort()).toEqual([...new Set(bodies)].sort());
      expect(bodies.filter((body) => body.includes('share 2'))).toEqual([]);
      const known = JSON.stringify([...campaign.file.read().steps.values()]);
      for (const { jobId, key } of service.ledger) {
        expect(known.includes(`"${jobId}"`) || known.includes(`"${key}"`)).toBe(true);
      }
      // Every order has ended, and nothing of it goes on.
      const orders = relay.plan.rows.flatMap(({ order }) => (order ? [orderId(order)] : []));
      expect([...relay.ends.keys()].sort()).toEqual(orders.sort());
    },
  );
});

test('I39 a leader that takes the run over goes on under the same ceiling', async () => {
  const listings = [readCatalogListing({ image: [{ key: 'alpha-2', credits: 4 }] }, kinds)];
  const relay = new Relay(new TestCampaign(images(6)), { hints: { listings }, concurrency: 1 });
  const { service } = relay.campaign;
  expect(relay.plan.totals.ceiling).toBe(30);
  service.creditsOf = () => (service.ledger.length < 3 ? 5 : 7);
  while (service.ledger.length < 3) await relay.run({ line: 2, written: true });
  await relay.run();
  await relay.run();
  expect(service.ledger).toHaveLength(4);
  expect(relay.spent).toBe(22);
});

test('I39 a price that nobody could estimate, over several processes', async () => {
  const relay = new Relay(new TestCampaign(images(8)), { concurrency: 1 });
  const { service } = relay.campaign;
  service.creditsOf = () => (service.ledger.length === 0 ? 4 : 12);
  await relay.run({ line: 2, written: true });
  await relay.run();
  expect(relay.spent).toBeLessThanOrEqual(40);
});

const troubles: { [name: string]: Trouble | undefined } = {
  lost: { answer: { is: 'ambiguous', message: 'lost' }, booked: false },
  'lost and booked': { answer: { is: 'ambiguous', message: 'lost' }, booked: true },
  refused: { answer: { is: 'refused', status: 400, why: 'invalid', message: 'no' } },
  'no credits': { answer: { is: 'refused', status: 402, why: 'credits', message: 'no' } },
};
