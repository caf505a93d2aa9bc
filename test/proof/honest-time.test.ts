import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../src/contract/event.ts';
import { rangeText } from '../../src/report/numbers.ts';
import { createRunTimes } from '../../src/report/run/remaining-time.ts';
import { createRunView, foldEvent } from '../../src/report/run/run-view.ts';
import { TestCampaign } from '../rig/campaign.ts';
import { logNormal, seeded } from '../rig/random.ts';
import { runStarted } from '../rooms/report/samples.ts';

/** Drafts, finals made of them, clips made of those, and voices beside them. */
function manifestOf(products: number, voices: number): string {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => `p${index + 1}`).join(', ');
  return `version: 1
name: timed
tasks:
  draft: { kind: image, foreach: [${rows(products)}], key: "{{row}}", with: { prompt: "a {{row}}", resolution: 1k } }
  final: { kind: image, foreach: [${rows(products)}], key: "{{row}}", with: { prompt: "b {{row}}", resolution: 1k, referenceImages: ["{{tasks.draft.url}}"] } }
  voice: { kind: voiceover, foreach: [${rows(voices)}], key: "{{row}}", with: { text: "hello {{row}}", voiceId: v } }
`;
}

interface Reading {
  /** Share of the run that was over by then. */
  at: number;
  low: number;
  high: number;
  endsIn: number;
}

/** One run of the engine in virtual time, and what was shown of its end. */
async function timedRun(seed: number): Promise<Reading[]> {
  const random = seeded(seed);
  const between = (low: number, high: number) => low + random() * (high - low);
  const campaign = new TestCampaign(manifestOf(Math.floor(between(8, 40)), Math.floor(between(5, 60))));
  const kinds = { image: between(8000, 40_000), voiceover: between(5000, 90_000) };
  const sigma = between(0.2, 0.7);
  const draws = {
    image: logNormal(kinds.image, sigma, random),
    voiceover: logNormal(kinds.voiceover, sigma, random),
  };
  // The service of the day is not quite that of the days before.
  const today = Math.exp(between(-0.1, 0.1));
  const failShare = between(0, 0.08);
  const { service, clock } = campaign;
  service.balance = 100_000;
  service.jobMsOf = ({ kind }) => draws[kind === 'image' ? 'image' : 'voiceover']() * today;
  service.endOf = () => (random() < failShare ? { is: 'failed', error: 'moderated' } : undefined);
  const known = Math.floor(between(5, 100));
  const durations = {
    image: Array.from({ length: known }, draws.image),
    voiceover: Array.from({ length: known }, draws.voiceover),
  };
  const concurrency = Math.floor(between(3, 24));
  const plan = campaign.plan({ concurrency });
  const view = createRunView();
  const times = createRunTimes({ view, plan: () => plan, durations, now: () => clock.now() });
  const startedAt = clock.now();
  const shown: { at: number; low: number; high: number }[] = [];
  const on = (fact: RunFact) => {
    const event = { at: new Date(clock.now()).toISOString(), ...fact };
    foldEvent(view, event);
  };
  on(runStarted([]));
  const look = () => {
    const remaining = times();
    if (typeof remaining !== 'object') return;
    const [, low, high = low, unit = ''] = /^(\d+)(?:–(\d+))? (s|min|h)$/.exec(rangeText(remaining)) ?? [];
    const seconds = { s: 1, min: 60, h: 3600 }[unit] ?? Number.NaN;
    shown.push({ at: clock.now(), low: Number(low) * seconds, high: Number(high) * seconds });
  };
  let isOver = false;
  const watch = async () => {
    for (; !isOver; await clock.sleep(5000)) look();
  };
  void watch();
  await campaign.run({ concurrency, onEvent: on });
  isOver = true;
  const endedAt = clock.now();
  return shown.map(({ at, low, high }) => ({
    at: (at - startedAt) / (endedAt - startedAt),
    low,
    high,
    endsIn: (endedAt - at) / 1000,
  }));
}

describe('the time that a run shows', () => {
  test('holds its end: over 200 runs, whatever is left of them', async () => {
    const moments = [0, 0.25, 0.5, 0.75, 0.9];
    const within = moments.map(() => 0);
    const near = moments.map(() => 0);
    let relative = 0;
    const runs = 200;
    for (let seed = 1; seed <= runs; seed += 1) {
      const readings = await timedRun(seed);
      for (const [index, moment] of moments.entries()) {
        const reading = readings.findLast(({ at }) => at <= moment) ?? readings[0];
        if (reading === undefined) continue;
        const { low, high, endsIn } = reading;
        const middle = (low + high) / 2;
        const half = (high - low) / 2;
        if (Math.abs(endsIn - middle) <= half) within[index] = (within[index] ?? 0) + 1;
        if (Math.abs(endsIn - middle) <= 2 * half) near[index] = (near[index] ?? 0) + 1;
        if (index === 2) relative += half / middle / runs;
      }
    }
    for (const count of within) expect(count / runs).toBeGreaterThanOrEqual(0.6);
    for (const count of near) expect(count / runs).toBeGreaterThanOrEqual(0.87);
    expect(near.reduce((sum, count) => sum + count, 0) / (moments.length * runs)).toBeGreaterThanOrEqual(0.9);
    // A range that is always true because it is wide says nothing.
    expect(relative).toBeLessThan(0.45);
  }, 300_000);
});
