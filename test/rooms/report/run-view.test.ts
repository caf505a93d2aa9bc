import { describe, expect, it, test } from 'vitest';
import type { RunEvent, RunFact } from '../../../src/contract/event.ts';
import { moneyText } from '../../../src/report/numbers.ts';
import { createRunView, foldEvent, type RunView, type TaskView } from '../../../src/report/run/run-view.ts';
import { progressText } from '../../../src/report/run/run-words.ts';
import { at, boughtStep, eventfulRun, runStarted } from './samples.ts';

function fold(events: RunEvent[]): RunView {
  const view = createRunView();
  for (const event of events) foldEvent(view, event);
  return view;
}

function foldFacts(facts: RunFact[]): RunView {
  return fold(facts.map((fact, index) => at(index, fact)));
}

function wordsOf(view: RunView, isOver = view.end !== undefined): { [task: string]: string } {
  const only = (task: TaskView) => ({ ...view, steps: task.steps, tasks: new Map([[task.id, task]]) });
  return Object.fromEntries([...view.tasks].map(([id, task]) => [id, progressText(only(task), { isOver })]));
}

const oneTask = runStarted([{ id: 'hero', kind: 'image', steps: 2 }]);

describe('foldEvent', () => {
  it('counts each step once, wherever it stands at the end', () => {
    const view = fold(eventfulRun());
    expect(wordsOf(view)).toEqual({
      logo: '1 of 1 done',
      hero: '1 of 5 done, 3 failed, 1 unresolved',
      theme: '0 of 4 done, 1 refused, 1 blocked, 1 to collect, 1 not started',
    });
    expect(progressText(view, { isOver: true })).toBe(
      '2 of 10 done, 3 failed, 1 refused, 1 unresolved, 1 blocked, 1 to collect, 1 not started',
    );
    expect(view.money).toEqual({ spentNow: 17, spentEver: 41, held: 5, budget: 60, balance: 938 });
    expect(view.end).toMatchObject({ exit: 130, elapsedMs: 41_500 });
    expect(view.stepsByAddress.has('old')).toBe(false);
  });

  it('knows since when a step does what it does, and what was charged for all its jobs and for its task', () => {
    const [started, intended, created] = boughtStep('hero@de');
    const step = { address: 'hero@de', jobId: 'j' };
    const facts = [oneTask, started, intended, created].flatMap((fact) => fact ?? []);
    const view = foldFacts([...facts, { event: 'job-progressed', ...step, status: 'QUEUED' }]);
    expect(view.stepsByAddress.get('hero@de')).toMatchObject({
      createdAt: Date.UTC(2026, 0, 1, 0, 0, 3),
      credits: 5,
    });
    foldEvent(view, at(9, { event: 'job-retried', ...step, error: 'no', left: 1 }));
    expect(view.stepsByAddress.get('hero@de')).toMatchObject({
      stage: 'working',
      begunAt: Date.UTC(2026, 0, 1, 0, 0, 9),
    });
    foldEvent(view, at(10, { event: 'job-created', ...step, credits: 4, balance: null }));
    foldEvent(view, at(12, { event: 'job-progressed', ...step, status: 'PROCESSING' }));
    expect(view.stepsByAddress.get('hero@de')).toMatchObject({
      createdAt: Date.UTC(2026, 0, 1, 0, 0, 10),
      credits: 9,
    });
    expect(view.tasks.get('hero')?.spent).toBe(9);
  });

  it('tells what runs from what is finished and waits to be saved, and from what is still to come', () => {
    const life = (address: string, length: number) => boughtStep(address).slice(0, length);
    const view = foldFacts([
      runStarted([
        { id: 'hero', kind: 'image', steps: 10 },
        { id: 'logo', kind: 'upload', steps: 2 },
      ]),
      ...life('hero@a', 1),
      ...['hero@b', 'hero@c'].flatMap((address) => life(address, 3)),
      ...['hero@d', 'hero@e', 'hero@f'].flatMap((address) => life(address, 5)),
      { event: 'step-started', address: 'logo', task: 'logo', kind: 'upload', action: 'create' },
    ]);
    expect(wordsOf(view)).toEqual({
      hero: '0 of 10 done, 2 running, 3 saving, 1 starting, 4 queued',
      logo: '0 of 2 done, 1 starting, 1 queued',
    });
    expect(wordsOf(view, true)).toEqual({
      hero: '0 of 10 done, 2 running, 3 saving, 1 starting, 4 not started',
      logo: '0 of 2 done, 1 starting, 1 not started',
    });
  });

  it('has numbers that add up to the steps, at any moment', () => {
    const view = createRunView();
    for (const event of eventfulRun()) {
      foldEvent(view, event);
      expect(structuredClone(view)).toEqual(view);
      for (const [id, words] of Object.entries(wordsOf(view))) {
        const [done = '', of = '', ...others] = words.match(/\d+/g) ?? [];
        expect(
          others.reduce((sum, count) => sum + Number(count), Number(done)),
          `${id}: ${words}`,
        ).toBe(Number(of));
      }
    }
  });
});

test('a step begins after all when its gate is decided during the run', () => {
  const left: RunFact = {
    ...{ event: 'step-left', address: 'hero@a', task: 'hero', kind: 'image', action: 'blocked', reason: 'waits' },
    blockedBy: 'gate',
  };
  const view = foldFacts([oneTask, left, { event: 'picks-awaited', gates: 1, steps: 1 }]);
  expect([view.awaitedGates, Object.fromEntries(view.tasks.get('hero')?.stages ?? [])]).toEqual([
    1,
    { 'awaits-pick': 1 },
  ]);
  const after = foldFacts([oneTask, left, { event: 'picks-awaited', gates: 1, steps: 1 }, ...boughtStep('hero@a')]);
  expect(after.awaitedGates).toBeUndefined();
  expect(Object.fromEntries(after.tasks.get('hero')?.stages ?? [])).toMatchObject({ 'awaits-pick': 0, done: 1 });
  expect(after.settled.has('hero@a')).toBe(true);
});

test.each([
  [{ spentNow: 23, spentEver: 23, held: 6, budget: 120, balance: null }, '23 spent · 6 reserved · 91 of 120 left'],
  [{ spentNow: 5, spentEver: 23, held: 0, budget: null, balance: 9 }, '23 spent (5 now) · balance 9'],
])('money row %#', (money, text) => {
  expect(moneyText(money)).toBe(text);
});
