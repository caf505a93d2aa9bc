import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { eachRunOnce, historyLines } from '../../../src/campaign/runs.ts';
import { nextOfStatus } from '../../../src/cli/next-steps.ts';
import type { EngineRun } from '../../../src/contract/engine-state.ts';
import type { RunEvent, RunFact, StepOutcome } from '../../../src/contract/event.ts';
import type { Graph, Step } from '../../../src/graph/graph.ts';
import type { Json } from '../../../src/ground/json.ts';
import type { Purchase, PurchaseState } from '../../../src/lock/record.ts';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { runsView, runView, summarizeRun, summarizeWholeRun } from '../../../src/report/history/run-story.ts';
import { resultText } from '../../../src/report/run/result-json.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { makeStatus, type PresentFiles, type StatusView } from '../../../src/report/status/status.ts';
import { statusView } from '../../../src/report/status/status-text.ts';
import { troublesOf, workerJsonLine, workerLine, workersView } from '../../../src/report/tables/workers-text.ts';
import { bufferTerminal } from '../../command/buffer-terminal.ts';
import { type AnyFacts, sendBy } from '../../rig/facts-of-purchase.ts';
import { forAll } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, picture, stepOf } from '../plan/facts.ts';
import { paste } from './paste.ts';
import { at, eventfulRun, noColor, row, textOf } from './samples.ts';

function step(address: string, fingerprint = `1:${address}`): Step {
  const request = { prompt: 'a lamp', model: 'alpha-2' };
  const written = picture(address, { request, save: `output/${address}` });
  return { ...stepOf(graphOfSteps([written]), address), fingerprint };
}

function graph(steps: Step[], budget?: number): Graph {
  const { tasks } = graphOfSteps(steps.map(({ address }) => picture(address)));
  return graphOfSteps([], { name: 'aurora-launch', steps, tasks, ...(budget !== undefined && { budget }) });
}

function purchase(address: string, state: PurchaseState, more: AnyFacts = {}): Purchase {
  const hasJob = state !== 'intent' && state !== 'refused' && state !== 'unresolved';
  const output = { path: `output/${address}.png`, sha256: 'a'.repeat(64), bytes: 1, type: 'image/png' };
  return {
    fingerprint: `1:${address}`,
    generation: 1,
    attempt: 1,
    state,
    key: `key-${address}`,
    ...sendBy(state, `send of ${address}`),
    ...(hasJob && { jobId: `job-${address}`, credits: 5 }),
    ...(state === 'done' && { outputs: [output] }),
    ...more,
  } as Purchase;
}

const lock = (purchases: Record<string, Purchase[]>) => lockOf(purchases, { kind: 'image' });

const states: PurchaseState[] = ['done', 'running', 'failed', 'lost', 'unresolved', 'intent', 'refused'];
const steps = [...states.map((state) => step(`hero@${state}`)), step('hero@new'), step('hero@gone'), step('logo')];
const full = lock({
  ...Object.fromEntries(states.map((state) => [`hero@${state}`, [purchase(`hero@${state}`, state)]])),
  'hero@gone': [purchase('hero@gone', 'done')],
  logo: [purchase('logo', 'done')],
  'old@x': [purchase('old@x', 'done')],
});
const present: PresentFiles = new Map([
  ['output/hero@done.png', 'intact'],
  ['output/logo.png', 'changed'],
]);
const all = graph(steps, 120);
const facts = { situation: situate(all, full), present };

function taskIn(view: StatusView, id: string) {
  return view.tasks.find((task) => task.id === id);
}

describe('makeStatus', () => {
  it('tells jobs that run from those that have finished and are not saved', () => {
    const jobId = full.steps.get('hero@running')?.purchases[0]?.jobId ?? '';
    const view = makeStatus({ ...facts, finishedJobs: new Set([jobId, 'another']) });
    expect(taskIn(view, 'hero')).toMatchObject({ states: { running: 1, done: 2 }, unsaved: 1 });
    expect(view.rows.filter(({ unsaved }) => unsaved).map(({ address }) => address)).toEqual(['hero@running']);
    const text = textOf(statusView(view, { paste }));
    expect(text).toContain('2 of 9  1 finished, not saved · 1 failed');
    expect(text).not.toContain('running');
  });

  it('needs a person only for a create request that the next run cannot settle', () => {
    const since = '2030-05-01T10:00:00.000Z';
    const asked = (hours: number) => {
      const open = lock({ logo: [purchase('logo', 'intent', { since })] });
      const now = Date.parse(since) + hours * 3_600_000;
      const view = makeStatus({ ...facts, situation: situate(graph([step('logo')]), open), now });
      const answer = nextOfStatus(view, { ...bufferTerminal().terminal, paste });
      return { ...answer, next: answer.next.map(({ needs }) => needs) };
    };
    expect(asked(1)).toEqual({ again: 'same', person: false, paid: 'perhaps', next: [null] });
    expect(asked(30)).toEqual({ again: 'changed', person: true, paid: 'perhaps', next: ['person'] });
  });

  it('counts each step of the manifest in one state', () => {
    const view = makeStatus(facts);
    expect(taskIn(view, 'hero')).toEqual({
      id: 'hero',
      kind: 'image',
      steps: 9,
      states: { done: 2, running: 1, failed: 1, lost: 1, unresolved: 2, changed: 0, 'not-bought': 2, unneeded: 0 },
      unsaved: 0,
      filesMissing: 1,
    });
    expect(taskIn(view, 'logo')?.filesMissing).toBe(1);
    expect(view.credits).toEqual({ spent: 35, held: 0, heldUnknown: 2, budget: 120, left: 0 });
    expect(view.orphans).toEqual(['old@x']);
    expect(view.campaign).toBe('aurora-launch');
  });

  it('says of a changed input that something else was bought, and a renamed step for what it was', () => {
    const changed = step('a', '1:other');
    const renamed = step('new-name', '1:old-name');
    const bought = lock({ a: [purchase('a', 'done')], 'old-name': [purchase('old-name', 'done')] });
    const view = makeStatus({ ...facts, situation: situate(graph([changed, renamed]), bought) });
    expect(taskIn(view, 'a')?.states).toMatchObject({ done: 0, changed: 1, 'not-bought': 0 });
    expect(taskIn(view, 'new-name')?.states).toMatchObject({ done: 1 });
    expect(view.orphans).toEqual([]);
  });

  it('has something to say of a campaign that has not begun', () => {
    const view = makeStatus({ ...facts, situation: situate(graph([step('a')], 12), lock({})), present: new Map() });
    expect(textOf(statusView(view, { paste }))).toMatchInlineSnapshot(`
      "aurora-launch: 0 of 1 step done

      a  image  0 of 1  1 not bought

      credits  0 spent · 12 of 12 left
      "
    `);
  });
});

it('the status is a line per task, the money, and what needs attention', () => {
  expect(textOf(statusView(makeStatus(facts), { paste }))).toMatchInlineSnapshot(`
      "aurora-launch: 3 of 10 steps done

      hero  image  2 of 9  1 running · 1 failed · 1 lost · 2 unresolved · 2 not bought · 1 file missing
      logo  image  1 of 1  1 file missing

      credits  35 spent · 2 create requests of unknown price reserved · 0 of 120 left
      files    2 paid files missing or changed; apply fetches them for free
      orphans  1 step in the lock, not in the manifest: old@x

      failed
        2 steps
          hero@failed, hero@lost
        to buy all 2 again: mediabatch apply campaign.yaml --redo 'state:failed state:lost'

      to decide about the unresolved steps: mediabatch resolve campaign.yaml hero@unresolved
      "
    `);
});

describe('result json', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../schemas/result.schema.json', import.meta.url), 'utf8'));
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  ajv.addFormat('date-time', true);
  const isResult = ajv.compile(schema);

  const ended: Extract<RunFact, { event: 'run-ended' }> = {
    event: 'run-ended',
    exit: 3,
    outcomes: { done: 1, failed: 1 },
    kept: 1,
    spentNow: 4,
    spentEver: 6,
    held: 0,
    balance: 90,
    elapsedMs: 5,
  };

  type Facts = {
    finished?: RunFact[];
    gates?: Parameters<typeof resultText>[0]['plan']['gates'];
    exit?: 3 | 6;
    needs?: 'person' | null;
  };

  function resultOf(rows: PlanRow[], facts: Facts = {}) {
    const { finished = [], gates, exit = 3, needs = 'person' } = facts;
    const view = createRunView();
    const outcomes = new Map<string, StepOutcome>();
    for (const fact of finished) {
      if (fact.event !== 'step-finished') continue;
      const { address, task, outcome } = fact;
      foldEvent(view, at(0, { event: 'step-started', address, task, kind: 'image', action: 'create' }));
      foldEvent(view, at(1, fact));
      outcomes.set(address, outcome);
    }
    const end = at(9, { ...ended, exit }) as Extract<RunEvent, { event: 'run-ended' }>;
    const next = [{ command: 'mediabatch review', credits: 0, needs }];
    const text = resultText({ plan: { campaign: 'spring', rows, ...(gates && { gates }) }, outcomes, view, end, next });
    const document = JSON.parse(text);
    expect(isResult(document), JSON.stringify(isResult.errors)).toBe(true);
    return { text, document };
  }

  function finished(address: string, outcome: StepOutcome, more: object = {}): RunFact {
    return { event: 'step-finished', address, task: address, outcome, credits: 2, ...more };
  }

  test.each([
    [false, { recoverable: true }, []],
    [true, {}, []],
    [true, { recoverable: true }, [finished('b', 'failed')]],
    [true, { recoverable: true }, [finished('b', 'unresolved')]],
  ])('after exit 6, a person is needed: %s', (person, more, others) => {
    const { document } = resultOf([row('a', 'create'), row('b', 'create')], {
      finished: [finished('a', 'unresolved', more), ...others],
      exit: 6,
      needs: null,
    });
    expect(document).toMatchObject({ again: 'same', person, paid: 'perhaps' });
  });

  test('each step stands there as it is now, with its reason where it is not done', () => {
    const post = { accounts: ['acc_1'], names: { acc_1: 'Shop' }, at: '2030-03-01T09:00:00Z' };
    const rows = [
      row('kept', 'keep'),
      row('part', 'keep', { unneeded: true }),
      row('bought', 'create'),
      row('broken', 'create'),
      row('after', 'create'),
      row('unfit', 'failed', { reason: { code: 'unfit', text: 'too short' } }),
      row('unbegun', 'create'),
      row('final', 'blocked', { blockedBy: 'gate', reason: { code: 'gate', text: 'people are to decide' } }),
      row('share', 'blocked', { kind: 'post', blockedBy: 'consent', reason: { code: 'consent', text: 'waits' }, post }),
      row('bought', 'create', { send: 's1' }),
      row('old', 'orphan'),
    ];
    const draft = { name: 'draft', task: 'draft', members: ['draft/1'], picked: [], note: 'calm' };
    const gates = [{ ...draft, is: 'choose' as const, choose: 1, state: 'open' as const, waiting: 1 }];
    const { document } = resultOf(rows, {
      finished: [
        finished('bought', 'done'),
        finished('broken', 'failed', { error: 'x'.repeat(400) }),
        finished('after', 'blocked', { credits: 0, need: { address: 'broken', is: 'failed' } }),
      ],
      gates,
    });
    expect(document.rows).toEqual([
      { address: 'kept', state: 'done' },
      { address: 'part', state: 'unneeded' },
      { address: 'bought', state: 'done' },
      { address: 'broken', state: 'failed', credits: 2, error: `${'x'.repeat(300)}…` },
      { address: 'after', state: 'blocked', need: { address: 'broken', is: 'failed' } },
      { address: 'unfit', state: 'failed', error: 'too short' },
      { address: 'unbegun', state: 'left' },
      { address: 'final', state: 'blocked', because: 'gate' },
      {
        address: 'share',
        state: 'blocked',
        because: 'consent',
        post: { accounts: ['acc_1'], at: '2030-03-01T09:00:00Z' },
      },
      { address: 'bought', send: 's1', state: 'left' },
    ]);
    expect(document.gates).toEqual([{ name: 'draft', is: 'choose', state: 'open', choose: 1, waiting: 1 }]);
  });

  test('130 steps, of which 24 are posts that wait, are less than 10 kB', () => {
    const post = { accounts: ['acc_a26a6b25c78b1c8d'], at: '2030-03-01T09:00:00Z' };
    const reason = { code: 'consent', text: 'waits for somebody who agrees to publish it' } as const;
    const bought = Array.from({ length: 106 }, (_, index) => row(`final@S${index},9:16,en`, 'create'));
    const posts = Array.from({ length: 24 }, (_, index) =>
      row(`share@S${index},9:16,en`, 'blocked', { kind: 'post', blockedBy: 'consent', reason, post }),
    );
    const { text } = resultOf([...bought, ...posts], {
      finished: bought.map(({ address }) => finished(address, 'done')),
    });
    expect(Buffer.byteLength(text)).toBeLessThan(10_000);
  });
});

const id = '2026-01-01-0000-k3f9';
const events = JSON.parse(JSON.stringify(eventfulRun())) as Json[];
const head = {
  mediabatch: 'run',
  version: 1,
  id,
  at: '2026-01-01T00:00:00.000Z',
  tool: '0.1.0',
  campaign: 'aurora-launch',
  manifest: 'a'.repeat(64),
  commit: 'b'.repeat(40),
  lock: 'campaign.lock.jsonl',
  sandbox: false,
  steps: 10,
  totals: { toSpend: 40, ceiling: 40, knownPrices: 40, unknownPrices: 0, alreadyPaid: 24, held: 0, discarded: 0 },
};
const close = {
  mediabatch: 'run-close',
  version: 1,
  at: '2026-01-01T01:01:02.000Z',
  how: 'ended',
  exit: 3,
  outcomes: { done: 1, failed: 2 },
  spentNow: 17,
  elapsedMs: 3_662_000,
};

const tellAll = (lines: readonly Json[]) => summarizeWholeRun(id, historyLines(lines));

describe('runs on an engine that were watched more than once', () => {
  const watch = (id: string, spentNow: number, how?: 'ended' | 'left') => ({
    ...tellAll([
      { ...head, engineRun: 'there' },
      { ...close, how: how ?? 'left', spentNow },
    ]),
    id,
  });
  const here = tellAll([head, close]);

  it('are one, as the watch that saw the end reports it', () => {
    const ended = watch('b', 17, 'ended');
    expect(eachRunOnce([watch('c', 30), here, ended, watch('a', 5)])).toEqual([here, ended]);
  });

  it('are one, as the watch that saw most reports it, while the run goes on', () => {
    const most = watch('a', 5);
    expect(eachRunOnce([watch('b', 0), here, most])).toEqual([here, most]);
  });
});

describe('the history of a run', () => {
  it('tells what happened, by task', () => {
    const run = tellAll([head, ...events, close]);
    expect(textOf(runView(run, { isRunning: false, path: 'p.jsonl' }))).toMatchInlineSnapshot(`
      "aurora-launch: some failed

      run      2026-01-01-0000-k3f9
      began    2026-01-01 00:00, took 1:01:02
      by       mediabatch 0.1.0, commit bbbbbbbbbbbb, manifest aaaaaaaaaaaa
      credits  17 charged, planned 40 credits

      task   kind   action    steps                                    credits  files
      hero   image  create    1 done, 1 unresolved, 1 lost              10 + ?      1
      hero   image  attach    1 failed
      hero   image  download  1 failed
      theme  music  create    1 running, 1 left, 1 refused, 1 blocked       12

      not done
        hero@en failed: moderated \\x1b[2J
        hero@fr unresolved: no answer
        hero@l'été failed: the link has expired
        theme@a running
        theme@b left
        theme@c refused: bad lyrics
        hero@it lost: unknown job.
        theme@d blocked: needs hero@it, which is lost

      noticed
        hero@fr: an earlier create request of this step made job j-8, which is now recorded
        the service calls the job RENDERING
        hero@de: a file in the way was renamed

      all events: p.jsonl
      "
    `);
  });

  it('tells in a row how each ended, also where the end or the beginning is missing', () => {
    const ended = (exit: number) => ({ ...close, exit });
    const { exit: _exit, ...withoutExit } = close;
    const unchanged = { spentEver: 5, held: 0, budget: null, balance: null };
    const runs = [
      [head, close],
      [head, ended(0)],
      [head, events[0] ?? null, { at: close.at, event: 'spending-stopped', because: 'balance', detail: '' }, ended(4)],
      [head, ended(4)],
      [head, { ...withoutExit, how: 'broken', error: 'ENOSPC' }],
      [head, { ...withoutExit, how: 'left' }],
      [head, { at: '2026-01-01T00:01:00.000Z', event: 'credits-changed', spentNow: 5, ...unchanged }],
      [],
    ].map((lines, index) => summarizeRun(`${id.slice(0, -1)}${index}`, historyLines(lines)));
    const running = summarizeRun(`${id.slice(0, -1)}r`, historyLines([head]));
    expect(textOf(runsView([running, ...runs], running.id))).toMatchInlineSnapshot(`
      "run                   when              ended           steps                 credits     took
      2026-01-01-0000-k3fr  2026-01-01 00:00  running                                     0     0:00
      2026-01-01-0000-k3f0  2026-01-01 00:00  some failed     1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f1  2026-01-01 00:00  done            1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f2  2026-01-01 00:00  account empty   1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f3  2026-01-01 00:00  budget used up  1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f4  2026-01-01 00:00  error           1 done, 2 failed  at least 17  1:01:02
      2026-01-01-0000-k3f5  2026-01-01 00:00  stopped         1 done, 2 failed  at least 17  1:01:02
      2026-01-01-0000-k3f6  2026-01-01 00:00  aborted                            at least 5     1:00
      2026-01-01-0000-k3f7                    aborted                                     ?
      "
    `);
  });

  const fields = ['event', 'mediabatch', 'address', 'task', 'kind', 'action', 'outcome', 'credits', 'output', 'at'];
  const words = ['run', 'run-close', 'run-ended', 'step-started', 'step-left', 'step-finished', 'output-saved', 'a'];
  const names = [...fields, 'spentNow', 'elapsedMs', 'exit', 'outcomes', 'totals', 'error', 'message', '__proto__'];
  const value = fc.oneof(fc.constantFrom<Json>(...words), fc.jsonValue() as fc.Arbitrary<Json>);
  const odd = fc.dictionary(fc.constantFrom(...names), value) as fc.Arbitrary<Json>;
  const line = fc.oneof(odd, fc.constantFrom(...events), fc.jsonValue() as fc.Arbitrary<Json>);
  forAll([fc.array(line)], 300)('reads and shows whatever lines there are', (lines) => {
    const run = tellAll(lines);
    expect(run.spentNow).toBeGreaterThanOrEqual(0);
    const text = textOf(runView(run, { isRunning: false, path: 'p' }), 80) + textOf(runsView([run]));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

const error = 'the lock of this run on the engine is damaged: line 4 is no JSON';
const run: EngineRun = {
  ...{ id: '12345678-abcd', account: 'a'.repeat(32), campaign: 'spring', state: 'open' },
  ...{ host: 'host', manifest: 'spring.yaml', submittedMs: 65_000, store: null, protocol: 1, error },
  steps: { done: 3, failed: 2, waiting: 0, left: 4, of: 9 },
  files: { wanted: 0, saved: 0, failed: 0 },
};

test('a run that its head has deferred says so, with what is wrong and that it is tried again', () => {
  const text = textOf(workersView({ runs: [run], accounts: [], workers: [] }), 140);
  expect(text).toContain('deferred');
  expect(text).toContain(`error run 12345678 of spring was deferred and is retried each minute: ${error}\n`);
});

test('a worker says in its log what it has deferred, as words or as JSON', () => {
  const news = { event: 'run-deferred', campaign: 'spring', run: run.id, error, againAfterMs: 60_000 } as const;
  expect(workerLine(news, { style: noColor, now: 0 })).toBe(
    `1970-01-01T00:00:00Z error run 12345678 of spring was deferred: ${error}; next attempt in 1 min\n`,
  );
  const written = { campaign: 'spring', run: run.id, error, againAfterMs: 60_000 };
  expect(JSON.parse(workerJsonLine(news, { now: 0 }))).toMatchObject({
    level: 'error',
    event: 'run-deferred',
    ...written,
  });
});

test('an open run that nobody can carry out is named, with what it lacks', () => {
  const { error: _, ...open } = run;
  const told = (lacks: EngineRun['lacks']) =>
    troublesOf({ runs: [{ ...open, ...(lacks && { lacks }) }], accounts: [], workers: [] }).map(({ text }) => text);
  expect(told(undefined)).toEqual([]);
  expect(told('worker')).toEqual(['run 12345678 of spring waits: no worker is ready for account aaaaaaaa']);
  expect(told('store')).toEqual([expect.stringContaining('no worker has the store of the run')]);
  expect(told('leader')).toEqual(['run 12345678 of spring waits: no worker leads account aaaaaaaa']);
});

test('a run that was cancelled says by whom, and when', () => {
  const { error: _, ...open } = run;
  const stopping = { ...open, state: 'stopping' as const, cancelled: { by: 'me on desk', ageMs: 65_000 } };
  const text = textOf(workersView({ runs: [stopping], accounts: [], workers: [] }), 180);
  expect(text).toContain('stopping (me on desk, 1 min ago)');
});
