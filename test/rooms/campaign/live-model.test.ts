import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { ruleOn } from '../../../src/campaign/decisions/judge.ts';
import type { LiveRun } from '../../../src/campaign/live-run.ts';
import type { Gate } from '../../../src/graph/graph.ts';
import { writeLock } from '../../../src/lock/write.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { type RunOptions, TestCampaign } from '../../rig/campaign.ts';
import { gatesOf, jobAt, type Said, say } from '../../rig/people.ts';
import { seeded } from '../../rig/random.ts';
import { forAll, runs } from '../../rig/runs.ts';

const timeoutMs = 900_000;

interface Shape {
  rows: number;
  takes: number;
  choose: number;
  /** What stands between drafts and films. */
  second: 'nothing' | 'approve' | 'choose';
  retry: boolean;
  /** Hangs on all films. */
  hasEnd: boolean;
  concurrency: number;
  /** Of the services and the people. */
  seed: number;
  /** Prompts whose jobs come to nothing: each of them, or every other one. */
  fails: string[];
}

const shapes: fc.Arbitrary<Shape> = fc
  .record({
    rows: fc.integer({ min: 1, max: 3 }),
    takes: fc.integer({ min: 2, max: 3 }),
    choose: fc.integer({ min: 1, max: 2 }),
    second: fc.constantFrom('nothing' as const, 'approve' as const, 'choose' as const),
    retry: fc.boolean(),
    hasEnd: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 4 }),
    seed: fc.nat(1_000_000),
    fails: fc.subarray(['lamp k1', 'film k1', 'film k2', 'fine k2']),
  })
  .map((shape) => ({ ...shape, choose: Math.min(shape.choose, shape.takes) }));

function manifestOf({ rows, takes, choose, second, retry, hasEnd }: Shape): string {
  const foreach = `foreach: [${Array.from({ length: rows }, (_, index) => `k${index + 1}`).join(', ')}]`;
  const drafts = choose > 1 ? '"{{tasks.hero.urls}}"' : '["{{tasks.hero.url}}"]';
  const gate = second === 'approve' ? 'gate: approve' : 'takes: 2, gate: { choose: 1 }';
  const again = retry ? ', retry: { attempts: 2 }' : '';
  const from = second === 'nothing' ? drafts : '["{{tasks.fine.url}}"]';
  return `version: 1
name: model
prices: { image: 2, video: 5 }
tasks:
  hero: { kind: image, ${foreach}, takes: ${takes}, gate: { choose: ${choose} }, with: { prompt: "lamp {{row}}" } }
${second === 'nothing' ? '' : `  fine: { kind: image, ${foreach}, ${gate}, with: { prompt: "fine {{row}}", referenceImages: ${drafts} } }\n`}  film: { kind: image, ${foreach}${again}, with: { prompt: "film {{row}}", referenceImages: ${from} } }
${hasEnd ? '  end: { kind: image, needs: [film], with: { prompt: end } }\n' : ''}  loose: { kind: image, foreach: [x, y], with: { prompt: "loose {{row}}" } }
`;
}

function makeCampaign(shape: Shape): TestCampaign {
  const campaign = new TestCampaign(manifestOf(shape));
  const { service } = campaign;
  const random = seeded(shape.seed);
  service.creditsOf = () => 2;
  service.trouble = () => {
    service.jobMs = 1000 + Math.floor(random() * 20_000);
    return undefined;
  };
  service.endOf = ({ body, key }) => {
    const isMeant = shape.seed % 2 === 0 || key.charCodeAt(key.length - 1) % 2 === 0;
    return isMeant && shape.fails.some((prompt) => body.includes(prompt)) ? { is: 'failed', error: 'boom' } : undefined;
  };
  return campaign;
}

/** What people will say of a gate in the end: the same in whichever order they look. */
function decisionOf({ name, members, choose }: Gate, seed: number): Said {
  const random = seeded([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), seed) % 1_000_003);
  const isRejected = random() < 0.15;
  const ranked = [...members].map((address) => ({ address, rank: random() })).sort((a, b) => a.rank - b.rank);
  const said = ranked.map(({ address }, index) => [address, isRejected || index >= choose ? 'rejected' : 'picked']);
  return Object.fromEntries(said) as Said;
}

/** What can be said by now, and is not on record. */
function openWords(
  campaign: TestCampaign,
  lock: ReturnType<TestCampaign['file']['read']>,
  seed: number,
): [string, Said][] {
  return gatesOf(campaign.graph, lock).flatMap((gate): [string, Said][] => {
    if (gate.state.is === 'decided' || gate.state.is === 'rejected') return [];
    const said = decisionOf(gate, seed);
    const isThere = gate.members.every((address) => said[address] === 'rejected' || jobAt(lock, address) !== undefined);
    const picks = Object.entries(said).filter(([address]) => jobAt(lock, address) !== undefined);
    if (!isThere || picks.length === 0) return [];
    const isNews = picks.some(([address, is]) => is === 'picked' && gate.state.picked.includes(address) !== true);
    const allRejected = picks.every(([, is]) => is === 'rejected');
    return isNews || (allRejected && picks.length === gate.members.length)
      ? [[gate.name, Object.fromEntries(picks)]]
      : [];
  });
}

/** People who look now and then, and decide one gate at a time. */
async function decideNowAndThen(live: LiveRun, campaign: TestCampaign, shape: Shape): Promise<void> {
  const random = seeded(shape.seed + 1);
  while (live.state().is !== 'ended') {
    await campaign.clock.sleep(Math.floor(random() * 30_000));
    const words = openWords(campaign, live.state().lock, shape.seed);
    const [, said] = words[Math.floor(random() * words.length)] ?? [];
    if (said !== undefined) await say(live, said);
    else live.stopWaiting();
  }
}

/** The same by hand: apply, pick, apply, until there is nothing to say and nothing to buy. */
async function runByHand(campaign: TestCampaign, shape: Shape): Promise<void> {
  for (;;) {
    await campaign.run({ concurrency: shape.concurrency });
    const lock = campaign.file.read();
    const words = openWords(campaign, lock, shape.seed);
    let isHeard = false;
    for (const [, said] of words) {
      const verdicts = Object.entries(said).map(([address, is]) => ({ address, is, job: jobAt(lock, address) ?? '' }));
      const rulings = ruleOn(verdicts, situate(campaign.graph, lock));
      isHeard ||= rulings.some(({ is }) => is === 'recorded');
    }
    // What is to be made anew first is not judged before.
    if (!isHeard) return;
    campaign.file.text = writeLock(lock);
  }
}

function expectNamed(campaign: TestCampaign, plan: Plan): void {
  const { steps } = campaign.file.read();
  const rows = new Map(plan.rows.map((row) => [row.address, row]));
  const addressOf = new Map(
    [...steps.values()].flatMap(({ address, purchases }) => purchases.map(({ key }) => [key, address] as const)),
  );
  const bought = new Map<string, number>();
  for (const { key } of campaign.service.ledger) {
    const address = addressOf.get(key) ?? `unknown ${key}`;
    bought.set(address, (bought.get(address) ?? 0) + 1);
  }
  for (const [address, count] of bought) {
    const { order, later } = rows.get(address) ?? {};
    const most =
      order === undefined ? (later === undefined ? 0 : 1 + (later.retries ?? 0)) : 1 + (order.retries?.left ?? 0);
    expect(count, `${address} was bought ${count} times, and the plan names ${most}`).toBeLessThanOrEqual(most);
  }
  const { knownPrices, mayRetry = 0, afterPicks } = plan.totals;
  const wouldRetry = plan.rows.reduce((sum, row) => sum + (row.later === undefined ? 0 : (row.wouldRetry ?? 0)), 0);
  const spent = campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0);
  expect(spent).toBeLessThanOrEqual(knownPrices + mayRetry + (afterPicks?.credits ?? 0) + wouldRetry);
}

function expectPaidOnce({ service }: TestCampaign): void {
  expect(new Set(service.ledger.map(({ key }) => key)).size).toBe(service.ledger.length);
}

const keysOf = ({ service }: TestCampaign) => service.ledger.map(({ key }) => key).sort();

describe('whatever people decide while a run goes on', () => {
  forAll([shapes], { numRuns: runs(80), endOnFailure: true, timeoutMs })(
    'it buys what apply, pick and apply by hand buy, all of it named in the plan that was shown first',
    async (shape) => {
      const [live, byHand] = [makeCampaign(shape), makeCampaign(shape)];
      const { plan } = await live.run({
        concurrency: shape.concurrency,
        people: (run) => decideNowAndThen(run, live, shape),
      });
      expectNamed(live, plan);
      await runByHand(byHand, shape);
      expect(keysOf(live)).toEqual(keysOf(byHand));
      expect(live.plan().rows.map(({ action }) => action)).toEqual(byHand.plan().rows.map(({ action }) => action));
    },
  );

  const meddling = fc.record({
    shape: shapes,
    budget: fc.option(fc.integer({ min: 4, max: 40 }), { nil: undefined }),
    words: fc.array(
      fc.record({
        afterMs: fc.nat(40_000),
        member: fc.nat(50),
        is: fc.constantFrom('picked' as const, 'picked' as const, 'rejected' as const, 'undecided' as const),
      }),
      { maxLength: 12 },
    ),
    dieAt: fc.option(fc.record({ line: fc.nat(60), written: fc.boolean() }), { nil: undefined }),
  });

  forAll([meddling], { numRuns: runs(120), endOnFailure: true, timeoutMs })(
    'nothing is bought that was not named, nothing twice, and no verdict that was answered is lost, killed or not',
    async ({ shape, budget, words, dieAt }) => {
      const campaign = makeCampaign(shape);
      const answered = new Map<string, { is: string; job: string }>();
      const unsure = new Set<string>();
      const people = async (live: LiveRun) => {
        for (const { afterMs, member, is } of words) {
          await campaign.clock.sleep(afterMs);
          const { lock } = live.state();
          const seen = gatesOf(campaign.graph, lock)
            .flatMap(({ members }) => members)
            .filter((address) => jobAt(lock, address) !== undefined);
          const address = seen[member % Math.max(1, seen.length)];
          const job = address === undefined ? undefined : jobAt(lock, address);
          if (address === undefined || job === undefined) continue;
          const siblings =
            gatesOf(campaign.graph, lock).find(({ members }) => members.includes(address))?.members ?? [];
          for (const one of siblings) unsure.add(one);
          const [ruling] = [await live.judge([{ address, is, job }])].flat();
          for (const one of siblings) unsure.delete(one);
          if (typeof ruling !== 'object' || ruling.is !== 'recorded') continue;
          if (is === 'picked') for (const one of siblings) if (answered.get(one)?.is === 'picked') answered.delete(one);
          answered.set(address, { is, job });
        }
        // Nobody waits for a machine that has died.
        while (live.state().is !== 'ended' && !campaign.file.dead) {
          await campaign.clock.sleep(60_000);
          live.stopWaiting();
        }
      };
      const options: RunOptions = {
        concurrency: shape.concurrency,
        people,
        ...(budget !== undefined && { maxCredits: budget }),
      };
      const plan = campaign.plan(options);
      if (dieAt === undefined) await campaign.run(options);
      else await campaign.runAndDie(dieAt, options);
      const { steps } = campaign.file.read();
      for (const [address, { is, job }] of answered) {
        if (unsure.has(address)) continue;
        const verdict = steps.get(address)?.decisions?.verdicts?.find((one) => one.job === job);
        expect(verdict?.is ?? 'undecided', address).toBe(is);
      }
      expectPaidOnce(campaign);
      expectNamed(campaign, plan);
      if (budget !== undefined) {
        expect(campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0)).toBeLessThanOrEqual(budget);
      }
      await runByHand(campaign, shape);
      expectPaidOnce(campaign);
    },
  );
});
