import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import type { ChargedPrices } from '../../../src/plan/charged-prices.ts';
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
    expect(ledger.budget.spentEver).toBeLessThanOrEqual(10);
    expect(campaign.service.ledger.length * 3).toBe(ledger.budget.spentEver);
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
    const { ledger } = await campaign.run({ hints: listed(2) });
    expect(ledger.estimates.result).toEqual({ jobs: 4, likely: 8, charged: 12, unpriced: 0 });
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
    expect(campaign.plan().totals).toMatchObject({ toSpend: 27, unknownPrices: 0 });
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
    const free = new TestCampaign(images(5));
    await free.run({ hints: listed(1), concurrency: 1 });
    expect(free.service.ledger).toHaveLength(5);
  });

  test('has nothing to stop at the last step', async () => {
    const { events, gate } = await new TestCampaign(images(1, written)).run();
    expect(stops(events)).toEqual([]);
    expect(gate.hasHeldPrices).toBe(false);
  });
});
