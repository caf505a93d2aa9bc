import { call, way } from '../../ground/advice.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import type { StepState } from '../../plan/situation/situation.ts';
import { type Paste, waysBlock } from '../advice-text.ts';
import {
  active,
  type Block,
  bad,
  command,
  type Document,
  type Fact,
  facts,
  faint,
  joined,
  type Line,
  line,
  listOf,
  type Mark,
  type Span,
  strong,
  warning,
} from '../document.ts';
import { clockText, countOf, countWords, creditsText, moneyText } from '../numbers.ts';
import { groupLines, redoWay, unfitMends } from '../run/summary-text.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { GateStatus, StatusView, StepStatus, TaskStatus } from './status.ts';

const shownNames = 10;

export function statusView(view: StatusView, { paste, now }: { paste: Paste; now?: number }): Document {
  const { run, tasks, pinned, accepted, orphans, gates = [], rows } = view;
  const missing = sum(tasks, ({ filesMissing }) => filesMissing);
  const since = run && clockText(run.since, now ?? Date.parse(run.since));
  const failed = rows.filter(({ state }) => state === 'failed' || state === 'lost');
  return [
    line([strong(view.campaign), `: ${doneText(view)}`]),
    tasks.length === 0 ? undefined : tasksTable(tasks),
    facts([
      run && { label: 'run', text: active(`in progress on ${run.host} since ${since}`) },
      { label: 'credits', text: moneyText({ ...view.credits, spentEver: view.credits.spent }) },
      postsFact(view),
      missing === 0
        ? undefined
        : {
            label: 'files',
            text: [
              warning(`${countOf(missing, 'paid file')} missing or changed`),
              `; apply fetches ${missing === 1 ? 'it' : 'them'} for free`,
            ],
          },
      namesFact('pinned', pinned, 'kept despite changes'),
      namesFact('accepted', accepted, 'with a changed input'),
      gates.length === 0 ? undefined : gatesFact(gates, paste),
      namesFact('orphans', orphans, 'in the lock, not in the manifest'),
    ]),
    failed.length === 0 ? undefined : line(bad('failed'), failedLines(failed, paste)),
    unresolvedLine(rows, paste),
  ];
}

function namesFact(label: string, names: readonly string[], words: string): Fact | undefined {
  if (names.length === 0) return undefined;
  return { label, text: `${countOf(names.length, 'step')} ${words}: ${shortList(names, shownNames)}` };
}

function gatesFact(gates: readonly GateStatus[], paste: Paste): Fact {
  const open = gates.filter(({ state }) => state !== 'rejected');
  const rejected = gates.filter(({ state }) => state === 'rejected').map(({ name }) => name);
  const lost = rejected.length === 0 ? '' : `; rejected: ${shortList(rejected, shownNames)}`;
  const names = shortList(open.map(gateText), shownNames);
  const [example] = open.flatMap(({ toSee }) => toSee);
  return {
    label: 'gates',
    text:
      open.length === 0
        ? `every gate is decided${lost}`
        : warning(`${countOf(open.length, 'gate')} open: ${names}${lost}`),
    below: waysBlock(
      example === undefined
        ? []
        : [
            way('to review the outputs, and pick by keyboard', call('review')),
            way('or to pick by name, as in', call('pick', example)),
          ],
      paste,
    ),
  };
}

function doneText({ tasks, steps }: StatusView): string {
  const unneeded = sum(tasks, ({ states }) => states.unneeded);
  const notes = unneeded === 0 ? '' : ` (${creditsText(unneeded)} not needed)`;
  return `${creditsText(sum(tasks, doneOf))} of ${countOf(steps, 'step')} done${notes}`;
}

function doneOf({ states }: TaskStatus): number {
  return states.done + states.unneeded;
}

function gateText({ name, state, choose, toSee, picked }: GateStatus): string {
  if (state === 'contested') return `${name} (${picked.length} picked, at most ${choose} allowed)`;
  return `${name} (${toSee.length} to review)`;
}

function unresolvedLine(rows: readonly StepStatus[], paste: Paste): Line | undefined {
  const unresolved = rows.filter(({ state }) => state === 'unresolved');
  if (unresolved.length === 0) return undefined;
  const asked = unresolved.find(({ recoverable }) => recoverable !== true);
  return asked === undefined
    ? command('to check the unresolved steps without paying twice', paste(call('apply')))
    : command('to decide about the unresolved steps', paste(call('resolve', asked.address)));
}

function failedLines(rows: readonly StepStatus[], paste: Paste): Document {
  const failed = rows.map(({ state, ...row }) => ({ ...row, stage: state }));
  const unfit = failed.filter(({ code }) => code === 'unfit');
  const others = failed.filter(({ code }) => code !== 'unfit');
  const mends = [
    ...(unfit.length === 0 ? [] : unfitMends(unfit, { areAll: others.length === 0 })),
    ...(others.length === 0 ? [] : [redoWay(others)]),
  ];
  const select = [...new Set(rows.map(({ state }) => `state:${state}`))].join(' ');
  return groupLines(failed, { paste, select, mends });
}

function tasksTable(tasks: readonly TaskStatus[]): Block {
  return listOf(
    tasks,
    [
      { title: 'task', least: 12, cut: 'middle', of: ({ id }) => id },
      { title: 'kind', least: 4, of: ({ kind }) => faint(kind) },
      { title: 'done', align: 'right', of: (task) => `${creditsText(doneOf(task))} of ${creditsText(task.steps)}` },
      { title: 'rest', cut: 'wrap', least: 16, of: (task) => joined(restWords(task)) },
    ],
    { hasHead: false },
  );
}

function restWords(task: TaskStatus): Span[] {
  const { states, unsaved, kind, filesMissing } = task;
  const words: [count: number, span: (text: string) => Span, word: string][] = [
    [states.running - unsaved, active, 'running'],
    [unsaved, active, 'finished, not saved'],
    [states.failed, bad, 'failed'],
    [states.lost, bad, 'lost'],
    [states.unresolved, warning, 'unresolved'],
    [states.changed, warning, 'changed since'],
    [states['not-bought'], faint, isPost(kind) ? 'not posted' : 'not bought'],
    [states.unneeded, faint, 'not needed'],
    [filesMissing, warning, filesMissing === 1 ? 'file missing' : 'files missing'],
  ];
  return words.flatMap(([count, span, word]) => (count > 0 ? [span(`${creditsText(count)} ${word}`)] : []));
}

function postsFact({ tasks, rows }: StatusView): Fact | undefined {
  const scheduled = rows.filter(({ scheduledFor }) => scheduledFor !== undefined).length;
  const posts = tasks.filter(({ kind }) => isPost(kind));
  const sent = sum(posts, ({ states }) => states.done + states.changed + states.running + states.lost);
  const parts = countWords([
    [sent - scheduled, 'posted'],
    [scheduled, 'scheduled'],
  ]);
  return parts.length === 0 ? undefined : { label: 'posts', text: parts.join(' · ') };
}

function sum(tasks: readonly TaskStatus[], pick: (task: TaskStatus) => number): number {
  return tasks.reduce((total, task) => total + pick(task), 0);
}

export function stepsView(steps: readonly StepStatus[]): Document {
  return [
    listOf(steps, [
      { title: 'step', of: ({ address }) => address },
      { title: 'kind', least: 4, of: ({ kind }) => kind },
      {
        title: 'state',
        of: ({ unsaved, state }) => ({ text: unsaved ? 'finished, not saved' : state, mark: marks[state] }),
      },
      {
        title: 'credits',
        align: 'right',
        of: ({ credits }) => (credits === undefined ? '' : creditsText(credits)),
      },
      { title: 'job', least: 8, of: ({ jobId = '' }) => jobId },
      { title: 'file', least: 12, cut: 'middle', of: fileText },
      { title: 'error', least: 20, of: ({ error = '' }) => safeText(error, 500) },
    ]),
  ];
}

const marks: { readonly [state in StepState]: Mark } = {
  done: 'good',
  running: 'active',
  failed: 'bad',
  lost: 'bad',
  unresolved: 'warning',
  changed: 'warning',
  'not-bought': 'faint',
  unneeded: 'faint',
};

function fileText({ file, fileState }: StepStatus): string {
  if (file === undefined) return '';
  return fileState === 'intact' || fileState === undefined ? file : `${file} (${fileState})`;
}
