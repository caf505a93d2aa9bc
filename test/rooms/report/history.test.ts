import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachRunOnce, historyLines } from '../../../src/campaign/find-run.ts';
import type { Json } from '../../../src/ground/json.ts';
import { tellRun, tellWholeRun } from '../../../src/report/history/run-story.ts';
import { runsView, runView } from '../../../src/report/history/run-text.ts';
import { eventfulRun, textOf } from './samples.ts';

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

const tellAll = (lines: readonly Json[]) => tellWholeRun(id, historyLines(lines));

describe('runs on an engine that were watched more than once', () => {
  const watch = (id: string, spentNow: number, how?: 'ended' | 'left') => ({
    ...tellAll([
      { ...head, engineRun: 'there' },
      { ...close, how: how ?? 'left', spentNow },
    ]),
    id,
  });
  const here = tellAll([head, close]);

  it('are one, as whoever saw the end tells it', () => {
    const ended = watch('b', 17, 'ended');
    expect(eachRunOnce([watch('c', 30), here, ended, watch('a', 5)])).toEqual([here, ended]);
  });

  it('are one, as whoever saw most tells it, while it goes on', () => {
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
      began    2026-01-01 00:00:00, took 1:01:02
      by       mediabatch 0.1.0, commit bbbbbbbbbbbb, manifest aaaaaaaaaaaa
      credits  17 charged, planned 40

      task   kind   action    steps                                    credits  files
      hero   image  create    1 done, 1 unresolved, 1 lost              10 + ?      1
      hero   image  attach    1 failed                                       0
      hero   image  download  1 failed                                       0
      theme  music  create    1 running, 1 left, 1 refused, 1 blocked       12

      not done
        hero@en failed: moderated \\x1b[2J
        hero@fr unresolved: no answer
        hero@l'été failed: the link has expired
        theme@a running
        theme@b left
        theme@c refused: bad lyrics
        hero@it lost: unknown job
        theme@d blocked: needs hero@it, which is lost

      noticed
        hero@fr: an earlier create of this step was made: job j-8, which is on record now
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
    ].map((lines, index) => tellRun(`${id.slice(0, -1)}${index}`, historyLines(lines)));
    const running = tellRun(`${id.slice(0, -1)}r`, historyLines([head]));
    expect(textOf(runsView([running, ...runs], running.id))).toMatchInlineSnapshot(`
      "run                   when              ended           steps                 credits     took
      2026-01-01-0000-k3fr  2026-01-01 00:00  running                                     0     0:00
      2026-01-01-0000-k3f0  2026-01-01 00:00  some failed     1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f1  2026-01-01 00:00  done            1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f2  2026-01-01 00:00  account empty   1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f3  2026-01-01 00:00  budget used up  1 done, 2 failed           17  1:01:02
      2026-01-01-0000-k3f4  2026-01-01 00:00  error           1 done, 2 failed  at least 17  1:01:02
      2026-01-01-0000-k3f5  2026-01-01 00:00  left early      1 done, 2 failed  at least 17  1:01:02
      2026-01-01-0000-k3f6  2026-01-01 00:00  broken off                         at least 5     1:00
      2026-01-01-0000-k3f7                    broken off                                  ?
      "
    `);
  });

  it('reads and shows whatever lines there are', () => {
    const fields = ['event', 'mediabatch', 'address', 'task', 'kind', 'action', 'outcome', 'credits', 'output', 'at'];
    const words = ['run', 'run-close', 'run-ended', 'step-started', 'step-left', 'step-finished', 'output-saved', 'a'];
    const names = [...fields, 'spentNow', 'elapsedMs', 'exit', 'outcomes', 'totals', 'error', 'message', '__proto__'];
    const value = fc.oneof(fc.constantFrom<Json>(...words), fc.jsonValue() as fc.Arbitrary<Json>);
    const odd = fc.dictionary(fc.constantFrom(...names), value) as fc.Arbitrary<Json>;
    const line = fc.oneof(odd, fc.constantFrom(...events), fc.jsonValue() as fc.Arbitrary<Json>);
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const run = tellAll(lines);
        expect(run.spentNow).toBeGreaterThanOrEqual(0);
        const text = textOf(runView(run, { isRunning: false, path: 'p' }), 80) + textOf(runsView([run]));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 300 },
    );
  });
});
