import { describe, expect, test } from 'vitest';
import type { RunFact, StepOutcome } from '../../../src/contract/event.ts';
import type { Plan, PlanRow, StepOrder, WorkRow } from '../../../src/plan/plan.ts';
import { createRunTimes, type Remaining } from '../../../src/report/run/remaining-time.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { totalsText } from '../../../src/report/run/run-words.ts';
import { at, row, runStarted } from './samples.ts';

/** Last part of the line of credits and times. */
function remainingText(remaining: Remaining): string | undefined {
  const [, money] = totalsText(createRunView(), { isOver: false, elapsedMs: 0, remaining });
  return money.split(' · ').at(-1);
}

function job(address: string, { needs = [], ...more }: Partial<StepOrder> = {}): PlanRow {
  const [task = ''] = address.split('@');
  const order = { address, task, kind: 'image', action: 'create', needs, paidRequest: {}, ...more };
  return { ...(row(address, 'create') as WorkRow), order: order as unknown as StepOrder };
}

const jobs = (count: number) => Array.from({ length: count }, (_, index) => job(`hero@${index + 1}`));
const tenSeconds = Array.from({ length: 20 }, () => 10_000);

/** A run whose clock is moved by hand. */
function rig(
  rows: PlanRow[],
  more: Partial<Parameters<typeof createRunTimes>[0]> & Partial<Pick<Plan, 'concurrency' | 'gates'>> = {},
) {
  let nowMs = 0;
  const { concurrency = 2, gates, ...options } = more;
  const plan = { rows, concurrency, ...(gates && { gates }) };
  const view = createRunView();
  const times = createRunTimes({
    view,
    plan: () => plan,
    durations: { image: tenSeconds },
    now: () => nowMs,
    ...options,
  });
  const on = (...facts: RunFact[]) => {
    for (const fact of facts) {
      const event = more.now === undefined ? { at: new Date(nowMs).toISOString(), ...fact } : at(0, fact);
      foldEvent(view, event);
    }
  };
  on(runStarted([{ id: 'hero', kind: 'image', steps: rows.length }]));
  const named = (address: string) => ({ address, task: 'hero' });
  return {
    on,
    times,
    wait(ms: number) {
      nowMs += ms;
    },
    begin(address: string) {
      on({ event: 'step-started', ...named(address), kind: 'image', action: 'create' });
      on({ event: 'job-created', address, jobId: 'j', credits: 2, balance: null });
    },
    made: (address: string) => on({ event: 'job-completed', address, jobId: 'j' }),
    end: (address: string, outcome: StepOutcome = 'done') =>
      on({ event: 'step-finished', ...named(address), outcome, credits: 2 }),
    text() {
      const remaining = times();
      return remaining === undefined ? undefined : remainingText(remaining);
    },
    seconds() {
      const remaining = times();
      return typeof remaining === 'object' ? Math.round((remaining.lowMs + remaining.highMs) / 2000) : remaining;
    },
  };
}

describe('the time left', () => {
  test('is that of a schedule: slots, and what waits for what', () => {
    expect(rig(jobs(4)).seconds()).toBe(21);
    expect(rig(jobs(4), { concurrency: 1 }).seconds()).toBe(40);
    const chain = [job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })];
    expect(rig(chain, { concurrency: 8 }).seconds()).toBe(30);
  });

  test('knows that a file is being saved, and what ended', () => {
    const run = rig(jobs(2), { concurrency: 1 });
    run.begin('hero@1');
    run.wait(10_000);
    run.made('hero@1');
    expect(run.seconds()).toBe(11);
    run.end('hero@1');
    run.wait(5000);
    expect(run.seconds()).toBe(10);
  });

  test('changes every 5 s at most', () => {
    const run = rig(jobs(4));
    const first = run.times();
    run.wait(4999);
    run.begin('hero@1');
    expect(run.times()).toBe(first);
    run.wait(1);
    expect(run.times()).not.toBe(first);
  });

  test('is unknown until a job of each kind and model was timed, and learns from this run', () => {
    const run = rig(jobs(8), { concurrency: 1, durations: { 'image other': tenSeconds } });
    expect(run.text()).toBe('time unknown');
    run.begin('hero@1');
    run.wait(10_000);
    run.made('hero@1');
    run.end('hero@1');
    expect(run.seconds()).toBe(70);
  });

  test('is longer than usual when everything under way is, and never nothing', () => {
    const run = rig(jobs(1));
    run.begin('hero@1');
    for (let second = 1; second <= 60; second += 1) {
      run.wait(1000);
      expect(run.text()).not.toMatch(/\b0 /);
    }
    expect(run.text()).toBe('longer than usual');
  });

  test('leaves out what no longer begins', () => {
    const run = rig(jobs(10), { concurrency: 1 });
    run.begin('hero@1');
    run.on({ event: 'spending-stopped', because: 'budget', detail: '' });
    expect(run.seconds()).toBe(10);
    const failing = rig([job('hero@1'), job('hero@2', { needs: ['hero@1'] }), job('hero@3')], { concurrency: 1 });
    failing.begin('hero@1');
    failing.end('hero@1', 'failed');
    failing.on({ event: 'step-started', address: 'hero@2', task: 'hero', kind: 'image', action: 'create' });
    failing.end('hero@2', 'blocked');
    expect(failing.seconds()).toBeLessThanOrEqual(10);
  });

  test('is not told while the run waits, and after it', () => {
    const run = rig(jobs(2));
    run.on({ event: 'credits-awaited', until: '', nextTryAt: '', detail: '' });
    expect(run.times()).toBeUndefined();
    run.on({ event: 'spending-resumed', waitedMs: 1 });
    expect(run.times()).toBeDefined();
    run.on({ event: 'spending-stopped', because: 'signal', detail: '' });
    expect(run.times()).toBeUndefined();
  });
});

test.each([
  [[0.2, 8], 'about 1–10 s left'],
  [[60, 89], 'about 60–90 s left'],
  [[40, 100], 'about 1–2 min left'],
  [[310, 400], 'about 5–7 min left'],
  [[5900, 7700], 'about 98–129 min left'],
  [[30_000, 40_000], 'about 8–12 h left'],
])('%j s read as %s', ([low = 0, high = 0], text) => {
  expect(remainingText({ lowMs: low * 1000, highMs: high * 1000 })).toBe(text);
});
