import { kinds } from '../../kinds/index.ts';
import { spanText } from '../age-text.ts';
import { countOf, creditsText, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Money, RunView, Stage, TaskView } from './run-view.ts';

export type Tone = 'plain' | 'bad' | 'unsure';

/** A short text with its coloring. */
export interface Word {
  text: string;
  tone: Tone;
}

/**
 * `7 of 12`, `2 running`, `3 saving`, `1 failed`: words of a task's row on the screen. Their numbers add up to its steps.
 * `isOver`: what is not begun by now is not begun by this run.
 */
export function taskWords(task: Pick<TaskView, 'kind' | 'steps' | 'stages'>, { isOver }: { isOver: boolean }): Word[] {
  const of = (...stages: Stage[]) => stages.reduce((sum, stage) => sum + (task.stages.get(stage) ?? 0), 0);
  const words: Word[] = [{ text: `${of('done', 'kept', 'unneeded')} of ${task.steps}`, tone: 'plain' }];
  const add = (count: number, word: string, tone: Tone) => {
    if (count > 0) words.push({ text: `${count} ${word}`, tone });
  };
  const named = [...task.stages.values()].reduce((sum, count) => sum + count, 0);
  const queued = Math.max(0, task.steps - named);
  add(of('running'), 'running', 'plain');
  add(of('saving'), 'saving', 'plain');
  add(of('working'), startingWord(task.kind), 'plain');
  if (!isOver) add(queued, 'queued', 'plain');
  add(of('failed', 'lost', 'refused'), 'failed', 'bad');
  add(of('unresolved'), 'unresolved', 'unsure');
  add(of('blocked'), 'blocked', 'unsure');
  add(of('awaits-consent'), 'waiting for consent', 'unsure');
  add(of('awaits-pick'), 'waiting for a pick', 'unsure');
  add(of('stays-paid'), 'to collect', 'unsure');
  add(of('left') + (isOver ? queued : 0), 'not started', 'unsure');
  return words;
}

/** Names what a step does before it has a job, if it ever has one. */
function startingWord(kind: string): string {
  const act = kinds[kind]?.act ?? 'job';
  switch (act) {
    case 'job':
      return 'starting';
    case 'upload':
      return 'uploading';
    case 'post':
      return 'publishing';
    default:
      return act satisfies never;
  }
}

/** State of a task as a whole: `open` while any of its steps is to come or under way. */
export function taskState(task: TaskView): 'open' | 'done' | 'failed' | 'unfinished' {
  const of = (stage: Stage) => task.stages.get(stage) ?? 0;
  const named = [...task.stages.values()].reduce((sum, count) => sum + count, 0);
  if (named < task.steps || of('working') + of('running') + of('saving') > 0) return 'open';
  if (of('failed') + of('lost') + of('refused') > 0) return 'failed';
  return of('done') + of('kept') + of('unneeded') === task.steps ? 'done' : 'unfinished';
}

/** `credits 23 spent (5 now) · 6 held · of 120 · 0:41`. */
export function moneyRow(money: Money, elapsedMs: number): string {
  const { spentNow, spentEver, held, budget } = money;
  const now = spentEver === spentNow ? '' : ` (${creditsText(spentNow)} now)`;
  const parts = [`credits ${creditsText(spentEver)} spent${now}`];
  if (held > 0) parts.push(`${creditsText(held)} held`);
  if (budget !== null) parts.push(`of ${creditsText(budget)}`);
  return [...parts, elapsedText(elapsedMs)].join(' · ');
}

/** `12 of 60 left`, or the service's balance; empty when nothing is known. */
export function leftText(money: Money): string {
  const { budget, spentEver, held, balance } = money;
  if (budget !== null) return `${creditsText(Math.max(0, budget - spentEver - held))} of ${creditsText(budget)} left`;
  return balance === null ? '' : `balance ${creditsText(balance)}`;
}

/** `7 of 12 done, 2 running`: the whole run on one line. */
export function progressText(view: RunView, options: { isOver: boolean }): string {
  const counts = new Map<Stage, number>(view.settled.stages);
  for (const { stage } of view.stepsByAddress.values()) counts.set(stage, (counts.get(stage) ?? 0) + 1);
  return taskWords({ kind: '', steps: view.steps, stages: counts }, options)
    .map(({ text }, index) => (index === 0 ? `${text} done` : text))
    .join(', ');
}

/** `waiting for 3 gates · http://127.0.0.1:…/`: people decide there, and then the run goes on. */
export function awaitedGatesText(gates: number, page: string | undefined): string {
  return `waiting for ${countOf(gates, 'gate')}${page === undefined ? '' : ` · ${page}`}`;
}

/** `waiting for credits until 14:05; next try in 2 min`, by this machine's clock and time zone. */
export function awaitedText(awaited: NonNullable<RunView['awaited']>, now: number): string {
  const leftMs = Date.parse(awaited.nextTryAt) - now;
  const next = leftMs <= 0 ? 'trying now' : `next try in ${spanText(leftMs)}`;
  return `${awaitedUntilText(awaited, now)}; ${next}`;
}

/** `waiting for credits until 14:05`. */
export function awaitedUntilText(awaited: { until: string }, now: number): string {
  const until = new Date(awaited.until);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(until.getHours())}:${two(until.getMinutes())}`;
  const isToday = until.toDateString() === new Date(now).toDateString();
  const day = isToday ? '' : ` on ${until.getFullYear()}-${two(until.getMonth() + 1)}-${two(until.getDate())}`;
  return `waiting for credits until ${time}${day}`;
}

/** The end of a run on one line. */
export function endText(view: RunView, elapsedMs: number): string {
  const spent = countOf(view.money.spentNow, 'credit');
  return `${safeText(view.campaign)}: ${progressText(view, { isOver: true })}; ${spent} spent in ${elapsedText(elapsedMs)}`;
}

/** Reason why no further create is sent, worded as the beginning of a sentence. */
export function stopText(stopped: NonNullable<RunView['stopped']>): string {
  const detail = stopped.detail === '' ? '' : `: ${safeText(stopped.detail)}`;
  switch (stopped.because) {
    case 'budget':
      return `nothing more fits into the budget${detail}`;
    case 'price':
      return `nothing more is bought at a price that would pass what was agreed to${detail}`;
    case 'balance':
      return `nothing more is bought, the account has too few credits${detail}`;
    case 'auth':
      return `nothing more is bought, the service refuses the key${detail}`;
    case 'signal':
      return `nothing more is bought, the run was interrupted${detail}`;
    case 'disk':
      return `nothing more is bought, this machine cannot write${detail}`;
    case 'error':
      return `nothing more is bought, something went wrong here${detail}`;
    case 'unreachable':
      return `nothing more is bought, the service cannot be reached${detail}`;
    case 'failure':
      return `nothing more is bought after a failure (--on-error finish)${detail}`;
    case 'alike':
      return `no more is bought of what fails alike${detail}`;
    default:
      return stopped.because satisfies never;
  }
}

/** The same while the run still goes on: what it waits for, and how not to wait. */
export function stoppingText(stopped: NonNullable<RunView['stopped']>): string {
  const text = stopText(stopped);
  return stopped.because === 'signal' ? `${text}; what is on the wire is awaited, a second time leaves at once` : text;
}
