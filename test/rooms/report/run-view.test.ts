import { describe, expect, it, test } from 'vitest';
import type { RunEvent, RunFact, StepOutcome } from '../../../src/contract/event.ts';
import type { Plan, PlanRow, StepOrder, WorkRow } from '../../../src/plan/plan.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { createRunTimes, type RunTimesOptions } from '../../../src/report/run/remaining-time.ts';
import { createScreen } from '../../../src/report/run/run-screen.ts';
import type { RunReporter, RunTimes } from '../../../src/report/run/run-time.ts';
import { createRunView, type RunView } from '../../../src/report/run/run-view.ts';
import { moneyRow, progressText, remainingText, taskState, taskWords } from '../../../src/report/run/run-words.ts';
import { VirtualTerminal } from '../../rig/virtual-terminal.ts';
import { at, boughtStep, eventfulRun, noColor, row, runStarted } from './samples.ts';

function fold(events: RunEvent[]): RunView {
  const view = createRunView();
  for (const event of events) foldEvent(view, event);
  return view;
}

function foldFacts(facts: RunFact[]): RunView {
  return fold(facts.map((fact, index) => at(index, fact)));
}

function wordsOf(view: RunView, isOver = view.end !== undefined): { [task: string]: string } {
  return Object.fromEntries([...view.tasks].map(([id, task]) => [id, taskWords(task, { isOver }).join(' · ')]));
}

const oneTask = runStarted([{ id: 'hero', kind: 'image', steps: 2 }]);

describe('foldEvent', () => {
  it('counts each step once, wherever it stands at the end', () => {
    const view = fold(eventfulRun());
    expect(wordsOf(view)).toEqual({
      logo: '1 of 1',
      hero: '1 of 5 · 3 failed · 1 unresolved',
      theme: '0 of 4 · 1 refused · 1 blocked · 1 to collect · 1 not started',
    });
    expect(progressText(view, { isOver: true })).toBe(
      '2 of 10 done, 3 failed, 1 refused, 1 unresolved, 1 blocked, 1 to collect, 1 not started',
    );
    expect(view.money).toEqual({ spentNow: 17, spentEver: 41, held: 5, budget: 60, balance: 938 });
    expect(view.end).toMatchObject({ exit: 130, elapsedMs: 41_500 });
    expect(view.stepsByAddress.has('old')).toBe(false);
  });

  it('knows the money of the plan before anything is spent', () => {
    const view = foldFacts([runStarted([], { alreadyPaid: 24, held: 3, budget: 60, balance: 7 })]);
    expect(view.money).toEqual({ spentNow: 0, spentEver: 24, held: 3, budget: 60, balance: 7 });
  });

  it('knows since when a step does what it does, and what was charged for all its jobs and for its task', () => {
    const [started, intended, created] = boughtStep('hero@de');
    const step = { address: 'hero@de', jobId: 'j' };
    const facts = [oneTask, started, intended, created].flatMap((fact) => fact ?? []);
    const view = foldFacts([...facts, { event: 'job-progressed', ...step, status: 'QUEUED' }]);
    expect(view.stepsByAddress.get('hero@de')).toMatchObject({
      createdAt: Date.UTC(2026, 0, 1, 0, 0, 3),
      credits: 5,
      isQueued: true,
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
      isQueued: false,
    });
    expect(view.tasks.get('hero')?.spent).toBe(9);
  });

  it('changes nothing by what comes late', () => {
    const steps = boughtStep('hero@de');
    const late: RunFact = { event: 'job-created', address: 'hero@de', jobId: 'j', credits: 1, balance: null };
    const started: RunFact = { event: 'step-started', address: 'hero@de', task: 'hero', kind: 'image', action: 'redo' };
    const before = { ...foldFacts([oneTask, ...steps]), lastEnded: undefined };
    expect(foldFacts([oneTask, ...steps, late, started])).toEqual(before);
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
      hero: '0 of 10 · 2 running · 3 saving · 1 starting · 4 queued',
      logo: '0 of 2 · 1 starting · 1 queued',
    });
    expect(wordsOf(view, true)).toEqual({
      hero: '0 of 10 · 2 running · 3 saving · 1 starting · 4 not started',
      logo: '0 of 2 · 1 starting · 1 not started',
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

test.each<[RunFact[], string]>([
  [[], 'open'],
  [boughtStep('hero@a'), 'open'],
  [[...boughtStep('hero@a'), ...boughtStep('hero@b').slice(0, 3)], 'open'],
  [[...boughtStep('hero@a'), ...boughtStep('hero@b')], 'done'],
  [
    [
      ...boughtStep('hero@a'),
      { event: 'step-started', address: 'hero@b', task: 'hero', kind: 'image', action: 'create' },
      { event: 'step-finished', address: 'hero@b', task: 'hero', outcome: 'lost', credits: 0 },
    ],
    'failed',
  ],
  [
    [
      ...boughtStep('hero@a'),
      { event: 'step-left', address: 'hero@b', task: 'hero', kind: 'image', action: 'blocked', reason: 'r' },
    ],
    'unfinished',
  ],
])('taskState %#: %s', (facts, state) => {
  const task = foldFacts([oneTask, ...facts]).tasks.get('hero');
  expect(task && taskState(task)).toBe(state);
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
  expect(after.settled.addresses.has('hero@a')).toBe(true);
});

test.each([
  [
    { spentNow: 23, spentEver: 23, held: 6, budget: 120, balance: null },
    'credits 23 spent · 6 reserved · of 120 · 0:41',
  ],
  [{ spentNow: 5, spentEver: 23, held: 0, budget: null, balance: 9 }, 'credits 23 spent (5 now) · 0:41'],
])('money row %#', (money, text) => {
  expect(moneyRow(money, 41_000)).toBe(text);
});

const hide = '\u001b[?25l';
const show = '\u001b[?25h';
const sequence = new RegExp(`${'\u001b'}\\[[0-9;?]*[A-Za-z]`, 'g');

/** A screen on a terminal in memory. */
function rig(size: { columns: number; rows: number } = { columns: 80, rows: 24 }, times?: RunTimes) {
  let nowMs = Date.UTC(2026, 0, 1);
  const terminal = new VirtualTerminal(size.columns, size.rows);
  const view = createRunView();
  const screen = createScreen({ stream: terminal, style: noColor, now: () => nowMs, view, ...(times && { times }) });
  const reporter: RunReporter = {
    on(event) {
      foldEvent(view, event);
      screen.on(event);
    },
    end: () => screen.end(),
  };
  return {
    reporter,
    terminal,
    on: (...facts: RunFact[]) => {
      for (const fact of facts) reporter.on(at(0, fact));
    },
    wait: (ms: number) => {
      nowMs += ms;
    },
    written: () => terminal.writes.join(''),
  };
}

const twoTasks = runStarted([
  { id: 'hero', kind: 'image', steps: 2 },
  { id: 'logo', kind: 'image', steps: 1 },
]);

describe('createScreen', () => {
  it('keeps the rows of the few steps of a large campaign that is nearly up to date', async () => {
    const { reporter, on, terminal } = rig();
    on(
      runStarted([{ id: 'hero', kind: 'image', steps: 200 }]),
      ...Array.from({ length: 198 }, (_, index): RunFact => {
        const step = { address: `hero@${index}`, task: 'hero', kind: 'image' };
        return { event: 'step-left', ...step, action: 'keep', reason: 'up to date' };
      }),
      ...boughtStep('hero@x'),
      ...boughtStep('hero@y').slice(0, 3),
    );
    await reporter.end();
    const lines = await terminal.all();
    expect(
      lines.filter((line) => line.includes('hero@')).map((line) => line.slice(2).trimEnd()),
    ).toMatchInlineSnapshot(`
      [
        "hero@x   saved  images/hero/hero@x.png                                   5 cr",
        "hero@y   running 0:00                                                    5 cr",
      ]
    `);
  });

  it.each([
    [200, 1900, 'running 0:01 of about 0:01'],
    [200, 2100, 'running 0:02, longer than usual'],
    [30_000, 44_000, 'running 0:44 of about 0:30'],
    [30_000, 46_000, 'running 0:46, longer than usual'],
  ])('calls no job late for less than it shows: usually %i ms, after %i ms it says %s', async (usual, age, says) => {
    const { reporter, on, wait, terminal } = rig(undefined, { usual: () => usual });
    on(runStarted([{ id: 'hero', kind: 'image', steps: 1 }]), ...boughtStep('hero@x').slice(0, 3));
    wait(age);
    await reporter.end();
    expect((await terminal.all()).join('\n')).toContain(says);
  });

  it('leaves a row per step with its end, and has told above what failed and what was noticed', async () => {
    const { reporter, wait, terminal } = rig();
    for (const event of eventfulRun()) reporter.on(event);
    wait(41_000);
    await reporter.end();
    const lines = await terminal.all();
    const first = lines.findIndex((line) => line.startsWith('aurora-launch'));
    expect(lines.slice(first).join('\n')).toMatchInlineSnapshot(`
      "aurora-launch  2 of 10 · 3 failed · 1 refused · 1 unresolved · 1 blocked   0:41
      ✔ hero@de     saved  images/hero/hero@de.png                               5 cr
      ✖ hero@en     moderated \\x1b[2J
      ? hero@fr     unresolved: no answer
      ✖ hero@l'été  the link has expired
      ? theme@a     runs on, to be collected                                    12 cr
        theme@b     not started
      ✖ theme@c     bad lyrics
      ✖ hero@it     unknown job; charged                                         5 cr
        theme@d     needs hero@it, which is lost"
    `);
    const above = lines.slice(0, first);
    expect(above).toContain('hero@en  failed  moderated \\x1b[2J');
    expect(above).toContain('hero@fr  unresolved  no answer');
    expect(above).toContain("hero@l'été  failed  out of memory; it is bought again");
    expect(above).toContain('notice  hero@de: a file in the way was renamed');
    expect(above).toContain('waiting for 2 gates');
  });

  it('hides the cursor while it runs and gives it back, also when it ends in the middle', async () => {
    const { reporter, on, written, terminal } = rig();
    on(twoTasks, ...boughtStep('hero@a').slice(0, 3));
    await reporter.end();
    expect(written().startsWith(hide)).toBe(true);
    expect(written().endsWith(show)).toBe(true);
    expect((await terminal.visible())[1]).toMatch(/^hero {4} ▒+·* {2}0 of 2 · 1 running · 1 not started/);
  });

  it('prints no escapes that stand in data', async () => {
    const bad = 'x\u001b]0;title\u0007\u009b2J\u202e';
    const { reporter, on, written } = rig();
    on(
      runStarted([{ id: bad, kind: bad, steps: 1 }]),
      { event: 'step-started', address: bad, task: bad, kind: bad, action: 'create' },
      { event: 'step-finished', address: bad, task: bad, outcome: 'failed', credits: 0, error: bad },
      { event: 'noticed', message: bad },
      { event: 'spending-stopped', because: 'auth', detail: bad },
    );
    await reporter.end();
    const own = written().replace(sequence, '');
    expect(own).toContain('x\\x1b]0;title\\x07\\x9b2J\\u202e');
    expect([...own].filter((character) => character < ' ' && !'\r\n'.includes(character))).toEqual([]);
    expect(own).not.toContain('\u009b');
    expect(own).not.toContain('\u202e');
  });

  it('tells five failures of a kind, and counts the others', async () => {
    const { reporter, on, terminal } = rig();
    const ids = Array.from({ length: 40 }, (_, index) => `hero@${index}`);
    on(runStarted([{ id: 'hero', kind: 'image', steps: 40 }]));
    for (const address of ids) {
      on(
        { event: 'step-started', address, task: 'hero', kind: 'image', action: 'create' },
        { event: 'job-created', address, jobId: `1${address}1`, credits: 2, balance: null },
        {
          event: 'step-finished',
          address,
          task: 'hero',
          outcome: 'failed',
          credits: 2,
          error: `${address} is moderated, in job 1${address}1.`,
        },
      );
    }
    await reporter.end();
    const told = (await terminal.all()).filter((line) => line.includes('is moderated'));
    expect(told).toHaveLength(5);
    expect(told[0]).toBe('hero@0  failed  hero@0 is moderated, in job 1hero@01.; charged 2');
    expect(told[4]).toMatch(/^hero@4 /);
  });

  it('keeps the address of the page whole', async () => {
    const page = `http://127.0.0.1:41877/${'5c0e'.repeat(8)}/`;
    const terminal = new VirtualTerminal(40, 24);
    const view = createRunView();
    const screen = createScreen({ stream: terminal, style: noColor, now: () => 0, view, page: () => page });
    for (const fact of [twoTasks, { event: 'picks-awaited', gates: 2, steps: 3 }] satisfies RunFact[]) {
      foldEvent(view, at(0, fact));
      screen.on(at(0, fact));
    }
    await screen.end();
    expect(terminal.writes.join('')).toContain(page);
  });
});

describe('remaining time', () => {
  function job(address: string, { needs = [], ...more }: Partial<StepOrder> = {}): PlanRow {
    const [task = ''] = address.split('@');
    const order = { address, task, kind: 'image', action: 'create', needs, paidRequest: {}, ...more };
    return { ...(row(address, 'create') as WorkRow), order: order as unknown as StepOrder };
  }

  const jobs = (count: number) => Array.from({ length: count }, (_, index) => job(`hero@${index + 1}`));
  const tenSeconds = Array.from({ length: 20 }, () => 10_000);

  /** A run whose clock is moved by hand. */
  function rig(rows: PlanRow[], more: Partial<RunTimesOptions> & Partial<Pick<Plan, 'concurrency' | 'gates'>> = {}) {
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
        const remaining = times.remaining?.();
        return remaining === undefined ? undefined : remainingText(remaining);
      },
      seconds() {
        const remaining = times.remaining?.();
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

    test('takes what is under way by its age', () => {
      const run = rig(jobs(2));
      run.begin('hero@1');
      run.begin('hero@2');
      run.wait(7000);
      expect(run.seconds()).toBe(3);
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
      const first = run.times.remaining?.();
      run.wait(4999);
      run.begin('hero@1');
      expect(run.times.remaining?.()).toBe(first);
      run.wait(1);
      expect(run.times.remaining?.()).not.toBe(first);
    });

    test('is unknown until a job of each kind and model was timed, and learns from this run', () => {
      const run = rig(jobs(8), { concurrency: 1, durations: { 'image other': tenSeconds } });
      expect(run.text()).toBe('time unknown');
      run.begin('hero@1');
      run.wait(10_000);
      run.made('hero@1');
      run.end('hero@1');
      expect(run.seconds()).toBe(70);
      expect(run.times.usual?.('hero@4')).toBe(10_000);
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
      expect(run.times.remaining?.()).toBeUndefined();
      run.on({ event: 'spending-resumed', waitedMs: 1 });
      expect(run.times.remaining?.()).toBeDefined();
      run.on({ event: 'spending-stopped', because: 'signal', detail: '' });
      expect(run.times.remaining?.()).toBeUndefined();
    });

    test('comes to one answer for one state', () => {
      const durations = { image: [5000, 9000, 20_000, 14_000, 8000] };
      const first = rig(jobs(40), { durations }).times.remaining?.();
      expect(rig(jobs(40), { durations }).times.remaining?.()).toEqual(first);
      expect(first).toMatchObject({ lowMs: expect.any(Number) });
    });
  });

  test.each([
    [[4, 8], 'under 10 s left', '<10 s'],
    [[21, 33], 'about 20–35 s left', '20–35 s'],
    [[55, 85], 'about 55–85 s left', '55–85 s'],
    [[60, 89], 'about 60–90 s left', '60–90 s'],
    [[40, 100], 'under 2 min left', '<2 min'],
    [[95, 125], 'about 2 min left', '~2 min'],
    [[310, 400], 'about 5–7 min left', '5–7 min'],
    [[5900, 7700], 'about 1 h 30 – 2 h 10 left', '1 h 30 – 2 h 10'],
    [[3300, 6000], 'about 50 min – 1 h 40 left', '50 min – 1 h 40'],
    [[30_000, 40_000], 'about 8–12 h left', '8–12 h'],
  ])('%j s read as %s', ([low = 0, high = 0], long, short) => {
    const range = { lowMs: low * 1000, highMs: high * 1000 };
    expect(remainingText(range)).toBe(long);
    expect(remainingText(range, { short: true })).toBe(short);
  });
});
