import { describe, expect, it } from 'vitest';
import type { RunEvent, RunFact } from '../../../src/contract/event.ts';
import { type Call, call } from '../../../src/ground/advice.ts';
import type { RunTimes } from '../../../src/report/run/remaining-time.ts';
import { createEventLines, createLines, type Detail, type RunReporter } from '../../../src/report/run/run-lines.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { stoppingText } from '../../../src/report/run/run-words.ts';
import { summaryView } from '../../../src/report/run/summary-text.ts';
import { pasteFor } from './paste.ts';
import { at, boughtStep, eventfulRun, noColor, runStarted, textOf } from './samples.ts';

/** A reporter whose clock and ticker are moved by hand. */
function rig(withTicker: boolean, more: { detail?: Detail; times?: RunTimes } = {}) {
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
    { style: noColor, now: () => nowMs, view, ...more, ...(withTicker && { every }) },
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

describe('createLines', () => {
  it('says everything that happens, where that is wanted', async () => {
    const { reporter, lines } = rig(false, { detail: 'events' });
    for (const event of eventfulRun()) reporter.on(event);
    await reporter.end();
    expect(lines().join('\n')).toMatchInlineSnapshot(`
      "aurora-launch: 10 steps, 15 credits to spend, 8 at a time
      old  skipped  kept
      hero@de  started  create
      hero@de  sending
      hero@de  created  job job-hero@de, 5 credits
      hero@de  status  PROCESSING
      hero@de  completed  downloading its file
      hero@de  saved  images/hero/hero@de.png (1.2 MB)
      hero@de  done  5 credits, 0:06, images/hero/hero@de.png (2 of 10)
      hero@en  attached  its job is running
      hero@en  failed  moderated \\x1b[2J
      hero@fr  started  create
      hero@fr  repeated  the connection was reset; retrying with the same key in 1.5 s
      hero@fr  searching  the connection was reset; searching the job list of the service for its job
      hero@fr  found  job j-7 is in the job list of the service
      hero@fr  checking  the answer to an earlier create request of this step was lost
      hero@fr  checked  an earlier create request of this step made job j-8, which is now recorded
      hero@fr  unresolved  no answer
      hero@l'été  failed  out of memory; another job is bought
      logo  uploaded  asset-1 (2.0 kB)
      hero@l'été  started  download
      hero@l'été  completed  downloading its file
      hero@l'été  failed  the link has expired
      theme@a  started  create
      theme@a  created  job j-5, 12 credits
      paused  waiting for credits until 02:00; next try in 2 s (HTTP 402: no credits)
      resumed  the account has credits again, after 31 s
      hero@de  picked
      waiting for 2 gates
      stopped  interrupted: waiting for open requests; Ctrl-C again quits now
      theme@a  still running
      theme@b  started  create
      theme@c  started  create
      theme@c  refused  bad lyrics
      hero@it  started  create
      hero@it  lost  unknown job; charged 5
      theme@d  started  create
      theme@d  blocked  needs hero@it, which is lost
      notice  the service calls the job RENDERING
      notice  hero@de: a file in the way was renamed"
    `);
  });

  it('says only what went wrong, where the rest is not wanted', async () => {
    const { reporter, lines, wait } = rig(true, { detail: 'quiet' });
    for (const event of eventfulRun()) reporter.on(event);
    wait(120_000);
    await reporter.end();
    expect(lines().join('\n')).toMatchInlineSnapshot(`
      "hero@en  failed  moderated \\x1b[2J
      hero@fr  unresolved  no answer
      hero@l'été  failed  the link has expired
      stopped  interrupted: waiting for open requests; Ctrl-C again quits now
      theme@c  refused  bad lyrics
      hero@it  lost  unknown job; charged 5"
    `);
  });

  it('says of a large run only each failure and, every 30 s, where it is', () => {
    const { on, lines } = rig(false);
    on(runStarted([{ id: 'hero', kind: 'image', steps: 201 }]));
    for (let step = 1; step <= 190; step += 1) on(...boughtStep(`hero@${step}`));
    on({ event: 'step-started', address: 'hero@x', task: 'hero', kind: 'image', action: 'create' });
    on({ event: 'step-finished', address: 'hero@x', task: 'hero', outcome: 'failed', credits: 0, error: 'moderated' });
    expect(lines().slice(1)).toEqual(['hero@x  failed  moderated']);
  });

  it('says every 30 s where it is and what is left, and not before', () => {
    const { on, wait, lines } = rig(true, { times: () => ({ lowMs: 310_000, highMs: 400_000 }) });
    on(oneTask, ...boughtStep('hero@de').slice(0, 3));
    const before = lines().length;
    wait(29_999);
    expect(lines()).toHaveLength(before);
    wait(1);
    expect(lines().slice(before)).toEqual([
      '0 of 2 done, 1 running, 1 queued · credits 24 spent (0 now) · 36 of 60 left · 0:30 · about 5–7 min left',
    ]);
    wait(10_000);
    expect(lines()).toHaveLength(before + 1);
    wait(20_000);
    expect(lines()).toHaveLength(before + 2);
  });

  it('says that the service limits requests, once a minute', () => {
    const { reporter, lines } = rig(false);
    reporter.on(at(0, oneTask));
    const before = lines().length;
    const throttled = { event: 'create-repeated', address: 'hero@de', because: 'HTTP 429', throttled: true } as const;
    for (const seconds of [1, 4, 7, 62]) reporter.on(at(seconds, { ...throttled, afterMs: 3000 }));
    const line = 'waiting  the service limits requests (429); next request in 3.0 s';
    expect(lines().slice(before)).toEqual([line, line]);
  });
});

it('--events writes each event as a line that parses to the same event', () => {
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

describe('summaryView', () => {
  type More = Partial<Parameters<typeof summaryView>[1]>;
  /** The summary of a run with these facts; an event keeps its own time. */
  const summary = (facts: readonly RunFact[], more: More = {}) => {
    const view = createRunView();
    for (const fact of facts) foldEvent(view, at(0, fact));
    return textOf(summaryView(view, { paste: pasteFor('campaign.yaml'), ...more }));
  };
  const heroes = (steps: number) => runStarted([{ id: 'hero', kind: 'image', steps }]);

  it('tells what happened to everything and how to go on', () => {
    expect(summary(eventfulRun())).toMatchInlineSnapshot(`
      "aurora-launch: 2 of 10 steps done (1 of them in earlier runs)
      saved    images/hero/hero@de.png
      credits  41 spent (17 now) · 5 reserved · 14 of 60 left · balance 938
      time     0:41

      noticed
        hero@fr: an earlier create request of this step made job j-8, which is now recorded
        the service calls the job RENDERING
        hero@de: a file in the way was renamed

      failed, paid, and the file is not saved
        hero@l'été  the link has expired
        to fetch it again: mediabatch apply campaign.yaml

      failed
        hero@en  moderated \\x1b[2J
        hero@it  unknown job.
        the same prompt is likely to fail again: change the prompt in task \`hero\`; then to buy all 2 again: mediabatch apply campaign.yaml --redo 'state:failed state:lost'

      refused, nothing was charged
        theme@c  bad lyrics
        after fixing the cause: mediabatch apply campaign.yaml

      unresolved, it is not known whether these steps were charged
        hero@fr  no answer
        to decide, with --job and the job id, --not-spent or --spend-again: mediabatch resolve campaign.yaml hero@fr

      blocked
        theme@d  needs hero@it, which is lost

      1 job still running, paid · 1 step not started
      waited 31 s for credits
      interrupted: nothing more is bought
      to continue: mediabatch apply campaign.yaml
      "
    `);
  });

  it('is short when all went well', () => {
    const facts = [runStarted([{ id: 'hero', kind: 'image', steps: 2 }], { alreadyPaid: 0 })];
    const paid: RunFact = { event: 'credits-changed', spentNow: 10, spentEver: 10, held: 0, budget: 60, balance: null };
    const all = [...facts, ...boughtStep('hero@de'), ...boughtStep('hero@en'), paid];
    expect(summary(all)).toMatchInlineSnapshot(`
      "aurora-launch: all 2 steps done
      saved    2 files in images/hero/
      credits  10 spent · 50 of 60 left
      "
    `);
  });

  it('names the one file there is, and the folder that all files share', () => {
    const one = summary([oneTask, ...boughtStep('hero@de')]);
    expect(one).toContain('saved    images/hero/hero@de.png\n');
    const apart = summary([oneTask, ...boughtStep('hero@de'), ...boughtStep('logo')]);
    expect(apart).toContain('saved    2 files in images/\n');
    const clips = boughtStep('hero@de').flatMap((fact): RunFact[] => {
      if (fact.event !== 'output-saved') return [fact];
      return [1, 2, 3].map((clip) => ({ ...fact, output: { ...fact.output, path: `c/${clip}.mp4` } }));
    });
    expect(summary([oneTask, ...clips])).toContain('saved    3 files in c/\n');
  });

  it('says of a watch that somebody left only that the steps go on', () => {
    const text = summary([heroes(6), ...boughtStep('hero@a').slice(0, 4)], { elsewhere: true });
    expect(text).toContain('6 steps continue without this command\n');
    expect(text).not.toContain('not started');
  });

  it('goes on with nothing where a run was interrupted after all was done', () => {
    const stop: RunFact = { event: 'spending-stopped', because: 'signal', detail: 'SIGINT' };
    const summaryOf = (...facts: RunFact[]) => summary([heroes(1), ...facts, stop]);
    expect(summaryOf(...boughtStep('hero@a'))).toMatch(
      /1 step done.*interrupted by Ctrl-C: nothing more is bought\n$/s,
    );
    expect(summaryOf(...boughtStep('hero@a').slice(0, 4))).toContain('to continue: ');
  });

  it('speaks of no key where a run on an engine was cancelled', () => {
    const text = told([{ event: 'spending-stopped', because: 'signal', detail: 'cancelled' }]);
    expect(text).toContain('cancelled: nothing more is bought\n');
    expect(stoppingText({ because: 'signal', detail: 'cancelled' })).not.toContain('Ctrl-C again');
    expect(stoppingText({ because: 'signal', detail: 'SIGINT' })).toContain('Ctrl-C again');
  });

  const ended = (
    address: string,
    outcome: 'failed' | 'lost' | 'refused' | 'unresolved' | 'blocked',
    more: Partial<Extract<RunFact, { event: 'step-finished' }>> = {},
  ): RunFact[] => {
    const task = address.split('@')[0] ?? address;
    return [
      { event: 'step-started', address, task, kind: 'image', action: 'create' },
      { event: 'step-finished', address, task, outcome, credits: 5, ...more },
    ];
  };
  const many = (count: number, make: (index: number) => RunFact[]) =>
    Array.from({ length: count }, (_, index) => make(index)).flat();
  const told = (facts: RunFact[]) => summary([heroes(50), ...facts]);

  it('sums up equal failures, and names the one command that mends them all', () => {
    const text = told([
      ...many(13, (index) => ended(`hero@${index}`, 'failed', { error: `job of hero@${index} was moderated` })),
      ...ended('hero@x', 'failed', { error: 'out of order' }),
      ...ended('cover', 'lost', { error: 'HTTP 404: no such job' }),
    ]);
    expect(text.slice(text.indexOf('failed\n'), text.indexOf('\n35'))).toMatchInlineSnapshot(`
      "failed
        13 steps  job of … was moderated
          hero@0, hero@1, hero@2, hero@3, hero@4, … and 8 more
        hero@x  out of order
        cover  HTTP 404: no such job
        to list all: mediabatch status campaign.yaml --list --select 'state:failed state:lost'
        the same prompt is likely to fail again: change the prompt in task \`hero\`; then to buy all 15 again: mediabatch apply campaign.yaml --redo 'state:failed state:lost'
      "
    `);
  });

  it('sums up what was refused, what only a person can decide, and what waits for what failed', () => {
    const text = told([
      ...many(3, (index) => ended(`hero@r${index}`, 'refused', { error: 'HTTP 400: too wide [bad_ratio]' })),
      ...many(7, (index) => ended(`hero@u${index}`, 'unresolved', { error: 'no answer' })),
      ...many(2, (index) => ended(`hero@a${index}`, 'unresolved', { error: 'no answer', recoverable: true })),
      ...many(8, (index) =>
        ended(`teaser@${index}`, 'blocked', {
          error: `needs hero@r${index % 7}, which is refused`,
          need: { address: `hero@r${index % 7}`, is: 'refused' },
        }),
      ),
      ...ended('cover', 'blocked', { error: 'needs teaser@1, which is blocked' }),
      ...many(2, (index) => ended(`song@${index}`, 'blocked', { error: 'the credits are not enough: it costs 2' })),
    ]);
    for (const part of [
      '  3 steps  HTTP 400: too wide [bad_ratio]\n    hero@r0, hero@r1, hero@r2\n  after fixing the cause: ',
      '  2 steps  no answer\n    hero@a0, hero@a1\n  to find out without paying twice: mediabatch apply campaign.yaml\n',
      'hero@u4, … and 2 more\n  to list all: mediabatch status campaign.yaml --list --select state:unresolved\n  to decide,',
      '  8 steps  needs …, which is refused\n    teaser@0, teaser@1, teaser@2, teaser@3, teaser@4, … and 3 more\n',
      '  cover  needs teaser@1, which is blocked\n  2 steps  the credits are not enough: it costs 2\n    song@0, song@1\n',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('says of files that are not as expected what would buy them again', () => {
    const left = { event: 'step-left', task: 'hero', kind: 'image', action: 'failed', reason: 'too narrow' } as const;
    const facts = ['hero@a', 'hero@b', 'hero@c'].map((address) => ({ ...left, address }));
    const text = summary([heroes(3), ...facts], { paste: pasteFor('c.yaml'), unfit: new Set(['hero@a', 'hero@b']) });
    expect(text).toContain(
      'the outputs are paid and stored; to accept them, for 0 credits: mediabatch accept c.yaml hero@a hero@b\n',
    );
    expect(text).toContain("to buy the steps again: mediabatch apply c.yaml --redo 'hero@a hero@b'\n");
    expect(text).toContain('to buy the step again: mediabatch apply c.yaml --redo hero@c');
  });

  it.each([
    ['refused', 'no-operation', 'what to do: mediabatch help'],
    ['refused', undefined, 'after fixing the cause: mediabatch apply c.yaml'],
    ['unresolved', undefined, '--spend-again'],
  ] as const)('says what to do by the tag of an end, not by its words: %s, %s', (outcome, because, words) => {
    const error = 'the service knows a purchase under its key [MB1511]';
    const facts = ended('hero', outcome, { credits: 0, error, ...(because && { because }) });
    const text = summary([heroes(1), ...facts], { paste: pasteFor('c.yaml') });
    expect(text).toContain(words);
    expect(text.includes('what to do: ')).toBe(because === 'no-operation');
  });

  it.each([
    ['balance', true, 'for enough sandbox credits, omit --sandbox-credits: mediabatch apply campaign.yaml\n'],
    ['balance', false, 'top up the account at the service, then: mediabatch apply campaign.yaml\n'],
    ['balance', false, 'mediabatch apply campaign.yaml --wait-for-balance 2h\n'],
    ['unreachable', false, 'to check the key and the service: mediabatch doctor'],
    ['budget', false, 'with a higher budget'],
  ] as const)('says how to go on when it is stopped by %s', (because, sandbox, words) => {
    expect(summary([heroes(3), { event: 'spending-stopped', because, detail: '' }], { sandbox })).toContain(words);
  });

  it.each(['signal', undefined] as const)('goes on with a saved plan when stopped by %s', (because) => {
    const stop: RunFact[] = because === undefined ? [] : [{ event: 'spending-stopped', because, detail: '' }];
    const saved = ({ file = 'campaign.yaml', call, words }: Call) => ['mediabatch', call, file, ...words].join(' ');
    const goingOn = { ...call('apply'), file: 'a.plan.json' };
    expect(summary([heroes(3), ...stop], { paste: saved, goingOn })).toContain(
      'to continue: mediabatch apply a.plan.json\n',
    );
  });

  it.each([
    [6, 'the remaining steps cost about 10 credits, and the account has 6: 4 missing'],
    [20, 'the remaining steps cost about 10 credits, and the account has 20: 0 missing'],
    [null, 'the remaining steps cost about 10 credits\n'],
  ])('says how many credits are missing after a 402, at a balance of %s', (balance, words) => {
    const facts: RunFact[] = [
      heroes(3),
      { event: 'credits-changed', spentNow: 5, spentEver: 29, held: 0, budget: 60, balance },
      { event: 'spending-stopped', because: 'balance', detail: '' },
    ];
    expect(summary(facts)).toContain(words);
  });

  it('writes hints that a shell takes as they are meant', () => {
    const facts = ended('hero@$(rm x)', 'failed');
    const text = summary([oneTask, ...facts], { paste: pasteFor('my campaign.yaml') });
    expect(text).toContain("mediabatch apply 'my campaign.yaml' --redo 'hero@$(rm x)'");
  });
});
