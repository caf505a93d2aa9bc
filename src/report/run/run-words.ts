import type { StopReason } from '../../contract/event.ts';
import { noUser } from '../../contract/failure.ts';
import type { Mark } from '../document.ts';
import { clockText, countOf, creditsText, elapsedText, moneyText, rangeText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Remaining } from './remaining-time.ts';
import type { RunView, Stage, TaskView } from './run-view.ts';

interface StageCount {
  count: number;
  word: string;
  mark: Mark | undefined;
}

type StageSums = Pick<TaskView, 'steps' | 'stages'>;

/** Words for stages of unfinished steps, in display order. Refused steps cost nothing, so they are not `failed`. */
const stageWords: readonly (Pick<StageCount, 'word'> & { stages: readonly Stage[]; mark?: Mark })[] = [
  { stages: ['running'], word: 'running', mark: 'active' },
  { stages: ['failed', 'lost'], word: 'failed', mark: 'bad' },
  { stages: ['refused'], word: 'refused', mark: 'bad' },
  { stages: ['unresolved'], word: 'unresolved', mark: 'warning' },
  { stages: ['saving'], word: 'saving' },
  { stages: ['searching'], word: 'searching' },
  { stages: ['working'], word: 'starting' },
  { stages: ['blocked'], word: 'blocked', mark: 'warning' },
  { stages: ['awaits-consent'], word: 'waiting for consent', mark: 'warning' },
  { stages: ['awaits-pick'], word: 'waiting for a pick', mark: 'warning' },
  { stages: ['stays-paid'], word: 'to collect', mark: 'warning' },
  { stages: ['left'], word: 'not started', mark: 'warning' },
  { stages: [], word: 'queued', mark: 'faint' },
];

function countIn({ stages }: StageSums, ...counted: readonly Stage[]): number {
  return counted.reduce((sum, stage) => sum + (stages.get(stage) ?? 0), 0);
}

export function doneIn(task: StageSums): number {
  return countIn(task, 'done', 'kept', 'unneeded');
}

export function busyIn(task: StageSums): number {
  return countIn(task, 'working', 'searching', 'running', 'saving');
}

/** Counts unfinished steps by stage. Steps without any event are `queued`, or `not started` after the run. */
export function stageCounts({ steps, stages }: StageSums, { isOver }: { isOver: boolean }): StageCount[] {
  const unnamed = steps - [...stages.values()].reduce((sum, count) => sum + count, 0);
  const counts = stageWords.map(({ stages: own, word, mark }): StageCount => {
    const rest = (word === 'queued' && !isOver) || (word === 'not started' && isOver) ? Math.max(0, unnamed) : 0;
    return { count: countIn({ steps, stages }, ...own) + rest, word, mark };
  });
  return counts.filter(({ count }) => count > 0);
}

export function countSteps({ tasks }: Pick<RunView, 'tasks'>, ...stages: readonly Stage[]): number {
  return [...tasks.values()].reduce((sum, task) => sum + countIn(task, ...stages), 0);
}

export function progressText(view: RunView, options: { isOver: boolean }): string {
  const stages = new Map<Stage, number>();
  for (const task of view.tasks.values())
    for (const [stage, count] of task.stages) stages.set(stage, (stages.get(stage) ?? 0) + count);
  const sums = { steps: view.steps, stages };
  const others = stageCounts(sums, options).map(({ count, word }) => `${creditsText(count)} ${word}`);
  return [`${creditsText(doneIn(sums))} of ${creditsText(view.steps)} done`, ...others].join(', ');
}

export function awaitedGatesText(gates: number, page: string | undefined): string {
  return `waiting for ${countOf(gates, 'gate')}${page === undefined ? '' : ` · ${page}`}`;
}

export function awaitedText(awaited: NonNullable<RunView['awaited']>, now: number): string {
  const leftMs = Date.parse(awaited.nextTryAt) - now;
  const next = leftMs <= 0 ? 'trying now' : `next try in ${spanText(leftMs)}`;
  return `waiting for credits until ${clockText(awaited.until, now)}; ${next}`;
}

export function endText(view: RunView, elapsedMs: number): string {
  const spent = countOf(view.money.spentNow, 'credit');
  return `${safeText(view.campaign)}: ${progressText(view, { isOver: true })}; ${spent} spent in ${elapsedText(elapsedMs)}`;
}

const stopWords: { readonly [because in StopReason]: string } = {
  budget: 'no more steps fit into the budget',
  limit: 'no more steps fit into the credit limit',
  price: 'steps whose price the approved total does not cover are not bought',
  balance: 'nothing more is bought, because the account has too few credits',
  auth: 'nothing more is bought, because the service refuses the key',
  signal: 'nothing more is bought',
  disk: 'nothing more is bought, because files cannot be written',
  error: 'nothing more is bought, because of an error on this machine',
  unreachable: 'nothing more is bought, because the service cannot be reached',
  throttled: 'nothing more is bought, because the service asks the run to wait',
  failure: 'nothing more is bought after a failure (--on-error finish)',
  alike: 'steps similar to those that failed are not bought',
};

export function stopText(stopped: NonNullable<RunView['stopped']>): string {
  const { because, detail, until } = stopped;
  const words = isNoUser(stopped) ? `nothing more is bought, ${noUser.text}` : stopWords[because];
  if (because === 'signal') return `${interruptionText(stopped)}: ${words}`;
  if (because === 'throttled') return until === undefined ? words : `${words} until ${clockText(until)}`;
  return detail === '' ? words : `${words}: ${safeText(detail)}`;
}

/** Returns whether a create request got a 404, which the service documents as “the user does not exist”. */
export function isNoUser({ because, detail }: NonNullable<RunView['stopped']>): boolean {
  return because === 'auth' && detail.startsWith('HTTP 404');
}

export function stoppingText(stopped: NonNullable<RunView['stopped']>): string {
  if (isCancelled(stopped)) return `${stopText(stopped)}; running jobs are collected`;
  if (stopped.because !== 'signal') return stopText(stopped);
  return `${interruptionText(stopped)}: waiting for open requests; Ctrl-C again quits now`;
}

function interruptionText(stopped: NonNullable<RunView['stopped']>): string {
  if (isCancelled(stopped)) return 'cancelled';
  const { detail } = stopped;
  if (detail === '') return 'interrupted';
  return `interrupted by ${detail === 'SIGINT' ? 'Ctrl-C' : safeText(detail)}`;
}

function isCancelled({ because, detail }: NonNullable<RunView['stopped']>): boolean {
  return because === 'signal' && detail === 'cancelled';
}

const leastWaitMs = 10_000;

export function waitTexts(view: RunView, now: number, page: string | undefined): string[] {
  const { awaited, awaitedGates, askedUntil = 0 } = view;
  const leftMs = askedUntil - now;
  return [
    ...(awaitedGates === undefined ? [] : [awaitedGatesText(awaitedGates, page)]),
    ...(awaited === undefined ? [] : [awaitedText(awaited, now)]),
    ...(leftMs < leastWaitMs
      ? []
      : [`the service asks the run to wait ${spanText(leftMs)}, until ${clockText(askedUntil, now)}`]),
  ];
}

export function totalsText(
  view: RunView,
  { isOver, elapsedMs, remaining }: { isOver: boolean; elapsedMs: number; remaining: Remaining | undefined },
): [steps: string, money: string] {
  const money = `credits ${moneyText({ ...view.money, balance: null })}`;
  const time = remaining === undefined ? [] : [remainingText(remaining)];
  return [progressText(view, { isOver }), [money, elapsedText(elapsedMs), ...time].join(' · ')];
}

function remainingText(remaining: Remaining): string {
  if (remaining === 'unknown') return 'time unknown';
  return remaining === 'overdue' ? 'longer than usual' : `about ${rangeText(remaining)} left`;
}
