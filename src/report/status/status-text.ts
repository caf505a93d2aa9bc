import { call } from '../../ground/advice.ts';
import type { Json } from '../../ground/json.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import type { StepState } from '../../plan/situation/step-state.ts';
import type { Paste } from '../advice-text.ts';
import { clockText, countOf, creditsText } from '../numbers.ts';
import { groupLines, unfitMends } from '../run/summary-troubles.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from '../tables/table.ts';
import { cutMiddle, displayWidth, padLeft, padRight, wrapLines } from '../text-width.ts';
import type { GateStatus, StatusView, TaskStatus } from './status.ts';
import type { StepStatus } from './step-status.ts';

const shownNames = 10;

export interface StatusTextOptions {
  style: Style;
  /** Writes the commands of the hints. */
  paste: Paste;
  /** A person selected the steps: they want to know which. */
  isSelection?: boolean;
  /** Milliseconds since 1970. */
  now?: number;
  /** Columns of the terminal. Absent: lines are as long as they are. */
  width?: number;
}

/** State of a campaign, for people. Ends with a line feed. */
export function statusText(view: StatusView, options: StatusTextOptions): string {
  const { style } = options;
  const lines = [`${style.bold(safeText(view.campaign))}: ${doneText(view)}`, ''];
  if (view.tasks.length > 0) lines.push(...taskLines(view.tasks, style), '');
  if (view.run !== undefined) {
    const { host, since } = view.run;
    const began = clockText(since, options.now ?? Date.parse(since));
    lines.push(`run      ${style.cyan(safeText(`under way on ${host} since ${began}`))}`);
  }
  lines.push(`credits  ${creditsLine(view)}`, ...postLines(view));
  const missing = sum(view.tasks, ({ filesMissing }) => filesMissing);
  if (missing > 0) {
    lines.push(
      `files    ${style.yellow(`${countOf(missing, 'paid file')} missing or changed`)}; apply fetches ${missing === 1 ? 'it' : 'them'} for free`,
    );
  }
  if (view.pinned.length > 0) {
    lines.push(
      `pinned   ${countOf(view.pinned.length, 'step')} kept whatever changes: ${shortList(view.pinned, shownNames)}`,
    );
  }
  if (view.accepted.length > 0) {
    lines.push(
      `accepted ${countOf(view.accepted.length, 'step')} with a changed input: ${shortList(view.accepted, shownNames)}`,
    );
  }
  if (view.gates !== undefined) lines.push(...gateLines(view.gates, options));
  if (view.orphans.length > 0) {
    lines.push(
      `orphans  ${countOf(view.orphans.length, 'step')} in the lock, not in the manifest: ${shortList(view.orphans, shownNames)}`,
    );
  }
  const others = options.isSelection === true ? view.rows.filter((row) => !isFailed(row)) : [];
  if (others.length > 0) {
    const names = others.map(({ address }) => address);
    lines.push(`steps    ${shortList(names, shownNames)}; --list shows each`);
  }
  lines.push(...failedLines(view.rows.filter(isFailed), options));
  return `${wrapLines(lines, options.width).join('\n')}\n`;
}

/** Lists open gates, and says how they are decided. */
function gateLines(gates: readonly GateStatus[], { style, paste }: StatusTextOptions): string[] {
  const example = gates.find(({ state, toSee }) => state !== 'rejected' && toSee.length > 0)?.toSee[0];
  return [
    `gates    ${style.yellow(`${countOf(gates.length, 'gate')} open`)}: ${shortList(gates.map(gateText), shownNames)}`,
    ...(example === undefined
      ? []
      : [
          `    to look at them, and pick by keys: ${paste(call('review'))}`,
          `    or to pick by name, as in: ${paste(call('pick', example))}`,
        ]),
  ];
}

/** Counts as the summary of a run does. */
function doneText({ tasks, steps }: StatusView): string {
  const unneeded = sum(tasks, ({ states }) => states.unneeded);
  const notes = unneeded === 0 ? '' : ` (${creditsText(unneeded)} turned out not to be needed)`;
  return `${creditsText(sum(tasks, doneOf))} of ${countOf(steps, 'step')} done${notes}`;
}

function doneOf({ states }: TaskStatus): number {
  return states.done + states.unneeded;
}

export function gateText({ name, state, choose, toSee, picked }: GateStatus): string {
  if (state === 'contested') return `${name} (${picked.length} are picked, ${choose} is to be)`;
  return state === 'rejected' ? `${name} (rejected)` : `${name} (${toSee.length} to see)`;
}

function isFailed({ state }: StepStatus): boolean {
  return state === 'failed' || state === 'lost';
}

/** Lists what failed, by cause, and says how it is bought again. */
function failedLines(failed: readonly StepStatus[], { style, paste }: StatusTextOptions): string[] {
  if (failed.length === 0) return [];
  const kept = failed.filter(({ code }) => code === 'unfit');
  const [only, ...others] = failed.filter(({ code }) => code !== 'unfit');
  const select = [...new Set(failed.map(({ state }) => `state:${state}`))].join(' ');
  const mends = kept.length === 0 ? [] : unfitMends(kept, { paste, areAll: only === undefined });
  if (only !== undefined) {
    const all = others.length === 0 ? 'it' : `all ${others.length + 1}`;
    mends.push(`to buy ${all} again: ${paste(call('apply', '--redo', others.length === 0 ? only.address : select))}`);
  }
  return ['', style.red('failed'), ...groupLines(failed, { paste, select }), ...mends.map((line) => `    ${line}`)];
}

/** The same for programs: the view itself, with its name and version. */
export function statusJson(view: StatusView): { [key: string]: Json } {
  const { campaign, from, steps, tasks, rows, run, credits, orphans, pinned, accepted, gates } = view;
  return {
    mediabatch: 'status',
    version: 1,
    campaign,
    from,
    steps,
    tasks: tasks.map(({ id, kind, steps: ofTask, states, unsaved, filesMissing }) => ({
      id,
      kind,
      steps: ofTask,
      states: { ...states },
      unsaved,
      filesMissing,
    })),
    rows: rows.map(({ post, ...row }) => ({ ...row, ...(post !== undefined && { post: { ...post } }) })),
    ...(run !== undefined && { run: { ...run } }),
    credits: { ...credits },
    orphans,
    pinned,
    accepted,
    ...(gates !== undefined && { gates: gates.map((gate) => ({ ...gate })) }),
  };
}

function taskLines(tasks: TaskStatus[], style: Style): string[] {
  const id = Math.min(40, widest(tasks.map((task) => safeText(task.id, 100))));
  const kind = Math.min(12, widest(tasks.map((task) => safeText(task.kind, 40))));
  const done = widest(tasks.map((task) => creditsText(doneOf(task))));
  const all = widest(tasks.map(({ steps }) => creditsText(steps)));
  return tasks.map((task) => {
    const name = padRight(cutMiddle(safeText(task.id, 100), id), id);
    const count = `${padLeft(creditsText(doneOf(task)), done)} of ${padLeft(creditsText(task.steps), all)}`;
    const rest = restWords(task, style);
    const kindText = style.dim(padRight(cutMiddle(safeText(task.kind, 40), kind), kind));
    return `  ${name}  ${kindText}  ${[count, ...rest].join(' · ')}`;
  });
}

function restWords(task: TaskStatus, style: Style): string[] {
  const words: string[] = [];
  const add = (state: Exclude<StepState, 'done' | 'running'>, word: string, paint: (text: string) => string) => {
    if (task.states[state] > 0) words.push(paint(`${creditsText(task.states[state])} ${word}`));
  };
  const running = task.states.running - task.unsaved;
  if (running > 0) words.push(style.cyan(`${creditsText(running)} running`));
  if (task.unsaved > 0) words.push(style.cyan(`${creditsText(task.unsaved)} finished, not saved`));
  add('failed', 'failed', style.red);
  add('lost', 'lost', style.red);
  add('unresolved', 'unresolved', style.yellow);
  add('changed', 'changed since', style.yellow);
  add('not-bought', isPost(task.kind) ? 'not posted' : 'not bought', style.dim);
  add('unneeded', 'not needed', style.dim);
  if (task.filesMissing > 0) words.push(style.yellow(`${countOf(task.filesMissing, 'file')} missing`));
  return words;
}

/** Posts separately: a published one cannot be taken back. */
function postLines({ tasks, rows }: StatusView): string[] {
  const scheduled = rows.filter(({ scheduledFor }) => scheduledFor !== undefined).length;
  const posts = tasks.filter(({ kind }) => isPost(kind));
  const of = (state: StepState) => posts.reduce((total, { states }) => total + states[state], 0);
  const out = of('done') + of('changed') + of('running') + of('lost') - scheduled;
  const changed = of('changed') > 0 ? ` (${creditsText(of('changed'))} changed since, and stay as they are)` : '';
  const parts = [
    ...(scheduled > 0 ? [`${creditsText(scheduled)} scheduled`] : []),
    ...(out > 0 || scheduled === 0 ? [`${creditsText(out)} posted${changed}`] : []),
    ...(of('not-bought') > 0 ? [`${creditsText(of('not-bought'))} not posted`] : []),
    ...(of('failed') > 0 ? [`${creditsText(of('failed'))} failed`] : []),
    ...(of('unresolved') > 0 ? [`${creditsText(of('unresolved'))} unresolved`] : []),
  ];
  const isNeeded = posts.some(({ steps, states }) => states.unneeded < steps);
  return isNeeded ? [`posts    ${parts.join(' · ')}`] : [];
}

function creditsLine({ credits }: StatusView): string {
  const { spent, held, heldUnknown, budget, left } = credits;
  const parts = [`${creditsText(spent)} spent`];
  const unknown = heldUnknown > 0 ? `${countOf(heldUnknown, 'create')} of unknown price` : '';
  if (held > 0) parts.push(`${creditsText(held)} reserved${unknown === '' ? '' : ` + ${unknown}`}`);
  else if (unknown !== '') parts.push(unknown);
  if (budget !== undefined) parts.push(`${creditsText(left ?? 0)} of ${creditsText(budget)} left`);
  return parts.join(' · ');
}

function sum(tasks: TaskStatus[], pick: (task: TaskStatus) => number): number {
  return tasks.reduce((total, task) => total + pick(task), 0);
}

function widest(texts: string[]): number {
  return texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0);
}

/** A row for each step. */
export function stepsText(steps: readonly StepStatus[], options: { style: Style; width?: number }): string {
  const { style } = options;
  const paint: { [state in StepState]: (text: string) => string } = {
    done: style.green,
    running: style.cyan,
    failed: style.red,
    lost: style.red,
    unresolved: style.yellow,
    changed: style.yellow,
    'not-bought': style.dim,
    unneeded: style.dim,
  };
  const rows = steps.map((step): Cell[] => [
    step.address,
    step.kind,
    { text: step.unsaved ? 'finished, not saved' : step.state, paint: paint[step.state] },
    step.credits === undefined ? '' : creditsText(step.credits),
    step.jobId ?? '',
    fileText(step),
    step.error === undefined ? '' : safeText(step.error, 500),
  ]);
  const columns = [
    { title: 'step' },
    { title: 'kind', least: 4 },
    { title: 'state' },
    { title: 'credits', align: 'right' as const },
    { title: 'job', least: 8 },
    { title: 'file', least: 12, cut: 'middle' as const },
    { title: 'error', least: 20 },
  ];
  return tableText(columns, rows, options);
}

function fileText({ file, fileState }: StepStatus): string {
  if (file === undefined) return '';
  return fileState === 'intact' || fileState === undefined ? file : `${file} (${fileState})`;
}
