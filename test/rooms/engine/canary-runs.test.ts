import { describe, expect, test } from 'vitest';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { say } from '../../rig/people.ts';
import { completed } from '../../rig/scripted-service.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';

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

  test('goes first in a large plan, because so many wait for it', async () => {
    const campaign = new TestCampaign(
      `version: 1
name: test
prices: { image: 3 }
tasks:
  other: { kind: image, foreach: [p1, p2, p3, p4], with: { prompt: "other {{row}}" } }
  pic: { kind: image, foreach: [p1, p2], canary: 1, with: { prompt: "a {{row}}" } }
`,
    );
    await campaign.run({ concurrency: 1 });
    expect(sent(campaign)[0]).toBe('a p1');
  });

  test('finds out its price alone, under a cap, and the others follow at it', async () => {
    const campaign = new TestCampaign(withCanary('2').replace('prices: { image: 3 }', 'budget: { credits: 9 }'));
    const { outcomes } = await campaign.run();
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(3);
    expect(sent(campaign).slice(0, 2)).toEqual(['a p1', 'a p2']);
    expect(campaign.service.balance).toBe(991);
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

  test('what follows picks has a canary, too', async () => {
    const campaign = new TestCampaign(films('gate: approve, '));
    await campaign.run({
      async people(live) {
        await campaign.clock.sleep(whileMs);
        await say(live, { 'hero@a': 'picked', 'hero@b': 'picked', 'hero@c': 'picked' });
        await campaign.clock.sleep(1000);
        expect(sent(campaign).slice(3)).toEqual(['film a']);
      },
    });
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

test('a part that turns out not to be there shows nothing to parts of other outputs', async () => {
  const clip = (of: string, index: number): WrittenStep => ({
    address: `still@${of}-${index + 1}`,
    kind: 'image',
    request: { prompt: `still ${of} ${index}`, referenceImages: [{ $ref: of, field: `clips.${index}.url` }] },
    part: { of, index },
  });
  const stills = [clip('cuts', 0), clip('cuts', 1), clip('bits', 0)];
  const graph = graphOfSteps(
    [
      ...['cuts', 'bits'].map(
        (address): WrittenStep => ({
          address,
          kind: 'clipping',
          request: { videoUrl: `https://a.example/${address}.mp4` },
        }),
      ),
      ...stills,
    ],
    {
      canaries: [
        {
          name: 'canary of still',
          task: 'still',
          first: 1,
          asks: false,
          members: stills.map(({ address }) => address),
        },
      ],
    },
  );
  const campaign = new TestCampaign(graph);
  campaign.service.endOf = ({ body }) =>
    body.includes('cuts.mp4')
      ? completed()
      : body.includes('bits.mp4')
        ? completed('https://files.example/b0')
        : undefined;
  const first = await campaign.run();
  expect(first.outcomes).toMatchObject({
    'still@cuts-1': 'unneeded',
    'still@cuts-2': 'unneeded',
    'still@bits-1': 'left',
  });
  // The next plan knows it, and lets another one go first.
  expect(campaign.plan().rows.find(({ address }) => address === 'still@bits-1')).toMatchObject({ action: 'create' });
});
