import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import type { ChargedPrices } from '../../../src/plan/prices/price-sources.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';

const image = 'image/alpha-2/resolution=2k';

const listed = (credits: number, maxCredits?: number) => ({
  listings: [readCatalogListing({ image: [{ key: 'alpha-2', credits, ...(maxCredits && { maxCredits }) }] }, kinds)],
});

const chargedElsewhere = (credits: number): { elsewhere: ChargedPrices } => ({
  elsewhere: new Map([[image, { low: credits, likely: credits, high: credits }]]),
});

function stops(events: readonly RunFact[]) {
  return events.flatMap((event) => (event.event === 'spending-stopped' ? [[event.because, event.detail]] : []));
}

describe('an estimate reserves nothing', () => {
  test.each([
    ['a list price', listed(1)],
    ['a ceiling', listed(1, 2)],
    ['the charge in another lock', chargedElsewhere(1)],
  ])('%s that is wrong: the first step goes alone, and the budget holds', async (_name, hints) => {
    const campaign = new TestCampaign(images(10, 'budget: { credits: 10 }'));
    const { events, ledger } = await campaign.run({ hints, concurrency: 8 });
    const reserved = events.flatMap((event) => (event.event === 'create-intended' ? [event.reserved] : []));
    expect(reserved[0]).toBeNull();
    expect(new Set(reserved.slice(1)).size).toBeLessThanOrEqual(1);
    expect(ledger.account.spentEver).toBeLessThanOrEqual(10);
    expect(campaign.service.ledger.length * 3).toBe(ledger.account.spentEver);
  });

  test.each([
    ['a list price', listed(11)],
    ['the charge in another lock', chargedElsewhere(11)],
  ])('%s above what is left holds the first step back, in plan and run alike', async (_name, hints) => {
    const campaign = new TestCampaign(images(10, 'budget: { credits: 10 }'));
    const [row] = campaign.plan({ hints }).rows;
    expect([row?.action, row?.reason]).toEqual([
      'blocked',
      { code: 'budget', text: 'the budget does not reach: it costs ≈ 11' },
    ]);
    await campaign.run({ hints, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(0);
    // Nothing vouches for it: a budget that would cover one lets the first step find the price out.
    campaign.graph = { ...campaign.graph, budget: 11 };
    await campaign.run({ hints, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(3);
  });

  test('and is compared with the charge when the run has ended', async () => {
    const campaign = new TestCampaign(images(4));
    const { ledger } = await campaign.run({ hints: listed(4) });
    expect(ledger.estimates.result).toEqual({ jobs: 4, likely: 16, charged: 12, unpriced: 0 });
    const unknown = await new TestCampaign(images(2)).run();
    expect(unknown.ledger.estimates.result).toEqual({ jobs: 0, likely: 0, charged: 0, unpriced: 2 });
  });
});

describe('a charge above what the plan says', () => {
  const written = 'prices: { image: 2 }';

  test('ends the creates of its price, and the next plan knows it', async () => {
    const campaign = new TestCampaign(images(10, written));
    const { events, outcomes, gate } = await campaign.run({ concurrency: 1 });
    expect(campaign.service.ledger).toHaveLength(1);
    expect(events).toContainEqual({
      event: 'noticed',
      address: 'pic@p1',
      message: `was charged 3, and the plan says 2 at most (${image})`,
    });
    expect(stops(events)).toEqual([['price', image]]);
    expect(gate.hasHeldPrices).toBe(true);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).toHaveLength(9);
    expect(campaign.plan().totals).toMatchObject({ knownPrices: 27, unknownPrices: 0 });
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(10);
  });

  test('stops those that wait for their turn, too', async () => {
    const campaign = new TestCampaign(images(30, written));
    await campaign.run({ concurrency: 30, creates: 2 });
    expect(campaign.service.ledger.length).toBeLessThanOrEqual(4);
  });

  test('leaves other prices alone', async () => {
    const campaign = new TestCampaign(`version: 1
name: two
prices: { image: 2 }
tasks:
  pic: { kind: image, foreach: [a, b, c], with: { prompt: "a {{row}}" } }
  song: { kind: music, foreach: [a, b, c], with: { model: song-7.5, prompt: "{{row}}" } }
`);
    campaign.service.creditsOf = (body) => (body.includes('song-7.5') ? 4 : 3);
    const { outcomes } = await campaign.run({ concurrency: 1 });
    const done = Object.keys(outcomes).filter((address) => outcomes[address] === 'done');
    expect(done.filter((address) => address.startsWith('song'))).toHaveLength(3);
    expect(done.filter((address) => address.startsWith('pic'))).toHaveLength(1);
  });

  test('of a list ends them as well, where the list named a ceiling', async () => {
    const campaign = new TestCampaign(images(5));
    await campaign.run({ hints: listed(1, 2), concurrency: 1 });
    expect(campaign.service.ledger).toHaveLength(1);
  });

  test('has nothing to stop at the last step', async () => {
    const { events, gate } = await new TestCampaign(images(1, written)).run();
    expect(stops(events)).toEqual([]);
    expect(gate.hasHeldPrices).toBe(false);
  });
});

describe('what was agreed to is a cap', () => {
  const charged = ({ ledger }: { ledger: { account: { spentNow: number } } }) => ledger.account.spentNow;

  test('I39 a price that was only expected: what it comes to by the first charge ends it, whatever else the caps allow', async () => {
    for (const concurrency of [1, 8]) {
      const campaign = new TestCampaign(images(6));
      const run = await campaign.run({ hints: listed(1), concurrency, maxCredits: 1000 });
      expect(run.plan.totals.ceiling).toBe(8);
      expect(charged(run)).toBe(3);
      expect(stops(run.events)).toEqual([['price', image]]);
      expect(run.events).toContainEqual({
        event: 'noticed',
        address: 'pic@p1',
        message: `was charged 3, where 1 was expected: the rest would come to 15, and 5 is left of what was agreed to (${image})`,
      });
      // The next plan knows the charge, and is agreed to as it is.
      const next = await campaign.run({ concurrency });
      expect([next.plan.totals.knownPrices, charged(next)]).toEqual([15, 15]);
    }
  });

  test('I39 a charge within the margin ends nothing', async () => {
    const campaign = new TestCampaign(images(4));
    campaign.service.creditsOf = () => 5;
    expect(charged(await campaign.run({ hints: listed(4), concurrency: 8 }))).toBe(20);
  });

  test('I39 a price that rises with each charge ends within the ceiling', async () => {
    const campaign = new TestCampaign(images(20));
    let price = 1;
    campaign.service.creditsOf = () => price++;
    const run = await campaign.run({ hints: listed(3), concurrency: 1 });
    expect(run.plan.totals.ceiling).toBe(75);
    expect(charged(run)).toBeLessThanOrEqual(75);
  });

  test('I39 a price that rises after the first, where nobody could estimate it', async () => {
    const campaign = new TestCampaign(images(10));
    let count = 0;
    campaign.service.creditsOf = () => (count++ === 0 ? 4 : 40);
    const run = await campaign.run({ concurrency: 1 });
    expect(charged(run)).toBeLessThanOrEqual(50);
    expect(stops(run.events)).toEqual([['price', image]]);
  });

  test('I39 a charge above all that was agreed to leaves nothing, and not less than that', async () => {
    const campaign = new TestCampaign(images(10));
    let count = 0;
    campaign.service.creditsOf = () => (count++ === 0 ? 4 : 80);
    const run = await campaign.run({ concurrency: 1 });
    expect(run.events).toContainEqual({
      event: 'noticed',
      address: 'pic@p2',
      message: `was charged 80, where 4 was expected: the rest would come to 640, and nothing is left of what was agreed to (${image})`,
    });
  });

  test('what nobody could estimate is asked about anew once its first charge tells, where somebody can be asked', async () => {
    const campaign = new TestCampaign(images(10));
    const run = await campaign.run({ asksAgain: true, concurrency: 8 });
    expect(charged(run)).toBe(3);
    expect(run.events).toContainEqual({
      event: 'noticed',
      address: 'pic@p1',
      message: `was charged 3, which nobody could estimate: the others would come to 27, which takes a new yes (${image})`,
    });
    const single = new TestCampaign(images(1));
    expect(stops((await single.run({ asksAgain: true })).events)).toEqual([]);
  });

  test('I39 a dearer price of one kind leaves no more for another than was agreed to', async () => {
    const campaign = new TestCampaign(`version: 1
name: two
tasks:
  song: { kind: music, foreach: [a], with: { model: song-7.5, prompt: "{{row}}" } }
  pic: { kind: image, foreach: [a, b, c], needs: [song], with: { prompt: "a {{row}}" } }
`);
    campaign.service.creditsOf = (body) => (body.includes('song-7.5') ? 40 : 3);
    const run = await campaign.run({ hints: listed(3), concurrency: 1 });
    expect(charged(run)).toBe(40);
  });

  test('I39 purchases after failed jobs are agreed to beside it, each for one price', async () => {
    const text = images(2).replace('kind: image,', 'kind: image, retry: { attempts: 3 },');
    const campaign = new TestCampaign(text);
    campaign.service.endOf = () => ({ is: 'failed', error: 'render failed' });
    const run = await campaign.run({ hints: listed(3), concurrency: 1 });
    expect(campaign.service.ledger).toHaveLength(6);
    expect(charged(run)).toBe(18);
  });
});
