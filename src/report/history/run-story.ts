import type { HistoryLine, RunClose, RunHeader } from '../../contract/event.ts';
import { defined, groupBy } from '../../ground/values.ts';
import {
  active,
  type Block,
  bad,
  type Document,
  facts,
  faint,
  good,
  line,
  listOf,
  someLines,
  strong,
  type Text,
  warning,
} from '../document.ts';
import { clockText, costCell, costText, countCell, countWords, creditsText, elapsedText } from '../numbers.ts';
import { createRunView, foldEvent, hasEnded, type RunView, type StepView } from '../run/run-view.ts';

/** A run, read from its history file. A field is omitted if the file lacks the lines that contain it. */
export interface RunStory
  extends Partial<Omit<RunHeader, 'mediabatch' | 'version' | 'id' | 'steps' | 'totals'>>,
    Partial<Pick<RunClose, 'how' | 'exit' | 'error' | 'elapsedMs' | 'unsaved' | 'dropped'>> {
  id: string;
  planned?: number;
  unknownPrices?: number;
  stopped?: string;
  /** Credits charged, according to the available history lines. */
  spentNow: number;
  outcomes: { [outcome: string]: number };
}

interface StepStory {
  address: string;
  task: string;
  kind: string;
  action: string;
  outcome?: string;
  /** Credits charged, or `null` if unknown. */
  credits: number | null;
  files: string[];
  /** Set for a `running` step whose job has finished. */
  unsaved?: true;
  error?: string;
}

interface WholeStory extends RunStory {
  steps: StepStory[];
  notices: string[];
}

export function foldRun(lines: readonly HistoryLine[]): RunView {
  const view = createRunView({ keepsDone: true });
  for (const line of lines) if ('event' in line) foldEvent(view, line);
  return view;
}

/** Summarizes a run. `lines`: lines of the run's history file, at least the first and the last lines. */
export function summarizeRun(id: string, lines: readonly HistoryLine[]): RunStory {
  return storyOf(id, lines, foldRun(lines));
}

export function summarizeWholeRun(id: string, lines: readonly HistoryLine[]): WholeStory {
  const view = foldRun(lines);
  const story = storyOf(id, lines, view);
  const steps = [...view.stepsByAddress.values()].map(stepOf);
  const outcomes = Object.keys(story.outcomes).length === 0 ? countOutcomes(steps) : story.outcomes;
  return { ...story, outcomes, steps, notices: [...view.notices] };
}

function countOutcomes(steps: readonly StepStory[]): RunStory['outcomes'] {
  const counts = new Map<string, number>();
  for (const { outcome = 'open' } of steps) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function storyOf(id: string, lines: readonly HistoryLine[], view: RunView): RunStory {
  let head: Omit<RunStory, 'id' | 'spentNow' | 'outcomes'> = {};
  let close: Omit<Partial<RunClose>, 'mediabatch' | 'version' | 'at'> = {};
  for (const line of lines) {
    if ('event' in line) continue;
    if (line.mediabatch === 'run') head = headOf(line);
    else if (line.mediabatch === 'run-close') {
      const { mediabatch: _mediabatch, version: _version, at: _at, ...end } = line;
      close = end;
    }
  }
  const { money, stopped, end } = view;
  const last = lines.at(-1)?.at;
  const took = head.at === undefined || last === undefined ? undefined : Date.parse(last) - Date.parse(head.at);
  return {
    ...{ id, ...head, spentNow: money.spentNow, outcomes: {} },
    ...(took !== undefined && { elapsedMs: Math.max(0, took) }),
    ...defined({ stopped: stopped?.because }),
    ...end,
    ...close,
  };
}

function headOf({ mediabatch: _mediabatch, version: _version, id: _id, steps: _steps, ...line }: RunHeader) {
  const { totals, ...head } = line;
  return { ...head, planned: totals.knownPrices, unknownPrices: totals.unknownPrices };
}

function stepOf({ address, task, kind, action, stage, credits, files, error, hasCompletedJob }: StepView): StepStory {
  const isWaiting = stage === 'awaits-consent' || stage === 'awaits-pick';
  const outcome = stage === 'stays-paid' ? 'running' : isWaiting ? 'blocked' : stage;
  return {
    ...{ address, task, kind, action, credits, files },
    ...(hasEnded(stage) && { outcome }),
    ...(outcome === 'running' && hasCompletedJob && { unsaved: true as const }),
    ...defined({ error }),
  };
}

const mostProblems = 20;
const mostNotices = 10;
const endings: Readonly<Record<number, string>> = {
  0: 'done',
  3: 'some failed',
  5: 'waits for a user',
  6: 'needs a decision',
  69: 'unreachable',
  73: 'could not write',
  77: 'key refused',
  130: 'interrupted',
};

export function runsView(runs: readonly RunStory[], running?: string): Document {
  return [
    listOf(runs, [
      { title: 'run', of: ({ id }) => id },
      { title: 'when', of: ({ at }) => (at === undefined ? '' : clockText(at)) },
      { title: 'ended', least: 8, of: (run) => endCell(run, run.id === running) },
      { title: 'steps', least: 10, of: ({ outcomes }) => outcomesText(outcomes) },
      { title: 'credits', align: 'right', of: (run) => spentText(run, run.id === running) },
      { title: 'took', align: 'right', of: ({ elapsedMs }) => (elapsedMs === undefined ? '' : elapsedText(elapsedMs)) },
    ]),
  ];
}

/**
 * Returns the charged credits. If the history of an aborted run shows no charge, returns `?`, because charges may be
 * missing.
 */
function spentText({ how, spentNow }: RunStory, isRunning: boolean): string {
  if (isRunning || how === 'ended') return creditsText(spentNow);
  return spentNow === 0 ? '?' : `at least ${creditsText(spentNow)}`;
}

export function runView(run: WholeStory, { isRunning, path }: { isRunning: boolean; path: string }): Document {
  const {
    tool = '',
    commit,
    manifest,
    elapsedMs,
    planned,
    unknownPrices: unpriced = 0,
    approved,
    error,
    dropped,
  } = run;
  const by = [
    `mediabatch ${tool}`.trim(),
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(manifest === undefined ? [] : [`manifest ${manifest.slice(0, 12)}`]),
  ];
  const began = run.at === undefined ? 'not on record' : clockText(run.at);
  const took = elapsedMs === undefined ? '' : `, took ${elapsedText(elapsedMs)}`;
  const plan = planned === undefined ? '' : `, planned ${costText({ credits: planned, unpriced })}`;
  return [
    line([strong(run.campaign ?? run.id), ': ', endCell(run, isRunning)].flat()),
    facts([
      { label: 'run', text: run.id },
      { label: 'began', text: `${began}${took}` },
      { label: 'by', text: by.join(', ') },
      approved && { label: 'approved', text: `by ${approved.by}, ${clockText(approved.at)}` },
      { label: 'credits', text: `${spentText(run, isRunning)} charged${plan}` },
      error === undefined ? undefined : { label: 'error', text: error },
      dropped === undefined ? undefined : { label: 'events', text: warning(`${dropped} events were not stored`) },
    ]),
    tasksTable(run.steps),
    listed(bad('not done'), run.steps.filter(isTrouble).map(troubleText), mostProblems),
    listed(warning('noticed'), run.notices, mostNotices),
    line(faint(`all events: ${path}`)),
  ];
}

function tasksTable(steps: readonly StepStory[]): Block {
  const groups = groupBy(steps, ({ task, kind, action }) => [task, kind, action].join('\0'));
  const costOf = (own: readonly StepStory[]) => ({
    credits: own.reduce((sum, { credits }) => sum + (credits ?? 0), 0),
    unpriced: own.filter(({ credits }) => credits === null).length,
  });
  return listOf(
    [...groups].map(([name, own]) => ({ names: name.split('\0'), own })),
    [
      { title: 'task', least: 12, of: ({ names: [task = ''] }) => task },
      { title: 'kind', of: ({ names: [, kind = ''] }) => kind },
      { title: 'action', of: ({ names: [, , action = ''] }) => action },
      { title: 'steps', least: 10, of: ({ own }) => outcomesText(countOutcomes(own)) },
      { title: 'credits', align: 'right', of: ({ own }) => costCell(costOf(own)) },
      { title: 'files', align: 'right', of: ({ own }) => countCell(own.flatMap(({ files }) => files).length) },
    ],
  );
}

function isTrouble({ outcome }: StepStory): boolean {
  return outcome !== 'done' && outcome !== 'unneeded';
}

function troubleText({ address, outcome = 'open', unsaved, error }: StepStory): string {
  return `${address} ${unsaved ? 'finished, not saved' : outcome}${error === undefined ? '' : `: ${error}`}`;
}

function listed(title: Text, texts: readonly string[], most: number): Block | undefined {
  return texts.length === 0 ? undefined : line(title, someLines(texts, most));
}

function endCell(run: RunStory, isRunning: boolean): Text {
  const text = endText(run, isRunning);
  if (text === 'done') return good(text);
  return isRunning ? active(text) : (run.how === 'ended' && run.exit !== 3 ? warning : bad)(text);
}

function endText({ how, exit, stopped }: RunStory, isRunning: boolean): string {
  if (how === undefined) return isRunning ? 'running' : 'aborted';
  if (how !== 'ended') return how === 'left' ? 'stopped' : 'error';
  if (exit === 4) return stopped === 'balance' ? 'account empty' : 'budget used up';
  return endings[exit ?? -1] ?? `exit ${exit ?? '?'}`;
}

function outcomesText(outcomes: RunStory['outcomes']): string {
  return countWords(Object.entries(outcomes).map(([outcome, count]) => [count, outcome] as const)).join(', ');
}
