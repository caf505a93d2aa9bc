import { describe, expect, it } from 'vitest';
import { createLines } from '../../src/report/run-lines.ts';
import { createEventLines, type RunReporter } from '../../src/report/run-reporter.ts';
import { createRunView, foldEvent } from '../../src/report/run-view.ts';
import { summaryText } from '../../src/report/summary-text.ts';
import type { RunEvent, RunFact } from '../../src/run/event.ts';
import { at, boughtStep, eventfulRun, noColor, runStarted } from './samples.ts';

/** A reporter whose clock and ticker are moved by hand. */
function rig(withTicker: boolean) {
  let text = '';
  let nowMs = 0;
  const ticks = new Set<() => void>();
  const every = (_ms: number, call: () => void) => {
    ticks.add(call);
    return () => ticks.delete(call);
  };
  const view = createRunView();
  const lines = createLines(
    (piece) => {
      text += piece;
    },
    { style: noColor, now: () => nowMs, view, ...(withTicker && { every }) },
  );
  const reporter: RunReporter = {
    on(event) {
      foldEvent(view, event);
      lines.on(event);
    },
    end: () => lines.end(),
  };
  return {
    reporter,
    ticks,
    on: (...facts: RunFact[]) => {
      for (const fact of facts) reporter.on(at(0, fact));
    },
    wait: (ms: number) => {
      nowMs += ms;
      for (const tick of ticks) tick();
    },
    lines: () => text.split('\n').slice(0, -1),
  };
}

const oneTask = runStarted([{ id: 'hero', kind: 'image', steps: 2 }]);
const progressed: RunFact = { event: 'job-progressed', address: 'hero@de', jobId: 'j', status: 'PROCESSING' };

describe('createLines', () => {
  it('says each change on a line of its own', async () => {
    const { reporter, lines } = rig(false);
    for (const event of eventfulRun()) reporter.on(event);
    await reporter.end();
    expect(lines().join('\n')).toMatchInlineSnapshot(`
      "aurora-launch: 10 steps, 15 credits to spend, 8 at a time
      hero@de  created  job job-hero@de, 5 credits (36 of 60 left)
      hero@de  saved  images/hero/hero@de.png (1.2 MB)
      hero@en  attached  its job is running
      hero@en  failed  moderated \\x1b[2J
      hero@fr  repeated  the connection was reset; the same key again in 1.5 s
      hero@fr  searching  the connection was reset; the service's list is searched for its job
      hero@fr  found  job j-7 is in the service's list
      hero@fr  unresolved  no answer
      hero@l'été  failed  out of memory; it is bought again
      logo  uploaded  asset-1 (2.0 kB)
      hero@l'été  failed  the link has expired
      theme@a  created  job j-5, 12 credits (31 of 60 left)
      paused  waiting for credits until 02:00; next try in 4 s (HTTP 402: no credits)
      goes on  there are credits again, after 31 s
      stopped  nothing more is bought, the run was interrupted; what is on the wire is awaited, a second time leaves at once
      theme@a  still running
      theme@c  refused  bad lyrics
      hero@it  lost  unknown job
      theme@d  blocked  needs hero@it, which is lost
      notice  the service calls the job RENDERING
      notice  hero@de: a file in the way was renamed
      aurora-launch: 2 of 10 done, 4 failed, 1 unresolved, 1 blocked, 1 to collect, 1 not started; 17 credits spent in 0:41"
    `);
  });

  it('gives a sign of life after 30 s without a change, and not before', () => {
    const { on, wait, lines } = rig(true);
    on(oneTask, ...boughtStep('hero@de').slice(0, 3));
    const before = lines().length;
    wait(29_999);
    expect(lines()).toHaveLength(before);
    wait(1);
    expect(lines().slice(before)).toEqual(['0 of 2 done, 1 running · credits 24 spent (0 now) · of 60 · 0:30']);
    wait(10_000);
    expect(lines()).toHaveLength(before + 1);
    wait(20_000);
    expect(lines()).toHaveLength(before + 2);
  });

  it('is kept alive by events where there is no ticker', () => {
    const { on, wait, lines } = rig(false);
    on(oneTask, ...boughtStep('hero@de').slice(0, 3));
    const before = lines().length;
    wait(31_000);
    expect(lines()).toHaveLength(before);
    on(progressed, progressed);
    expect(lines()).toHaveLength(before + 1);
  });

  it('leaves no ticker behind', async () => {
    const { reporter, on, ticks } = rig(true);
    on(oneTask);
    expect(ticks.size).toBe(1);
    await reporter.end();
    expect(ticks.size).toBe(0);
  });

  it('ends with one line also when it is broken off, and says nothing of a run that never began', async () => {
    const broken = rig(false);
    broken.on(oneTask, ...boughtStep('hero@de'));
    broken.wait(61_000);
    await broken.reporter.end();
    expect(broken.lines().at(-1)).toBe('aurora-launch: 1 of 2 done; 0 credits spent in 1:01');
    const never = rig(false);
    await never.reporter.end();
    expect(never.lines()).toEqual([]);
  });

  it('lets no text from outside begin a line or reach the terminal', async () => {
    const bad = '\u001b[2J\n::error::x\u009b';
    const { reporter, on, lines } = rig(false);
    on(
      { event: 'run-started', version: 1, campaign: bad, steps: 1, concurrency: 1, tasks: [], totals: oneTaskTotals },
      { event: 'step-started', address: bad, task: bad, kind: bad, action: 'attach' },
      { event: 'create-repeated', address: bad, because: bad, afterMs: 12_000 },
      { event: 'job-created', address: bad, jobId: bad, credits: null, balance: null },
      {
        event: 'output-saved',
        address: bad,
        how: 'moved',
        output: { path: bad, sha256: 'a'.repeat(64), bytes: 1, type: 'image/png' },
      },
      { event: 'spending-stopped', because: 'auth', detail: bad },
      { event: 'noticed', address: bad, message: bad },
      { event: 'step-finished', address: bad, task: bad, outcome: 'failed', credits: 0, error: bad },
    );
    await reporter.end();
    expect(lines()).toHaveLength(9);
    for (const line of lines()) {
      expect(line).not.toContain('\u001b');
      expect(line).not.toContain('\u009b');
      expect(line).not.toMatch(/^\s*::/);
    }
  });
});

const oneTaskTotals = { toSpend: 0, unknownPrices: 0, alreadyPaid: 0, held: 0, discarded: 0 };

describe('createEventLines', () => {
  it('writes each event as a line that parses to the same event', () => {
    const events: RunEvent[] = eventfulRun();
    let text = '';
    const reporter = createEventLines((piece) => {
      text += piece;
    });
    for (const event of events) reporter.on(event);
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => JSON.parse(line))).toEqual(events);
    expect(text).not.toContain('\u001b');
  });
});

describe('summaryText', () => {
  const summary = (events: RunEvent[], file = 'campaign.yaml') => {
    const view = createRunView();
    for (const event of events) foldEvent(view, event);
    return summaryText(view, { style: noColor, file });
  };

  it('tells what happened to everything and how to go on', () => {
    expect(summary(eventfulRun())).toMatchInlineSnapshot(`
      "aurora-launch: 2 of 10 steps done (1 of them from before)

      failed
        hero@en  moderated \\x1b[2J
          to buy it again: mediabatch apply campaign.yaml --redo hero@en
        hero@l'été  the link has expired
          it is paid; to fetch it again: mediabatch apply campaign.yaml
        hero@it  unknown job
          to buy it again: mediabatch apply campaign.yaml --redo hero@it

      refused, nothing was charged; run again when the cause is mended
        theme@c  bad lyrics

      unresolved, it is not known whether these were charged
        hero@fr  no answer
          to decide: mediabatch resolve campaign.yaml hero@fr --job ID | --not-spent | --spend-again

      blocked
        theme@d  needs hero@it, which is lost

      1 job keeps running and is paid; run again to collect
      1 step was not started
      waited 31 s for credits
      nothing more is bought, the run was interrupted

      noticed
        the service calls the job RENDERING
        hero@de: a file in the way was renamed

      saved    images/hero/hero@de.png
      credits  17 spent now · 41 over all runs · 5 held for creates whose outcome is not known · 14 of 60 left · balance 938
      "
    `);
  });

  it('is short when all went well', () => {
    const facts = [runStarted([{ id: 'hero', kind: 'image', steps: 2 }], { alreadyPaid: 0 })];
    const paid: RunFact = { event: 'credits-changed', spentNow: 10, spentEver: 10, held: 0, budget: 60, balance: null };
    const all = [...facts, ...boughtStep('hero@de'), ...boughtStep('hero@en'), paid];
    expect(summary(all.map((fact) => at(0, fact)))).toMatchInlineSnapshot(`
      "aurora-launch: all 2 steps done

      saved    2 files in images/hero/
      credits  10 spent now · 10 over all runs · 50 of 60 left
      "
    `);
  });

  it('names the one file there is, and the folder that all files share', () => {
    const one = summary([oneTask, ...boughtStep('hero@de')].map((fact) => at(0, fact)));
    expect(one).toContain('saved    images/hero/hero@de.png\n');
    const apart = summary([oneTask, ...boughtStep('hero@de'), ...boughtStep('logo')].map((fact) => at(0, fact)));
    expect(apart).toContain('saved    2 files in images/\n');
  });

  it('tells what goes on when a run was broken off in the middle', () => {
    const open = ['a', 'b', 'c'].flatMap((key) => boughtStep(`hero@${key}`).slice(0, 4));
    const saving = boughtStep('hero@d').slice(0, 5);
    const start = runStarted([{ id: 'hero', kind: 'image', steps: 6 }]);
    const text = summary([start, ...open, ...saving].map((fact) => at(0, fact)));
    expect(text).toContain('3 jobs keep running and are paid; run again to collect');
    expect(text).toContain('1 job is finished and paid, not saved yet; run again to fetch');
    expect(text).toContain('2 steps were not started');
  });

  it('lists twenty of many failures', () => {
    const facts = Array.from({ length: 50 }, (_, index): RunFact[] => [
      { event: 'step-started', address: `hero@${index}`, task: 'hero', kind: 'image', action: 'create' },
      { event: 'step-finished', address: `hero@${index}`, task: 'hero', outcome: 'failed', credits: 5, error: 'e' },
    ]);
    const start = runStarted([{ id: 'hero', kind: 'image', steps: 50 }]);
    const text = summary([start, ...facts.flat()].map((fact) => at(0, fact)));
    expect(text.match(/--redo/g)).toHaveLength(20);
    expect(text).toContain('… and 30 more steps');
  });

  it('writes hints that a shell takes as they are meant', () => {
    const facts: RunFact[] = [
      { event: 'step-started', address: 'hero@$(rm x)', task: 'hero', kind: 'image', action: 'create' },
      { event: 'step-finished', address: 'hero@$(rm x)', task: 'hero', outcome: 'failed', credits: 5 },
    ];
    const text = summary(
      [oneTask, ...facts].map((fact) => at(0, fact)),
      'my campaign.yaml',
    );
    expect(text).toContain("mediabatch apply 'my campaign.yaml' --redo 'hero@$(rm x)'");
  });
});
