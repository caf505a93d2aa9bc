import { describe, expect, it } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { createScreen } from '../../../src/report/run/run-screen.ts';
import type { RunReporter, RunTimes } from '../../../src/report/run/run-time.ts';
import { createRunView } from '../../../src/report/run/run-view.ts';
import { VirtualTerminal } from '../../rig/virtual-terminal.ts';
import { at, boughtStep, eventfulRun, noColor, runStarted } from './samples.ts';

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
