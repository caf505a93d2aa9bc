import { describe, expect, it } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import type { RunReporter } from '../../../src/report/run/run-reporter.ts';
import { createScreen } from '../../../src/report/run/run-screen.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { hiddenTasks, taskRows } from '../../../src/report/run/screen-rows.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { at, boughtStep, eventfulRun, noColor, runStarted } from './samples.ts';

const hide = '\u001b[?25l';
const show = '\u001b[?25h';
const sequence = new RegExp(`${'\u001b'}\\[[0-9;?]*[A-Za-z]`, 'g');

/** A terminal that remembers what was written to it. */
function rig(size: { columns: number; rows: number } = { columns: 80, rows: 24 }) {
  let text = '';
  let nowMs = 0;
  const stream = {
    ...size,
    write(piece: string) {
      text += piece;
    },
  };
  const view = createRunView();
  const screen = createScreen({ stream, style: noColor, now: () => nowMs, view });
  const reporter: RunReporter = {
    on(event) {
      foldEvent(view, event);
      screen.on(event);
    },
    end: () => screen.end(),
  };
  return {
    reporter,
    stream,
    on: (...facts: RunFact[]) => {
      for (const fact of facts) reporter.on(at(0, fact));
    },
    wait: (ms: number) => {
      nowMs += ms;
    },
    written: () => text,
    /** What stands there after the last frame was erased: the rows that stay. */
    lastFrame: () => {
      const erased = text.lastIndexOf('\u001b[2K');
      return text.slice(Math.max(0, erased)).replace(sequence, '').split('\n').filter(Boolean);
    },
  };
}

const twoTasks = runStarted([
  { id: 'hero', kind: 'image', steps: 2 },
  { id: 'logo', kind: 'image', steps: 1 },
]);

describe('createScreen', () => {
  it('leaves a row per task and the money, each with its end', async () => {
    const { reporter, wait, lastFrame } = rig();
    for (const event of eventfulRun()) reporter.on(event);
    wait(41_000);
    await reporter.end();
    const rows = lastFrame().map((line) => line.slice(2));
    expect(rows).toEqual([
      'logo   1 of 1',
      'hero   1 of 5 · 3 failed · 1 unresolved',
      'theme  0 of 4 · 1 failed · 1 blocked · 1 to collect · 1 not started',
      'credits 41 spent (17 now) · 5 held · of 60 · 0:41',
    ]);
  });

  it('hides the cursor while it runs and gives it back, also when it ends in the middle', async () => {
    const { reporter, on, written, lastFrame } = rig();
    on(twoTasks, ...boughtStep('hero@a').slice(0, 3));
    await reporter.end();
    expect(written()).toContain(hide);
    expect(written().lastIndexOf(show)).toBeGreaterThan(written().lastIndexOf(hide));
    expect(lastFrame().map((line) => line.slice(2))).toContain('hero  0 of 2 · 1 running · 1 not started');
  });

  it('listens to no signals itself', async () => {
    const count = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name));
    const before = count();
    const { reporter, on } = rig();
    on(twoTasks);
    expect(count()).toEqual(before);
    await reporter.end();
  });

  it('writes nothing to stdout and takes nothing away from it', async () => {
    const { write } = process.stdout;
    const { reporter, on } = rig();
    on(twoTasks);
    expect(process.stdout.write).toBe(write);
    await reporter.end();
    expect(process.stdout.write).toBe(write);
  });

  it('writes nothing at all for a run that never began, and can be ended twice', async () => {
    const never = rig();
    await never.reporter.end();
    expect(never.written()).toBe('');
    const twice = rig();
    twice.on(twoTasks);
    await twice.reporter.end();
    const length = twice.written().length;
    await twice.reporter.end();
    expect(twice.written()).toHaveLength(length);
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
    expect([...own].filter((character) => character < ' ' && character !== '\n')).toEqual([]);
    expect(own).not.toContain('\u009b');
    expect(own).not.toContain('\u202e');
  });

  it('shows every task at the end, also when they do not fit the terminal', async () => {
    const { reporter, on, lastFrame } = rig({ columns: 60, rows: 10 });
    const ids = Array.from({ length: 30 }, (_, index) => `task${index}`);
    on(runStarted(ids.map((id) => ({ id, kind: 'image', steps: 1 }))), ...ids.flatMap((id) => boughtStep(id)));
    await reporter.end();
    expect(lastFrame().filter((line) => line.includes('1 of 1'))).toHaveLength(30);
  });
});

describe('rows', () => {
  const viewOf = (...facts: RunFact[]) => {
    const view = createRunView();
    for (const fact of facts) foldEvent(view, at(0, fact));
    return view;
  };

  it('are cut to the width of the terminal', () => {
    const view = viewOf(
      runStarted([
        { id: 'a-task-with-a-very-long-name-indeed-that-goes-on', kind: 'image', steps: 2 },
        { id: '漢字'.repeat(20), kind: 'image', steps: 2 },
      ]),
    );
    for (const columns of [20, 40, 80]) {
      const rows = [...taskRows(view, { style: noColor, columns, hidden: new Set(), isOver: false }).values()];
      for (const text of rows) expect(displayWidth(text)).toBeLessThanOrEqual(columns - 3);
    }
    const [first, second] = [
      ...taskRows(view, { style: noColor, columns: 80, hidden: new Set(), isOver: false }).values(),
    ];
    expect(first).toBe('a-task-with-a-…ed-that-goes-on  0 of 2 · 2 queued');
    expect(displayWidth(first ?? '')).toBe(displayWidth(second ?? ''));
  });

  it('make room for what is under way', () => {
    const ids = ['done1', 'waits', 'fails', 'runs', 'done2'];
    const view = viewOf(
      runStarted(ids.map((id) => ({ id, kind: 'image', steps: 1 }))),
      ...boughtStep('done1'),
      ...boughtStep('done2'),
      ...boughtStep('runs').slice(0, 4),
      { event: 'step-started', address: 'fails', task: 'fails', kind: 'image', action: 'create' },
      { event: 'step-finished', address: 'fails', task: 'fails', outcome: 'failed', credits: 0 },
    );
    expect([...hiddenTasks(view, 5)]).toEqual([]);
    expect([...hiddenTasks(view, 4)].sort()).toEqual(['done1', 'done2']);
    expect([...hiddenTasks(view, 3)].sort()).toEqual(['done1', 'done2', 'waits']);
    expect([...hiddenTasks(view, 2)].sort()).toEqual(['done1', 'done2', 'fails', 'waits']);
  });
});
