import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/contract/clock.ts';
import type { RunFact } from '../../../src/contract/event.ts';
import { AccountGate } from '../../../src/engine/account-gate.ts';
import { chargeOf } from '../../../src/engine/local-ledger.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/listed-model.ts';
import type { Price } from '../../../src/plan/plan.ts';
import { type PriceHints, worstFactor } from '../../../src/plan/prices/prices.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';

const image = 'image/alpha-2/resolution=2k';

const listed = (credits: number, maxCredits?: number) => ({
  listings: [readCatalogListing({ image: [{ key: 'alpha-2', credits, ...(maxCredits && { maxCredits }) }] }, kinds)],
});

const chargedElsewhere = (credits: number): PriceHints => ({
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
      { code: 'budget', text: 'the budget is not enough: this step costs ≈ 11' },
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
      message: `was charged 3, but the approved plan allows at most 2 (${image})`,
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
        message: `was charged 3, but 1 was expected: the remaining steps would cost 15, and 5 is left of the approved total (${image})`,
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
      message: `was charged 80, but 4 was expected: the remaining steps would cost 640, and nothing is left of the approved total (${image})`,
    });
  });

  test('what nobody could estimate is asked about anew once its first charge tells, where somebody can be asked', async () => {
    const campaign = new TestCampaign(images(10));
    const run = await campaign.run({ asksAgain: true, concurrency: 8 });
    expect(charged(run)).toBe(3);
    expect(run.events).toContainEqual({
      event: 'noticed',
      address: 'pic@p1',
      message: `was charged 3, which could not be estimated: the remaining purchases would cost 27, which needs a new approval (${image})`,
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

const unknown: Price = { class: 'thumbnail', credits: null, source: 'unknown' };
const named: Price = { ...unknown, held: 5 };
const known: Price = { class: 'thumbnail', credits: 3, source: 'prices' };
const free: Price = { class: 'post', credits: 0, source: 'documented' };

describe('what a create was charged', () => {
  const charge = (price: Price, told: { credits?: number; isListed?: true; fall?: number }) =>
    chargeOf({ credits: null, ...told }, { price, reserved: price.credits, fall: told.fall });

  test.each<[string, number | null, Price, { credits?: number; isListed?: true; fall?: number }]>([
    ['the answer says it, whatever the balance did', 2, known, { credits: 2, fall: 7 }],
    ['an answer of nothing is one', 0, known, { credits: 0 }],
    ['beside a balance that stands still, too', 0, unknown, { credits: 0, fall: 0 }],
    ['but not beside one that fell', 40, unknown, { credits: 0, fall: 40 }],
    ['unless it is documented to be free', 0, free, { credits: 0, fall: 40 }],
    ['the fall of the balance tells it', 4, unknown, { fall: 4 }],
    ['nothing tells', null, unknown, {}],
    ['a balance that stands still tells nothing', null, unknown, { fall: 0 }],
    ['nor one that rose', null, unknown, { fall: -20 }],
    ['a fall is believed upwards', 5, known, { fall: 5 }],
    ['and not downwards', 3, known, { fall: 1 }],
    ['nor of what is documented to be free', null, free, { fall: 4 }],
    ['a list tells where no price is known', 2, unknown, { credits: 2, isListed: true }],
    ['a list is believed upwards', 9, known, { credits: 9, isListed: true }],
    ['a list never lowers what is counted', 3, known, { credits: 1, isListed: true }],
  ])('%s', (_name, expected, price, told) => {
    expect(charge(price, told)).toBe(expected);
  });

  test('a fall of the balance beyond all measure tells nothing', () => {
    for (const [price, most] of [
      [known, 3 * worstFactor],
      [named, 5 * worstFactor],
    ] as const) {
      expect([charge(price, { fall: most }), charge(price, { fall: most + 1 })]).toEqual([most, null]);
    }
    expect(charge(unknown, { fall: 1000 })).toBe(1000);
  });
});

describe('the balance before and after a create', () => {
  type Act = ['left' | 'asked' | 'lost', string] | ['answered' | 'told', string, number | null];
  const falls = (acts: readonly Act[]) => {
    const watch = new AccountGate({ clock: systemClock, places: 1 }).balance;
    return acts.flatMap(([act, name, balance = null]) => {
      if (act === 'left' || act === 'asked') watch.left(name, { isAsked: act === 'asked' });
      if (act === 'lost') watch.returned(name, { isAnswered: false });
      if (act !== 'answered' && act !== 'told') return [];
      const fall = watch.answered(name, balance);
      if (act === 'answered') watch.returned(name, { isAnswered: true });
      return [fall];
    });
  };
  const one = (name: string, balance: number | null): Act[] => [
    ['left', name],
    ['answered', name, balance],
  ];

  test.each<[string, Act[], (number | undefined)[]]>([
    ['tells the second one that goes alone', [...one('a', 97), ...one('b', 94)], [undefined, 3]],
    [
      'tells the next one, too, that leaves before the last one is recorded',
      [...one('a', 97), ['left', 'b'], ['told', 'b', 94], ['left', 'c'], ['answered', 'c', 90]],
      [undefined, 3, 4],
    ],
    [
      'tells nothing after an answer without a balance',
      [...one('a', 97), ...one('b', null), ...one('c', 90)],
      [undefined, undefined, undefined],
    ],
    [
      'tells nothing of two side by side, and the lowest counts from then on',
      [...one('a', 97), ['left', 'b'], ['left', 'c'], ['answered', 'c', 91], ['answered', 'b', 94], ...one('d', 88)],
      [undefined, undefined, undefined, 3],
    ],
    [
      'tells nothing of one that another one left beside, even when that one was refused',
      [...one('a', 97), ['left', 'b'], ['left', 'c'], ['lost', 'c'], ['answered', 'b', 94]],
      [undefined, undefined],
    ],
    [
      'tells nothing after one whose answer was lost: it may have been charged meanwhile',
      [...one('a', 97), ['left', 'b'], ['lost', 'b'], ...one('c', 91), ...one('d', 88)],
      [undefined, undefined, 3],
    ],
    [
      'tells nothing of one that asks for an earlier answer',
      [...one('a', 97), ['asked', 'b'], ['answered', 'b', 94], ...one('c', 91)],
      [undefined, undefined, 3],
    ],
  ])('%s', (_name, acts, expected) => {
    expect(falls(acts)).toEqual(expected);
  });
});
