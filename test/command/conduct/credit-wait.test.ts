import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';

const hourMs = 3_600_000;

/** A campaign of six images on an account that pays for three; it is filled up so long after the first refusal. */
function poorCampaign(filledUpAfterMs: number): TestCampaign {
  const campaign = new TestCampaign(images(6));
  campaign.service.balance = 10;
  let refusedAt: number | undefined;
  campaign.service.trouble = () => {
    if (campaign.service.balance < 3) refusedAt ??= campaign.clock.now();
    if (refusedAt !== undefined && campaign.clock.now() - refusedAt >= filledUpAfterMs) campaign.service.balance = 100;
    return undefined;
  };
  return campaign;
}

function eventsOf<Name extends RunFact['event']>(events: RunFact[], name: Name): Extract<RunFact, { event: Name }>[] {
  return events.filter((event): event is Extract<RunFact, { event: Name }> => event.event === name);
}

describe('apply --wait-for-balance', () => {
  test('continues when there are credits again, and pays nothing twice', async () => {
    const campaign = poorCampaign(20 * 60_000);
    const { outcomes, events, gate } = await campaign.run({ concurrency: 2, creditWaitMs: 2 * hourMs });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    expect(gate.stopped).toBeUndefined();
    expect(campaign.service.ledger).toHaveLength(6);
    expect(new Set(campaign.service.ledger.map(({ body }) => body)).size).toBe(6);
    const [resumed] = eventsOf(events, 'spending-resumed');
    expect(resumed?.waitedMs).toBeGreaterThanOrEqual(20 * 60_000);
    expect(resumed?.waitedMs).toBeLessThan(26 * 60_000);
  });

  const buyAndClone = async (repeats: boolean) => {
    const campaign = poorCampaign(20 * 60_000);
    campaign.service.repeatsRefusals = repeats;
    const { outcomes } = await campaign.run({ concurrency: 1, creditWaitMs: 2 * hourMs });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    const kept = [...campaign.file.read().steps.values()].flatMap((step) => step.purchases);
    expect(kept.map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'done'));
    const clone = campaign.clone();
    for (let run = 1; run <= 30; run += 1) await clone.run();
    expect(campaign.service.ledger).toHaveLength(6);
    expect(clone.file.read().steps.size).toBe(6);
  };

  test('each try uses the keys from the first, so that a clone finds the purchases', () => buyAndClone(false));

  test('a repeated refusal is skipped, and a clone finds the purchases', () => buyAndClone(true));

  test('tries one create at a time, at intervals from 30 s to 5 min, and stops when the time has passed', async () => {
    const campaign = poorCampaign(Number.POSITIVE_INFINITY);
    const times: number[] = [];
    const { outcomes, events, gate } = await campaign.run({
      concurrency: 4,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }) => {
        if (event === 'create-intended') times.push(campaign.clock.now());
      },
    });
    expect(gate.stopped).toBe('balance');
    const pauses = eventsOf(events, 'credits-awaited');
    const begin = Date.parse(pauses[0]?.until ?? '') - 2 * hourMs;
    // A try is a walk through the keys that were refused so far.
    const tries = times.filter((time, index) => time > begin && time - (times[index - 1] ?? 0) > 1000);
    const gaps = tries.map((time, index) => time - (tries[index - 1] ?? begin));
    expect(Math.min(...gaps.slice(0, -1))).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5 * 60_000 + 5000);
    expect(tries.length).toBeLessThan(35);
    expect(tries.at(-1)).toBeGreaterThanOrEqual(begin + 2 * hourMs);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(3);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done', 'refused', 'left']));
  });

  test('collects running jobs meanwhile', async () => {
    const campaign = poorCampaign(hourMs);
    const order: string[] = [];
    await campaign.run({
      concurrency: 4,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }) => {
        if (event === 'output-saved' || event === 'spending-resumed') order.push(event);
      },
    });
    expect(order.slice(0, 4)).toEqual(['output-saved', 'output-saved', 'output-saved', 'spending-resumed']);
  });

  test('ends at once when the run is interrupted', async () => {
    const campaign = poorCampaign(Number.POSITIVE_INFINITY);
    let pausedAt = 0;
    let aborted = 0;
    const { outcomes } = await campaign.run({
      concurrency: 2,
      creditWaitMs: 2 * hourMs,
      onEvent: ({ event }, abort) => {
        if (event !== 'credits-awaited') return;
        pausedAt += 1;
        if (pausedAt < 3) return;
        aborted = campaign.clock.now();
        abort();
      },
    });
    expect(campaign.clock.now() - aborted).toBeLessThan(1000);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).not.toHaveLength(0);
    campaign.service.balance = 100;
    campaign.service.trouble = () => undefined;
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(6);
  });
});

describe('I15 402 without waiting', () => {
  test('I15 no create leaves after the answer, not even one that was waiting for its turn', async () => {
    const campaign = new TestCampaign(images(11));
    campaign.service.balance = 13;
    // One answer makes everybody wait; meanwhile the account turns out to be empty.
    campaign.service.trouble = (create) =>
      create === 6 || create === 7
        ? { answer: { is: 'throttled', message: 'HTTP 429', afterMs: 60_000 } }
        : create === 5
          ? { answer: { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402' } }
          : undefined;
    const { outcomes } = await campaign.run({ concurrency: 4 });
    // Four that are paid, one, one and two; then four that leave together.
    expect(campaign.service.creates).toHaveLength(8);
    expect(outcomes['pic@p1']).toBe('done');
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left')).toHaveLength(5);
    campaign.service.balance = 100;
    campaign.service.trouble = () => undefined;
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(11);
  });
});
