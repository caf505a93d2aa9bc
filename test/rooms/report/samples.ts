import type { RunEvent, RunFact, StepOutcome } from '../../../src/contract/event.ts';
import type { Diagnostic, Place } from '../../../src/ground/diagnostic.ts';
import type { Reason } from '../../../src/plan/plan.generated.ts';
import type { Action, Plan, PlanRow, PlanTotals } from '../../../src/plan/plan.ts';
import type { Document } from '../../../src/report/document.ts';
import { terminalText } from '../../../src/report/render/terminal-text.ts';
import { makeStyle } from '../../../src/report/style.ts';

export const noColor = makeStyle(false);

/** A document as plain text; `width`: of a terminal. */
export function textOf(document: Document, width?: number): string {
  return terminalText(document, { style: noColor, width });
}

export function place(file: string, start: [line: number, column: number], end: [line: number, column: number]): Place {
  const position = ([line, column]: [number, number]) => ({ line, column, offset: 0 });
  return { file, start: position(start), end: position(end) };
}

export function mistake(message: string, more: Partial<Diagnostic> = {}): Diagnostic {
  return { code: 'MB1203', severity: 'error', message, ...more };
}

const usualCodes: { readonly [action in Action]: Reason['code'] } = {
  create: 'not-bought',
  redo: 'changed',
  retry: 'job-failed',
  attach: 'job-running',
  download: 'missing',
  move: 'renamed',
  keep: 'up-to-date',
  failed: 'job-failed',
  blocked: 'needs',
  unresolved: 'answer-lost',
  orphan: 'orphan',
};

export type RowFacts = Partial<Omit<PlanRow, 'reason'>> & { reason?: string | Reason };

export function row(address: string, action: Action, { reason: given, ...more }: RowFacts = {}): PlanRow {
  const task = address.split('@')[0] ?? address;
  const spends = action === 'create' || action === 'redo' || action === 'retry';
  const text = typeof given === 'string' ? given : action === 'keep' ? 'up to date' : 'not bought yet';
  const reason = typeof given === 'object' ? given : { code: usualCodes[action], text };
  return { address, task, kind: 'image', action, reason, credits: spends ? 5 : 0, ...more } as PlanRow;
}

export function plan(rows: PlanRow[], totals: Partial<PlanTotals> = {}): Plan {
  const spending = rows.map(({ credits }) => credits);
  const known = spending.reduce<number>((sum, credits) => sum + (credits ?? 0), 0);
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: 'aurora-launch',
    concurrency: 8,
    rows,
    totals: {
      toSpend: known,
      ceiling: known,
      knownPrices: known,
      unknownPrices: spending.filter((credits) => credits === null).length,
      alreadyPaid: 0,
      held: 0,
      discarded: rows.reduce((sum, { discards }) => sum + (discards ?? 0), 0),
      ...totals,
    },
  };
}

/** One row of every action, and everything the foot of a plan can say. */
export function fullPlan(): Plan {
  const rows = [
    row('logo', 'keep', { output: 'images/logo.png', jobId: 'job-1' }),
    row('hero@de,1:1', 'keep'),
    row('hero@en,1:1', 'keep'),
    row('hero@de,16:9', 'create'),
    row('hero@en,16:9', 'create', { credits: null }),
    row('theme', 'redo', {
      kind: 'music',
      credits: 12,
      discards: 12,
      reason: 'stylePrompt: piano → strings',
    }),
    row('jingle', 'retry', { kind: 'music', credits: 6, reason: 'job j-7 failed: overloaded; --redo retries it' }),
    row('teaser@de', 'attach', { reason: 'job j-8 is running', jobId: 'j-8' }),
    row('teaser@en', 'download', { reason: 'paid; images/en.png is missing', jobId: 'j-9' }),
    row('poster', 'move', { reason: 'was placard' }),
    row('voice', 'unresolved', { reason: 'it is not known whether the create request was charged' }),
    row('clip', 'failed', { reason: 'job j-3 failed: moderated; --redo buys the step again', jobId: 'j-3' }),
    row('post', 'blocked', { reason: 'needs clip, which is failed' }),
    row('old@x', 'orphan', { reason: 'in the lock, not in the manifest; kept' }),
  ];
  return plan(rows, { alreadyPaid: 36, held: 4, budget: 120, budgetLeft: 80, maxCredits: 50, balance: 12_345 });
}

/** Gives facts the times that a run would give them. */
export function at(second: number, fact: RunFact): RunEvent {
  return { at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(), ...fact };
}

const hash = '3b'.repeat(32);

export function runStarted(
  tasks: { id: string; kind: string; steps: number }[],
  totals: Partial<PlanTotals> = {},
): RunFact {
  const steps = tasks.reduce((sum, task) => sum + task.steps, 0);
  return {
    event: 'run-started',
    version: 1,
    campaign: 'aurora-launch',
    steps,
    concurrency: 8,
    totals: {
      toSpend: 15,
      ceiling: 15,
      knownPrices: 15,
      unknownPrices: 0,
      alreadyPaid: 24,
      held: 0,
      discarded: 0,
      budget: 60,
      ...totals,
    },
    tasks,
  };
}

/** All that is said about a step that is bought and saved. */
export function boughtStep(address: string, credits = 5): RunFact[] {
  const task = address.split('@')[0] ?? address;
  return [
    { event: 'step-started', address, task, kind: 'image', action: 'create' },
    { event: 'create-intended', address, key: `mb1-${address}`, reserved: credits },
    { event: 'job-created', address, jobId: `job-${address}`, credits, balance: null },
    { event: 'job-progressed', address, jobId: `job-${address}`, status: 'PROCESSING' },
    { event: 'job-completed', address, jobId: `job-${address}` },
    {
      event: 'output-saved',
      address,
      output: { path: `images/${task}/${address}.png`, sha256: hash, bytes: 1_234_567, type: 'image/png' },
      how: 'downloaded',
    },
    { event: 'step-finished', address, task, outcome: 'done', credits },
  ];
}

function finished(address: string, outcome: StepOutcome, more: { credits: number | null; error: string }): RunFact {
  return { event: 'step-finished', address, task: address.split('@')[0] ?? address, outcome, ...more };
}

/** A run in which every kind of event happens and every way to end occurs. */
export function eventfulRun(): RunEvent[] {
  const facts: RunFact[] = [
    runStarted([
      { id: 'logo', kind: 'image', steps: 1 },
      { id: 'hero', kind: 'image', steps: 5 },
      { id: 'theme', kind: 'music', steps: 4 },
    ]),
    { event: 'step-left', address: 'logo', task: 'logo', kind: 'image', action: 'keep', reason: 'up to date' },
    { event: 'step-left', address: 'old', task: 'old', kind: 'image', action: 'orphan', reason: 'kept' },
    ...boughtStep('hero@de'),
    { event: 'credits-changed', spentNow: 5, spentEver: 29, held: 0, budget: 60, balance: 950 },
    { event: 'step-started', address: 'hero@en', task: 'hero', kind: 'image', action: 'attach' },
    finished('hero@en', 'failed', { credits: 0, error: 'moderated \u001b[2J' }),
    { event: 'step-started', address: 'hero@fr', task: 'hero', kind: 'image', action: 'create' },
    { event: 'create-repeated', address: 'hero@fr', because: 'the connection was reset', afterMs: 1500 },
    { event: 'create-searched', address: 'hero@fr', because: 'the connection was reset' },
    { event: 'job-found', address: 'hero@fr', jobId: 'j-7' },
    { event: 'send-asked', address: 'hero@fr', key: 'mb1-k' },
    { event: 'send-settled', address: 'hero@fr', key: 'mb1-k', outcome: 'done', jobId: 'j-8', credits: 3 },
    finished('hero@fr', 'unresolved', { credits: null, error: 'no answer' }),
    { event: 'job-retried', address: "hero@l'été", jobId: 'j-3', error: 'out of memory', left: 1 },
    { event: 'file-uploaded', address: 'logo', assetId: 'asset-1', bytes: 2048 },
    { event: 'step-started', address: "hero@l'été", task: 'hero', kind: 'image', action: 'download' },
    { event: 'job-completed', address: "hero@l'été", jobId: 'j-4' },
    finished("hero@l'été", 'failed', { credits: 0, error: 'the link has expired' }),
    { event: 'step-started', address: 'theme@a', task: 'theme', kind: 'music', action: 'create' },
    { event: 'job-created', address: 'theme@a', jobId: 'j-5', credits: 12, balance: 938, model: 'song-9' },
    { event: 'credits-changed', spentNow: 17, spentEver: 41, held: 5, budget: 60, balance: 938 },
    {
      event: 'credits-awaited',
      until: '2026-01-01T02:00:00.000Z',
      nextTryAt: '2026-01-01T00:00:30.000Z',
      detail: 'HTTP 402: no credits',
    },
    { event: 'spending-resumed', waitedMs: 31_000 },
    { event: 'output-judged', address: 'hero@de', is: 'picked', jobId: 'j-1' },
    { event: 'picks-awaited', gates: 2, steps: 3 },
    { event: 'spending-stopped', because: 'signal', detail: '' },
    { event: 'step-finished', address: 'theme@a', task: 'theme', outcome: 'running', credits: 12 },
    { event: 'step-started', address: 'theme@b', task: 'theme', kind: 'music', action: 'create' },
    { event: 'step-finished', address: 'theme@b', task: 'theme', outcome: 'left', credits: 0 },
    { event: 'step-started', address: 'theme@c', task: 'theme', kind: 'music', action: 'create' },
    { event: 'step-finished', address: 'theme@c', task: 'theme', outcome: 'refused', credits: 0, error: 'bad lyrics' },
    { event: 'step-started', address: 'hero@it', task: 'hero', kind: 'image', action: 'create' },
    { event: 'step-finished', address: 'hero@it', task: 'hero', outcome: 'lost', credits: 5, error: 'unknown job.' },
    { event: 'step-started', address: 'theme@d', task: 'theme', kind: 'music', action: 'create' },
    finished('theme@d', 'blocked', { credits: 0, error: 'needs hero@it, which is lost' }),
    { event: 'noticed', message: 'the service calls the job RENDERING' },
    { event: 'noticed', address: 'hero@de', message: 'a file in the way was renamed' },
    {
      event: 'run-ended',
      exit: 130,
      outcomes: { done: 1, failed: 2, unresolved: 1, running: 1, left: 1, refused: 1, lost: 1, blocked: 1 },
      kept: 1,
      spentNow: 17,
      spentEver: 41,
      held: 5,
      balance: 938,
      elapsedMs: 41_500,
    },
  ];
  return facts.map((fact, index) => at(index, fact));
}
