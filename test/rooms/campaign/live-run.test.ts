import { describe, expect, test } from 'vitest';
import { ruleOn } from '../../../src/campaign/decisions/judge.ts';
import type { LiveRun } from '../../../src/campaign/live-run.ts';
import { joinInto } from '../../../src/lock/join.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf, type RunResult, TestCampaign } from '../../rig/campaign.ts';
import { gatesOf, jobAt, type Said, say } from '../../rig/people.ts';

const manifest = `version: 1
name: live
prices: { image: 2, video: 5 }
tasks:
  hero: { kind: image, foreach: [a, b], takes: 2, gate: { choose: 1 }, with: { prompt: "a lamp {{row}}" } }
  film: { kind: video, foreach: [a, b], with: { prompt: "it turns", image: "{{tasks.hero.url}}" } }
`;

/** Long enough for everything that does not wait for people. */
const whileMs = 600_000;

function makeCampaign(text = manifest): TestCampaign {
  const campaign = new TestCampaign(text);
  campaign.service.creditsOf = (body) => (body.includes('it turns') ? 5 : 2);
  return campaign;
}

/** People who decide nothing until all else is done, and then one thing after the other. */
const whoSay = (campaign: TestCampaign, ...said: Said[]) => ({
  async people(live: LiveRun) {
    for (const one of said) {
      await campaign.clock.sleep(whileMs);
      await say(live, one);
    }
  },
});

const prompts = ({ service }: TestCampaign) =>
  service.ledger.map(({ body }) => String((JSON.parse(body) as { prompt?: unknown }).prompt));
const blockedIn = ({ carriedOut }: RunResult) =>
  Object.fromEntries(
    carriedOut.rows.flatMap((row) => (row.action === 'blocked' ? [[row.address, row.blockedBy]] : [])),
  );
const told = ({ events }: RunResult) =>
  events.flatMap((fact) => (fact.event === 'noticed' ? [`${fact.address}: ${fact.message}`] : []));

describe('a run during which people decide', () => {
  test('goes from draft to final, and buys what the plan named for afterwards', async () => {
    const campaign = makeCampaign();
    const run = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 2 });
        await say(live, { 'hero@a/2': 'picked' });
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        await say(live, { 'hero@b/1': 'picked', 'hero@b/2': 'rejected' });
      },
    });
    expect(run.plan.totals).toMatchObject({ knownPrices: 8, afterPicks: { steps: 2, credits: 10 } });
    expect(run.outcomes).toMatchObject({ 'film@a': 'done', 'film@b': 'done' });
    expect(campaign.service.ledger.map(({ credits }) => credits)).toEqual([2, 2, 2, 2, 5, 5]);
    expect(run.carriedOut.totals).toMatchObject({ knownPrices: 18 });
    expect(run.carriedOut.totals.afterPicks).toBeUndefined();
    expect(run.events.filter(({ event }) => event === 'picks-awaited')).toMatchObject([
      { gates: 2, steps: 2 },
      { gates: 1, steps: 1 },
    ]);
    expect(campaign.plan().rows.every(({ action }) => action === 'keep')).toBe(true);
  });

  test('a charge above what the plan says is the last one of its price', async () => {
    const campaign = makeCampaign();
    campaign.service.creditsOf = (body) => (body.includes('it turns') ? 9 : 2);
    const run = await campaign.run(whoSay(campaign, { 'hero@a/1': 'picked' }, { 'hero@b/1': 'picked' }));
    expect(prompts(campaign).filter((prompt) => prompt === 'it turns')).toHaveLength(1);
    expect(told(run)).toContain('film@b: is skipped in this run: this step now costs 9, and the plan allows 5 at most');
    expect(blockedIn(run)).toEqual({ 'film@b': 'budget' });
  });

  test('when everything is rejected nothing can follow, and it ends', async () => {
    const campaign = makeCampaign();
    const run = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        await say(live, {
          'hero@a/1': 'rejected',
          'hero@a/2': 'rejected',
          'hero@b/1': 'rejected',
          'hero@b/2': 'rejected',
        });
        await campaign.clock.sleep(whileMs);
        expect(await say(live, { 'hero@a/1': 'picked' })).toBe('over');
      },
    });
    expect(blockedIn(run)).toEqual({});
    expect(run.carriedOut.gates).toMatchObject([{ state: 'rejected' }, { state: 'rejected' }]);
    expect(campaign.service.ledger).toHaveLength(4);
  });

  test('what too few drafts are there for is not waited for', async () => {
    const campaign = makeCampaign(
      manifest
        .replace('choose: 1', 'choose: 2')
        .replace('image: "{{tasks.hero.url}}"', 'images: "{{tasks.hero.urls}}"')
        .replace(/ {2}film.*/, ''),
    );
    campaign.service.endOf = ({ body }) =>
      body.includes('lamp a') && campaign.service.ledger.find((job) => job.body === body) !== undefined
        ? { is: 'failed', error: 'boom' }
        : undefined;
    const run = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        await say(live, { 'hero@b/1': 'picked', 'hero@b/2': 'picked' });
      },
    });
    expect(run.carriedOut.gates).toMatchObject([{ name: 'hero@a', state: 'open' }]);
  });

  test('a gate that two branches decided differently waits for a third word', async () => {
    const campaign = makeCampaign();
    await campaign.run();
    const [ours, theirs] = [campaign.file.read(), campaign.file.read()];
    const pick = (lock: typeof ours, address: string) =>
      ruleOn([{ address, is: 'picked', job: jobAt(lock, address) ?? '' }], situate(campaign.graph, lock));
    pick(ours, 'hero@a/1');
    pick(theirs, 'hero@a/2');
    for (const record of theirs.steps.values()) joinInto(ours.steps, record);
    pick(ours, 'hero@b/1');
    campaign.file.text = writeLock(ours);
    await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        await say(live, { 'hero@a/2': 'picked' });
      },
    });
    expect(campaign.service.ledger).toHaveLength(6);
    expect(gatesOf(campaign.graph, campaign.file.read())[0]?.state).toEqual({ is: 'decided', picked: ['hero@a/2'] });
  });

  test('of a changed mind only what has left stays; the rest is made from the last word', async () => {
    const campaign = makeCampaign();
    let seen: LiveRun | undefined;
    // One at a time: the films wait for each other.
    const run = await campaign.run({
      concurrency: 1,
      async people(live) {
        seen = live;
        await campaign.clock.sleep(whileMs);
        await say(live, { 'hero@a/1': 'picked', 'hero@b/1': 'picked' });
        await campaign.clock.sleep(1000);
        await say(live, { 'hero@a/2': 'picked', 'hero@b/2': 'picked' });
      },
    });
    expect(seen?.needsPeople).toBe(true);
    expect(campaign.service.ledger).toHaveLength(6);
    const { steps } = campaign.file.read();
    const fingerprintOf = (address: string) => steps.get(address)?.purchases[0]?.fingerprint;
    expect(steps.get('film@a')?.purchases[0]?.request).toMatchObject({ image: { $ref: fingerprintOf('hero@a/1') } });
    expect(steps.get('film@b')?.purchases[0]?.request).toMatchObject({ image: { $ref: fingerprintOf('hero@b/2') } });
    expect(told(run)).toEqual([
      'film@a: its input is no longer picked; the current output stays, and the next run creates this step again for 5 credits',
    ]);
    expect(campaign.plan().rows.filter(({ action }) => action !== 'keep')).toMatchObject([
      { address: 'film@a', action: 'redo', credits: 5 },
    ]);
  });

  test('what would be made from a step that is to be redone is for the next run', async () => {
    const campaign = makeCampaign(
      `${manifest}  trailer: { kind: video, foreach: [a], with: { prompt: "it turns back", video: "{{tasks.film.url}}" } }\n`,
    );
    const run = await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        await say(live, { 'hero@a/1': 'picked', 'hero@b/1': 'picked' });
        await campaign.clock.sleep(1000);
        await say(live, { 'hero@a/2': 'picked' });
      },
    });
    expect(prompts(campaign).sort()).toEqual(['a lamp a', 'a lamp a', 'a lamp b', 'a lamp b', 'it turns', 'it turns']);
    expect(blockedIn(run)).toEqual({ 'trailer@a': 'gate' });
    await campaign.run();
    expect(prompts(campaign).slice(6)).toEqual(['it turns', 'it turns back']);
  });

  test('what waits in line is let go of when its pick is taken back', async () => {
    const campaign = makeCampaign();
    const run = await campaign.run({
      concurrency: 1,
      async people(live) {
        await campaign.clock.sleep(whileMs);
        await say(live, { 'hero@a/1': 'picked', 'hero@b/1': 'picked' });
        await campaign.clock.sleep(1000);
        await say(live, { 'hero@b/1': 'undecided' });
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        live.stopWaiting();
      },
    });
    expect(blockedIn(run)).toEqual({ 'film@b': 'gate' });
    expect(campaign.service.ledger).toHaveLength(5);
  });

  describe('a verdict that takes back what the plan was made by', () => {
    const account = 'acc_a26a6b25c78b1c8d';
    const decided = `version: 1
name: live
prices: { image: 2, video: 5 }
tasks:
  hero: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: "a lamp" } }
`;
    const finals = `  slow: { kind: image, foreach: [a, b], with: { prompt: "slow {{row}}" } }
  film: { kind: video, needs: [slow], with: { prompt: "it turns", image: "{{tasks.hero.url}}" } }
  end: { kind: image, needs: [film], with: { prompt: "end" } }
  share: { kind: post, with: { accountIds: [${account}], caption: Hello, media: ["{{tasks.hero.url}}"] } }
`;

    /** Drafts are bought, and one is picked: films and posts are in the plan. */
    async function makeDecided(): Promise<TestCampaign> {
      const campaign = makeCampaign(decided);
      await campaign.run(whoSay(campaign, { 'hero/1': 'picked' }));
      campaign.graph = graphOf(`${decided}${finals}`);
      return campaign;
    }

    test('nothing is bought or posted from what was rejected before it left', async () => {
      const campaign = await makeDecided();
      const run = await campaign.run({
        concurrency: 1,
        async people(live) {
          await say(live, { 'hero/1': 'rejected' });
          await campaign.clock.sleep(whileMs);
          live.stopWaiting();
        },
      });
      expect(run.plan.totals.posts).toBe(1);
      expect(prompts(campaign)).toEqual(['a lamp', 'a lamp', 'slow a', 'slow b']);
      expect(blockedIn(run)).toEqual({ film: 'gate', end: 'gate', share: 'gate' });
      expect(run.carriedOut.totals.posts).toBeUndefined();
      expect(told(run)).toEqual([
        'film: is skipped (and 2 more steps): its input is no longer picked; run plan to see what changes',
      ]);
    });

    test('taken back in turn it changes nothing: each is bought, and posted, once', async () => {
      const campaign = await makeDecided();
      const run = await campaign.run({
        concurrency: 1,
        async people(live) {
          for (const is of ['rejected', 'undecided', 'picked', 'rejected', 'picked'] as const) {
            await say(live, { 'hero/1': is });
            await campaign.clock.sleep(10);
          }
        },
      });
      expect(prompts(campaign)).toEqual(['a lamp', 'a lamp', 'slow a', 'slow b', 'it turns', 'end', 'undefined']);
      expect(Object.values(run.outcomes).every((outcome) => outcome === 'done')).toBe(true);
      expect(blockedIn(run)).toEqual({});
    });

    test('a post that only waits for its turn is let go of, and taken back it goes out once', async () => {
      const posts = [account, 'acc_b26a6b25c78b1c8d'].map(
        (to, index) =>
          `  share${index}: { kind: post, with: { accountIds: [${to}], caption: Hello, media: ["{{tasks.hero.url}}"] } }\n`,
      );
      const campaign = await makeDecided();
      campaign.graph = graphOf(`${decided}${posts.join('')}`);
      campaign.service.creditsOf = () => 0;
      const begun: string[] = [];
      const run = await campaign.run({
        concurrency: 1,
        onEvent: (fact) => fact.event === 'step-started' && begun.push(fact.address),
        async people(live) {
          while (begun.length === 0) await campaign.clock.sleep(10);
          for (const is of ['rejected', 'picked'] as const) {
            await say(live, { 'hero/1': is });
            await campaign.clock.sleep(10);
          }
          expect(begun).toEqual(['share0']);
        },
      });
      expect(run.outcomes).toEqual({ share0: 'done', share1: 'done' });
      expect(campaign.service.ledger.filter(({ kind }) => kind === 'post')).toHaveLength(2);
    });

    test('another pick is for the next plan, which shows what is made from it', async () => {
      const campaign = await makeDecided();
      const run = await campaign.run({
        concurrency: 1,
        async people(live) {
          await say(live, { 'hero/2': 'picked' });
        },
      });
      expect(prompts(campaign)).toEqual(['a lamp', 'a lamp', 'slow a', 'slow b']);
      expect(blockedIn(run)).toEqual({ film: 'gate', end: 'gate', share: 'gate' });
      expect(campaign.plan().rows.filter(({ action }) => action !== 'keep')).toMatchObject([
        { address: 'film', action: 'create' },
        { address: 'end', action: 'create' },
        { address: 'share', action: 'create' },
      ]);
    });
  });

  test('what is decided while somebody stops the waiting is on record, and the next run buys it', async () => {
    const campaign = makeCampaign();
    await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        const said = say(live, { 'hero@a/1': 'picked' });
        expect(live.stopWaiting()).toBe(true);
        expect(await said).toMatchObject([{ is: 'recorded' }]);
      },
    });
    expect(campaign.service.ledger).toHaveLength(4);
    await campaign.run();
    expect(prompts(campaign).filter((prompt) => prompt === 'it turns')).toHaveLength(1);
  });

  test('new takes of a redo are what is decided about', async () => {
    const campaign = makeCampaign();
    await campaign.run(whoSay(campaign, { 'hero@a/1': 'picked', 'hero@b/1': 'picked' }));
    const run = await campaign.run({
      redo: ['hero@a/1', 'hero@a/2'],
      async people(live) {
        const old = jobAt(live.state().lock, 'hero@a/2') ?? '';
        await campaign.clock.sleep(whileMs);
        expect(live.state()).toMatchObject({ is: 'waiting', gates: 1 });
        expect(await live.judge([{ address: 'hero@a/2', is: 'picked', job: old }])).toMatchObject([{ is: 'refused' }]);
        await say(live, { 'hero@a/2': 'picked' });
      },
    });
    expect(run.outcomes['film@a']).toBe('done');
    expect(campaign.service.ledger).toHaveLength(9);
    expect(campaign.plan().rows.every(({ action }) => action === 'keep')).toBe(true);
  });

  test('a step beside an open send of its earlier input is carried out, and not told to be left', async () => {
    const text = 'version: 1\nname: live\ntasks:\n  pic: { kind: image, with: { prompt: "x" } }\n';
    const campaign = makeCampaign(text);
    const lost = { answer: { is: 'ambiguous', message: 'reset' }, booked: true } as const;
    campaign.service.trouble = (create) => (create === 1 ? lost : undefined);
    await campaign.run({ onUnknown: 'hold', onEvent: (fact, abort) => fact.event === 'create-repeated' && abort() });
    campaign.graph = graphOf(text.replace('"x"', '"y"'));
    const run = await campaign.run({ people: async () => {} });
    expect(run.plan.rows.map(({ address, action, send }) => [address, action, send !== undefined])).toEqual([
      ['pic', 'create', false],
      ['pic', 'create', true],
    ]);
    expect(run.outcomes.pic).toBe('done');
    expect(run.events.filter(({ event }) => event === 'step-left')).toEqual([]);
    expect(run.carriedOut.rows).toEqual(run.plan.rows);
  });

  test('posts behind a gate wait for separate consent', async () => {
    const campaign = makeCampaign(`version: 1
name: live
prices: { image: 2 }
tasks:
  hero: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: "a lamp" } }
  share: { kind: post, with: { caption: "look", accounts: [one], media: ["{{tasks.hero.url}}"] } }
`);
    const run = await campaign.run(whoSay(campaign, { 'hero/1': 'picked' }));
    expect(blockedIn(run)).toEqual({ share: 'consent' });
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('a disk that takes no verdict ends the spending, and nobody is told that it did', async () => {
    const campaign = makeCampaign();
    await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        campaign.file.failAfter = campaign.file.lines;
        await expect(say(live, { 'hero@a/1': 'picked' })).rejects.toThrow('no space left');
      },
    });
    expect(campaign.service.ledger).toHaveLength(4);
    expect(gatesOf(campaign.graph, campaign.file.read()).map(({ state }) => state?.is)).toEqual(['open', 'open']);
  });
});
