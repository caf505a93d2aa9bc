import type { Json } from '../../ground/json.ts';
import { call } from '../../plan/advice.ts';
import { isPost } from '../../plan/post-record.ts';
import type { StepState } from '../../plan/step-state.ts';
import type { Paste } from '../advice-text.ts';
import { countOf, creditsText } from '../numbers.ts';
import { groupLines } from '../run/summary-troubles.ts';
import { safeText } from '../safe-text.ts';
import { shortList } from '../short-list.ts';
import type { Style } from '../style.ts';
import { cutMiddle, displayWidth, padLeft, padRight } from '../text-width.ts';
import type { GateStatus, StatusView, TaskStatus } from './status.ts';
import type { StepStatus } from './step-status.ts';

const shownNames = 10;

export interface StatusTextOptions {
  style: Style;
  /** Writes the commands of the hints. */
  paste: Paste;
  /** A person selected the steps: they want to know which. */
  isSelection?: boolean;
}

/** State of a campaign, for people. Ends with a line feed. */
export function statusText(view: StatusView, options: StatusTextOptions): string {
  const { style } = options;
  const done = sum(view.tasks, ({ states }) => states.done);
  const lines = [`${style.bold(safeText(view.campaign))}: ${done} of ${countOf(view.steps, 'step')} done`, ''];
  if (view.tasks.length > 0) lines.push(...taskLines(view.tasks, style), '');
  if (view.run !== undefined) {
    const { pid, host, since } = view.run;
    lines.push(`run      ${style.cyan(safeText(`process ${pid} on ${host} has held the lock since ${since}`))}`);
  }
  lines.push(`credits  ${creditsLine(view)}`, ...postLines(view.tasks));
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
  if (view.gates !== undefined) {
    lines.push(
      `gates    ${style.yellow(`${countOf(view.gates.length, 'gate')} open`)}: ${shortList(view.gates.map(gateText), shownNames)}`,
    );
  }
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
  return `${lines.join('\n')}\n`;
}

function gateText({ name, state, choose, toSee, picked }: GateStatus): string {
  if (state === 'contested') return `${name} (${picked.length} are picked, ${choose} is to be)`;
  return state === 'rejected' ? `${name} (rejected)` : `${name} (${toSee.length} to see)`;
}

function isFailed({ state }: StepStatus): boolean {
  return state === 'failed' || state === 'lost';
}

/** Lists what failed, by cause, and says how it is bought again. */
function failedLines(failed: readonly StepStatus[], { style, paste }: StatusTextOptions): string[] {
  const [only, ...others] = failed;
  if (only === undefined) return [];
  const select = [...new Set(failed.map(({ state }) => `state:${state}`))].join(' ');
  const all = others.length === 0 ? 'it' : `all ${failed.length}`;
  const redo = paste(call('apply', '--redo', others.length === 0 ? only.address : select));
  return ['', style.red('failed'), ...groupLines(failed, { paste, select }), `    to buy ${all} again: ${redo}`];
}

/** The same for programs: the view itself, with its name and version. */
export function statusJson(view: StatusView): Json {
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
    rows: rows.map((row) => ({ ...row })),
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
  const done = widest(tasks.map(({ states }) => creditsText(states.done)));
  const all = widest(tasks.map(({ steps }) => creditsText(steps)));
  return tasks.map((task) => {
    const name = padRight(cutMiddle(safeText(task.id, 100), id), id);
    const count = `${padLeft(creditsText(task.states.done), done)} of ${padLeft(creditsText(task.steps), all)}`;
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
  if (task.filesMissing > 0) words.push(style.yellow(`${countOf(task.filesMissing, 'file')} missing`));
  return words;
}

/** Posts separately: a published one cannot be taken back. */
function postLines(tasks: readonly TaskStatus[]): string[] {
  const posts = tasks.filter(({ kind }) => isPost(kind));
  const of = (state: StepState) => posts.reduce((total, { states }) => total + states[state], 0);
  const out = of('done') + of('changed') + of('running') + of('lost');
  const changed = of('changed') > 0 ? ` (${creditsText(of('changed'))} changed since, and stay as they are)` : '';
  const parts = [
    `${creditsText(out)} posted${changed}`,
    ...(of('not-bought') > 0 ? [`${creditsText(of('not-bought'))} not posted`] : []),
    ...(of('failed') > 0 ? [`${creditsText(of('failed'))} failed`] : []),
    ...(of('unresolved') > 0 ? [`${creditsText(of('unresolved'))} unresolved`] : []),
  ];
  return posts.length === 0 ? [] : [`posts    ${parts.join(' · ')}`];
}

function creditsLine({ credits }: StatusView): string {
  const { spent, held, heldUnknown, budget, left } = credits;
  const parts = [`${creditsText(spent)} spent`];
  const unknown = heldUnknown > 0 ? `${countOf(heldUnknown, 'create')} of unknown price` : '';
  if (held > 0) parts.push(`${creditsText(held)} held${unknown === '' ? '' : ` + ${unknown}`}`);
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
