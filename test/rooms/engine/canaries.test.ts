import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ruleOn } from '../../../src/campaign/decisions/judge.ts';
import type { LiveRun } from '../../../src/campaign/live-run.ts';
import type { RunFact } from '../../../src/contract/event.ts';
import { groupBy } from '../../../src/ground/values.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { isSpending } from '../../../src/plan/actions.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { firstRows } from '../../../src/plan/select/select.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf, images, type RunOptions, TestCampaign } from '../../rig/campaign.ts';
import { jobAt, say } from '../../rig/people.ts';
import { forAll, runs } from '../../rig/runs.ts';

interface Written {
  rows: string[];
  /** `0`: no canary. */
  draft: string;
  final: string;
  gate: '' | 'gate: approve, ' | 'takes: 2, gate: { choose: 1 }, ';
  retry: boolean;
  priced: boolean;
  budget?: number | undefined;
  words: string;
}

function manifestOf({ rows, draft, final, gate, retry, priced, budget, words }: Written): string {
  const canary = (rule: string) => (rule === '0' ? '' : `canary: ${rule}, `);
  return `version: 1
name: test
${priced ? 'prices: { image: 3 }' : ''}
${budget === undefined ? '' : `budget: { credits: ${budget} }`}
tasks:
  draft: { kind: image, foreach: [${rows.join(', ')}], ${canary(draft)}${gate}with: { prompt: "draft ${words} {{row}}" } }
  final: { kind: image, foreach: [${rows.join(', ')}], ${canary(final)}${retry ? 'retry: { attempts: 2 }, ' : ''}with: { prompt: "final {{row}}", referenceImages: ["{{tasks.draft.url}}"] } }
`;
}

const rule = fc.constantFrom('0', '1', '2', '{ first: 1, then: ask }', '{ first: 2, then: ask }');

const written: fc.Arbitrary<Written> = fc.record({
  rows: fc.integer({ min: 1, max: 5 }).map((count) => ['a', 'b', 'c', 'd', 'e'].slice(0, count)),
  // A gate asks about each draft already.
  draft: fc.constantFrom('0', '1', '2'),
  final: rule,
  gate: fc.constantFrom('', 'gate: approve, ', 'takes: 2, gate: { choose: 1 }, '),
  retry: fc.boolean(),
  priced: fc.boolean(),
  budget: fc.option(fc.integer({ min: 3, max: 60 }), { nil: undefined }),
  words: fc.constantFrom('of', 'in'),
});

type Act =
  | {
      do: 'run';
      concurrency: number;
      maxCredits: number | undefined;
      part: Part | undefined;
      redo: number[];
      said: Said[];
    }
  | { do: 'fail'; body: string; how: 'fail' | 'refuse' }
  | { do: 'repair' }
  | { do: 'judge'; as: 'picked' | 'rejected'; from: number }
  | { do: 'write'; words: string; rows: string[] };

/** What people say during a run, of the output with that number. */
interface Said {
  is: 'picked' | 'rejected';
  number: number;
  afterMs: number;
}

const said: fc.Arbitrary<Said> = fc.record({
  is: fc.constantFrom('picked', 'picked', 'picked', 'rejected'),
  number: fc.nat(6),
  afterMs: fc.constantFrom(0, 2000, 60_000),
});

/** What a run is limited to: steps by their number, or the first rows. */
type Part = number[] | { first: number };

const part = fc.oneof(
  fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }),
  fc.record({ first: fc.integer({ min: 1, max: 3 }) }),
);

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      concurrency: fc.integer({ min: 1, max: 5 }),
      maxCredits: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined, freq: 4 }),
      part: fc.option(part, { nil: undefined, freq: 3 }),
      said: fc.array(said, { maxLength: 5 }),
      redo: fc.oneof(
        { weight: 4, arbitrary: fc.constant<number[]>([]) },
        { weight: 1, arbitrary: fc.nat(9).map((one) => [one]) },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      body: fc
        .tuple(fc.constantFrom('draft', 'final'), fc.constantFrom('a', 'b', 'c'))
        .map(([t, key]) => `${t} ${key}`),
      how: fc.constantFrom('fail', 'refuse'),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ do: 'repair' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('judge' as const),
      as: fc.constantFrom('picked', 'picked', 'rejected'),
      from: fc.nat(4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      words: fc.constantFrom('of', 'in'),
      rows: fc.subarray(['z', 'a', 'b', 'c', 'd'], { minLength: 1 }),
    }),
  },
);

/** A campaign, and an account of its own of what may be bought when. */
class Watched {
  readonly campaign: TestCampaign;
  manifest: Written;
  readonly troubles = new Map<string, 'fail' | 'refuse'>();

  constructor(manifest: Written) {
    this.manifest = manifest;
    this.campaign = new TestCampaign(manifestOf(manifest));
    const { service } = this.campaign;
    const troubleOf = (body: string) =>
      [...this.troubles].find(([text]) => {
        const [task = '', key = ''] = text.split(' ');
        return new RegExp(`"${task} (?:\\w+ )?${key}"`).test(body);
      })?.[1];
    service.endOf = ({ body }) => (troubleOf(body) === 'fail' ? { is: 'failed', error: 'boom' } : undefined);
    service.trouble = (_create, body) =>
      troubleOf(body) === 'refuse'
        ? { answer: { is: 'refused', status: 400, why: 'invalid', message: 'no' } }
        : undefined;
  }

  async perform(one: Act): Promise<void> {
    switch (one.do) {
      case 'run': {
        const { steps } = this.campaign.graph;
        const named = (numbers: readonly number[]) => numbers.flatMap((number) => steps[number]?.address ?? []);
        const only = Array.isArray(one.part) ? named(one.part) : one.part && firstRows({ steps }, one.part.first);
        await this.run({
          concurrency: one.concurrency,
          redo: named(one.redo),
          ...(one.said.length > 0 && { people: (live: LiveRun) => this.decide(live, one.said) }),
          ...(one.maxCredits !== undefined && { maxCredits: one.maxCredits }),
          ...(only !== undefined && { selected: [...only] }),
        });
        break;
      }
      case 'fail':
        this.troubles.set(one.body, one.how);
        break;
      case 'repair':
        this.troubles.clear();
        break;
      case 'judge':
        this.judge(one.as, (index) => index >= one.from);
        break;
      case 'write':
        this.manifest = { ...this.manifest, words: one.words, rows: one.rows };
        this.campaign.graph = graphOf(manifestOf(this.manifest));
        break;
      default:
        one satisfies never;
    }
  }

  judge(is: 'picked' | 'rejected', isMeant: (index: number) => boolean = () => true): void {
    const { graph, file } = this.campaign;
    const lock = file.read();
    const situation = situate(graph, lock);
    const { matches, gateOf } = situation;
    const seen = matches.filter(({ step, purchase }) => gateOf.has(step.address) && purchase?.state === 'done');
    const verdicts = seen.map(({ step, purchase }) => ({ address: step.address, is, job: purchase?.jobId ?? '' }));
    ruleOn(
      verdicts.filter((_, index) => isMeant(index)),
      situation,
    );
    file.text = writeLock(lock);
  }

  /**
   * People look at what is there and undecided, one after the other, and do not wait for more. They do not change their
   * minds: what is on its way for a pick that is taken back is made for nobody, and proves nothing.
   */
  async decide(live: LiveRun, all: readonly Said[]): Promise<void> {
    const { clock } = this.campaign;
    for (const { is, number, afterMs } of all) {
      await clock.sleep(afterMs);
      const { graph, lock } = live.state();
      const { gates } = situate(graph, lock).graph;
      const open = gates.filter(({ state }) => state.is === 'open').flatMap((gate) => gate.members);
      const members = open.filter((one) => jobAt(lock, one) !== undefined);
      const address = members[number];
      if (address !== undefined) await say(live, { [address]: is });
    }
    for (let tries = 0; tries < 100 && live.state().is !== 'ended' && !live.stopWaiting(); tries += 1) {
      await clock.sleep(60_000);
    }
  }

  /**
   * By what is on record when a job was made: were there enough that proved it, or is it one of the first? `agreed`: what a
   * run buys by a plan made when enough were picked; a pick that is taken back meanwhile is for the next plan.
   */
  expectAllowed(address: string, again: ReadonlySet<string>, agreed: ReadonlySet<string>): void {
    const { graph, file } = this.campaign;
    const lock = file.read();
    const { byAddress, verdicts } = situate(graph, lock);
    const { step, record } = byAddress.get(address) ?? {};
    const own = record?.purchases.filter(({ fingerprint, jobId }) => fingerprint === step?.fingerprint && jobId);
    // One that takes the place of another is as many as before.
    if (own === undefined || own.length > 1) return;
    for (const { members, first, asks } of graph.canaries ?? []) {
      if (!members.includes(address) || (asks && agreed.has(address))) continue;
      const all = members.flatMap((name) => byAddress.get(name) ?? []);
      const begun = all.filter(({ purchase }) => purchase?.jobId !== undefined).length;
      const done = all.filter((match) => match.purchase?.state === 'done');
      const picked = done.filter((match) => !again.has(match.step.address) && verdicts.on(match)?.is === 'picked');
      const proven = (asks ? picked : done).length;
      expect(begun <= first || proven >= first, `${address} as number ${begun}, ${proven} have proven it`).toBe(true);
    }
  }

  async run(options: RunOptions) {
    const { campaign } = this;
    const again = new Set(options.redo);
    const agreed = new Set(
      campaign.plan(options).rows.flatMap((row) => (row.order && !row.canary ? [row.address] : [])),
    );
    if (options.people === undefined) agreed.clear();
    const buys = new Map<string, number>();
    const result = await campaign.run({
      ...options,
      onEvent: (fact: RunFact) => {
        if (fact.event === 'step-finished' && fact.outcome === 'done') again.delete(fact.address);
        if (fact.event !== 'job-created') return;
        buys.set(fact.address, (buys.get(fact.address) ?? 0) + 1);
        this.expectAllowed(fact.address, again, agreed);
      },
    });
    const { plan, carriedOut, outcomes } = result;
    for (const { address: name, order } of carriedOut.rows) {
      if (order !== undefined) expect(outcomes, `nobody knows what became of ${name}`).toHaveProperty([name]);
    }
    const spends = ({ rows }: Plan) => rows.filter(({ action }) => isSpending(action)).map((row) => row.address);
    const named = [...spends(plan), ...plan.rows.flatMap((row) => (row.later === undefined ? [] : [row.address]))];
    for (const [name, times] of buys) {
      expect(named, `${name} was bought, and is not in the plan`).toContain(name);
      expect(times).toBeLessThanOrEqual(2);
    }
    const isSmooth = Object.values(outcomes).every((outcome) => outcome === 'done');
    if (isSmooth && this.troubles.size === 0) expect([...buys.keys()].sort()).toEqual(spends(carriedOut).sort());
    return result;
  }
}

describe('whatever canaries there are, and whatever fails', () => {
  forAll([written, fc.array(act, { minLength: 1, maxLength: 8 })], {
    numRuns: runs(100),
    endOnFailure: true,
    timeoutMs: 300_000,
  })(
    'I28 a run ends, buys what its plan says, and the others only when enough have proven it',
    async (manifest, acts) => {
      const watched = new Watched(manifest);
      for (const one of acts) await watched.perform(one);
    },
  );

  forAll([written, fc.array(act, { maxLength: 5 })], { numRuns: runs(60), endOnFailure: true, timeoutMs: 300_000 })(
    'when what failed is bought again and people pick, everything gets done',
    async (manifest, acts) => {
      const watched = new Watched({ ...manifest, budget: undefined });
      for (const one of acts) await watched.perform(one);
      watched.troubles.clear();
      for (let round = 0; round < 5; round += 1) {
        const failed = watched.campaign.plan().rows.filter(({ action }) => action === 'failed');
        await watched.run({ concurrency: 3, redo: failed.map((row) => row.address) });
        watched.judge('picked');
      }
      const left = groupBy(watched.campaign.plan().rows, ({ action }) => action);
      left.delete('orphan');
      expect([...left.keys()]).toEqual(['keep']);
    },
  );
});

const withCanary = (rule: string, count = 4) =>
  images(count, 'prices: { image: 3 }').replace('with:', `canary: ${rule}, with:`);

/** What was sent, in order, by its prompt. */
const sent = ({ service }: TestCampaign) => service.creates.map(({ body }) => JSON.parse(body).prompt as string);

describe('a run with a canary', () => {
  test('sends it alone, and fills the slots with the others as soon as its file is saved', async () => {
    const campaign = new TestCampaign(withCanary('1'));
    const started: number[] = [];
    const { outcomes } = await campaign.run({
      onEvent: (fact) => {
        if (fact.event === 'job-created') started.push(campaign.clock.now());
      },
    });
    expect(outcomes).toEqual({ 'pic@p1': 'done', 'pic@p2': 'done', 'pic@p3': 'done', 'pic@p4': 'done' });
    const [first = 0, second = 0, , last = 0] = started;
    expect(second - first).toBeGreaterThanOrEqual(campaign.service.jobMs);
    expect(last - second).toBeLessThan(1000);
  });

  test.each<[how: string, trouble: (campaign: TestCampaign) => void, outcome: string, words: string]>([
    [
      'fails',
      ({ service }) => Object.assign(service, { endOf: () => ({ is: 'failed', error: 'boom' }) }),
      'failed',
      'failed',
    ],
    [
      'is refused',
      ({ service }) =>
        Object.assign(service, {
          trouble: () => ({ answer: { is: 'refused', status: 400, why: 'invalid', message: 'no' } }),
        }),
      'refused',
      'is refused',
    ],
    ['does not fit', ({ outputs }) => Object.assign(outputs.facts, { current: { width: 7 } }), 'failed', 'failed'],
  ])('that %s buys nothing else', async (_how, trouble, outcome, words) => {
    const campaign = new TestCampaign(withCanary('1').replace('with:', 'expect: { width: 9 }, with:'));
    campaign.outputs.facts.current = { width: 9 };
    trouble(campaign);
    const { outcomes, events } = await campaign.run();
    expect(outcomes).toEqual({ 'pic@p1': outcome, 'pic@p2': 'blocked', 'pic@p3': 'blocked', 'pic@p4': 'blocked' });
    expect(sent(campaign)).toEqual(['a p1']);
    expect(events).toContainEqual(
      expect.objectContaining({ address: 'pic@p3', error: `waits for its canary: pic@p1 ${words}` }),
    );
  });

  test('keeps its seat when it failed, whatever is selected; another request starts over', async () => {
    const campaign = new TestCampaign(withCanary('1'));
    campaign.service.endOf = ({ body }) => (body.includes('a p1') ? { is: 'failed', error: 'boom' } : undefined);
    await campaign.run();
    await campaign.run({ selected: ['pic@p3'] });
    expect(sent(campaign)).toEqual(['a p1']);
    campaign.graph = graphOf(withCanary('1').replace('a {{row}}', 'an oil {{row}}'));
    const { outcomes } = await campaign.run();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expect(sent(campaign)).toEqual(['a p1', 'an oil p1', 'an oil p2', 'an oil p3', 'an oil p4']);
  });
});

describe('a run during which people decide', () => {
  /** Long enough for everything that does not wait for people. */
  const whileMs = 600_000;
  const films = (more: string) => `version: 1
name: live
prices: { image: 3, video: 3 }
tasks:
  hero: { kind: image, foreach: [a, b, c], ${more}with: { prompt: "hero {{row}}" } }
  film: { kind: video, foreach: [a, b, c], canary: 1, with: { prompt: "film {{row}}", image: "{{tasks.hero.url}}" } }
`;
  const failing = (campaign: TestCampaign) =>
    Object.assign(campaign.service, {
      endOf: ({ body }: { body: string }) => (body.includes('film') ? { is: 'failed', error: 'boom' } : undefined),
    });

  test('goes on with the others as soon as the canary is picked', async () => {
    const campaign = new TestCampaign(films('canary: { then: ask }, '));
    const { outcomes } = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        expect(sent(campaign)).toEqual(['hero a']);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        await say(live, { 'hero@a': 'picked' });
      },
    });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expect(sent(campaign).slice(0, 3)).toEqual(['hero a', 'hero b', 'hero c']);
    expect(sent(campaign)).toHaveLength(6);
  });

  test.each([
    ['at once', 0],
    ['while the canary runs', 1000],
    ['when it has failed', whileMs],
  ])('behind a canary that fails nothing is bought that is picked %s', async (_when, waitMs) => {
    const campaign = new TestCampaign(films('gate: approve, '));
    failing(campaign);
    const { carriedOut } = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        await say(live, { 'hero@a': 'picked' });
        await campaign.clock.sleep(waitMs);
        await say(live, { 'hero@b': 'picked', 'hero@c': 'picked' });
      },
    });
    expect(sent(campaign).slice(3)).toEqual(['film a']);
    expect(carriedOut.rows.filter(({ blockedBy }) => blockedBy === 'gate')).toEqual([]);
  });
});
