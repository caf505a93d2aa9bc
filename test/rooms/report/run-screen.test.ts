import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { FrameWriter } from '../../../src/report/render/frame-writer.ts';
import type { RunReporter } from '../../../src/report/run/run-lines.ts';
import { createScreen, screenLines } from '../../../src/report/run/run-screen.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { forAll } from '../../rig/runs.ts';
import { VirtualTerminal } from '../../rig/virtual-terminal.ts';
import { at, boughtStep, eventfulRun, noColor, runStarted } from './samples.ts';

const hide = '\u001b[?25l';
const show = '\u001b[?25h';
const sequence = new RegExp(`${'\u001b'}\\[[0-9;?]*[A-Za-z]`, 'g');

/** A screen on a terminal in memory. */
function rig(size: { columns: number; rows: number } = { columns: 80, rows: 24 }, page?: string) {
  let nowMs = Date.UTC(2026, 0, 1);
  const terminal = new VirtualTerminal(size.columns, size.rows);
  const view = createRunView();
  const options = { stream: terminal, style: noColor, now: () => nowMs, view, page: () => page };
  const screen = createScreen(options);
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

/** Thirty tasks of forty steps. The last of them are in progress, the first two are done. */
function largeRun() {
  const view = createRunView();
  const ids = Array.from({ length: 30 }, (_, index) => `a-task-with-a-long-name-${index}`);
  const stepsOf = (id: string, length: number) =>
    Array.from({ length: 40 }, (_, step) => boughtStep(`${id}@${step}`).slice(0, length)).flat();
  const [one = '', two = ''] = ids;
  const facts = [
    runStarted(ids.map((id) => ({ id, kind: 'image', steps: 40 }))),
    ...[one, two].flatMap((id) => stepsOf(id, 7)),
    ...ids.slice(27).flatMap((id) => stepsOf(id, 3)),
  ];
  for (const fact of facts) foldEvent(view, at(0, fact));
  return view;
}

const moment = {
  ...{ now: Date.UTC(2026, 0, 1) + 200_000, startedAt: Date.UTC(2026, 0, 1), page: undefined, isOver: false },
  times: () => ({ lowMs: 310_000, highMs: 400_000 }),
};

describe('the lines of a screen', () => {
  it('are those of the tasks in progress where not all fit, and the totals', () => {
    const lines = screenLines(largeRun(), moment, { columns: 80, rows: 8, style: noColor });
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "a-task-with-a-long-name-2   ················  0 of 40          40 queued
      a-task-with-a-long-name-3   ················  0 of 40          40 queued
      a-task-with-a-long-name-27  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  0 of 40  200 cr  40 running
      a-task-with-a-long-name-28  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  0 of 40  200 cr  40 running
      a-task-with-a-long-name-29  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  0 of 40  200 cr  40 running
      … and 25 more tasks
      80 of 1200 done, 120 running, 1000 queued
      credits 24 spent (0 now) · 36 of 60 left · 3:20 · about 5–7 min left"
    `);
  });

  const size = fc.record({ columns: fc.integer({ min: 40, max: 160 }), rows: fc.integer({ min: 0, max: 60 }) });
  forAll([size, fc.boolean()], 120)('are never more than the rows, nor wider than the columns', (given, isOver) => {
    const view = largeRun();
    foldEvent(view, at(0, { event: 'picks-awaited', gates: 3, steps: 3 }));
    const lines = screenLines(view, { ...moment, isOver }, { ...given, style: noColor });
    expect(lines.length).toBeLessThanOrEqual(given.rows);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(given.columns - 1);
  });
});

describe('createScreen', () => {
  it('leaves a row per task and the totals, below what failed and what was noticed', async () => {
    const { reporter, wait, terminal } = rig();
    for (const event of eventfulRun()) reporter.on(event);
    wait(41_000);
    await reporter.end();
    const lines = await terminal.all();
    const first = lines.findIndex((line) => line.startsWith('logo '));
    expect(lines.slice(first).join('\n')).toMatchInlineSnapshot(`
      "logo   ████████████████  1 of 1
      hero   ███·············  1 of 5  10 cr  3 failed · 1 unresolved
      theme  ················  0 of 4  12 cr  1 refused · 1 blocked · 1 to collect ·…
      2 of 10 done, 3 failed, 1 refused, 1 unresolved, 1 blocked, 1 to collect, 1 not
        started
      credits 41 spent (17 now) · 5 reserved · 14 of 60 left · 0:41"
    `);
    const above = lines.slice(0, first);
    expect(above).toContain('hero@en  failed  moderated \\x1b[2J');
    expect(above).toContain('hero@fr  unresolved  no answer');
    expect(above).toContain("hero@l'été  failed  out of memory; another job is bought");
    expect(above).toContain('notice  hero@de: a file in the way was renamed');
    expect(above).toContain('waiting for 2 gates');
  });

  it('hides the cursor while it runs and restores it, also when it ends in the middle', async () => {
    const { reporter, on, written, terminal } = rig();
    on(twoTasks, ...boughtStep('hero@a').slice(0, 3));
    await reporter.end();
    expect(written().startsWith(hide)).toBe(true);
    expect(written().endsWith(show)).toBe(true);
    expect((await terminal.visible())[0]).toMatch(/^hero {2}▒+·* {2}0 of 2 {2}5 cr {2}1 running · 1 not started/);
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

  it('prints a notice once, and the address of the page whole', async () => {
    const page = `http://127.0.0.1:41877/${'5c0e'.repeat(8)}/`;
    const { reporter, on, written } = rig({ columns: 40, rows: 24 }, page);
    const notice: RunFact = { event: 'noticed', message: 'slow' };
    on(twoTasks, notice, notice, { event: 'picks-awaited', gates: 2, steps: 3 });
    await reporter.end();
    expect(written().split('slow')).toHaveLength(2);
    expect(written()).toContain(page);
  });
});

describe('a frame on a terminal', () => {
  /** A frame whose lines fit the terminal and differ from those of another number. */
  const frameAt = (number: number, { columns, rows }: { columns: number; rows: number }) =>
    Array.from({ length: Math.min(8, rows - 1) }, (_, line) =>
      `${line} ${number} ${'='.repeat(columns)}`.slice(0, columns - 1),
    );

  test('leaves nothing behind when the terminal becomes narrower', async () => {
    const terminal = new VirtualTerminal(140, 50);
    const writer = new FrameWriter(terminal);
    for (const columns of [140, 120, 90, 66, 50, 35]) {
      await terminal.resize(columns, 50);
      writer.draw(frameAt(columns, terminal));
      expect(await terminal.all()).toEqual(frameAt(columns, terminal));
    }
  });

  test('keeps what is printed above it, in order and once, at every size', async () => {
    const terminal = new VirtualTerminal(100, 12);
    const writer = new FrameWriter(terminal);
    const printed: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const news = round % 3 === 0 ? [`told ${round}: ${'x'.repeat(round)}`] : [];
      printed.push(...news);
      if (round % 7 === 6) await terminal.resize(60 + ((round * 13) % 60), 8 + ((round * 5) % 20));
      writer.draw(frameAt(round, terminal), news);
      expect((await terminal.visible()).slice(-frameAt(round, terminal).length)).toEqual(frameAt(round, terminal));
    }
    const all = (await terminal.all()).join('').replaceAll(' ', '');
    const places = printed.map((line) => all.indexOf(line.replaceAll(' ', '')));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(all.split('told').length - 1).toBe(printed.length);
  });

  test('keeps a line that is wider on the terminal than computed on one row, also when it is drawn again', async () => {
    const terminal = new VirtualTerminal(10, 8);
    const writer = new FrameWriter(terminal);
    for (const turn of ['1', '2', '3'])
      writer.draw(['head', `${turn} 0123456789abc`, turn], turn === '2' ? ['told'] : []);
    writer.end();
    terminal.write('0123456789abc');
    const after = [expect.stringMatching(/^3 0123456/), '3', '0123456789', 'abc'];
    expect(await terminal.all()).toEqual(['told', 'head', ...after]);
  });
});
