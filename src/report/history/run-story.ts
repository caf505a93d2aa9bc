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
  strong,
  type Text,
  table,
  warning,
} from '../document.ts';
import { clockText, countOf, countWords, creditsText, elapsedText } from '../numbers.ts';
import { createRunView, foldEvent, hasEnded, type RunView, type StepView } from '../run/run-view.ts';

/** A run as recorded in its history. Lines of the history may be missing. */
export interface RunStory
  extends Partial<Omit<RunHeader, 'mediabatch' | 'version' | 'id' | 'steps' | 'totals'>>,
    Partial<Pick<RunClose, 'how' | 'exit' | 'error' | 'elapsedMs' | 'unsaved' | 'dropped'>> {
  id: string;
  /** Credits that the plan expected to spend. */
  planned?: number;
  unknownPrices?: number;
  stopped?: string;
  /** Credits charged, as far as the lines show. */
  spentNow: number;
  outcomes: { [outcome: string]: number };
}

interface StepStory {
  address: string;
  task: string;
  kind: string;
  action: string;
  /** Omitted if the step had not ended. */
  outcome?: string;
  /** Credits charged; `null` if unknown. */
  credits: number | null;
  files: string[];
  /** The step is recorded as `running`, but its job has finished. */
  unsaved?: true;
  error?: string;
}

interface WholeStory extends RunStory {
  /** Steps in the order in which they were started. */
  steps: StepStory[];
  notices: string[];
}

/** Folds the whole history of a run, and keeps every step. */
export function foldRun(lines: readonly HistoryLine[]): RunView {
  const view = createRunView({ keepsDone: true });
  for (const line of lines) if ('event' in line) foldEvent(view, line);
  return view;
}

/** Summarizes a run from the first and last lines of its history; `lines` may be all of them. */
export function tellRun(id: string, lines: readonly HistoryLine[]): RunStory {
  return storyOf(id, lines, foldRun(lines));
}

/** Summarizes a run like `tellRun`, with every step. `lines`: the whole history. */
export function tellWholeRun(id: string, lines: readonly HistoryLine[]): WholeStory {
  const view = foldRun(lines);
  const story = storyOf(id, lines, view);
  const steps = [...view.stepsByAddress.values()].map(stepOf);
  const outcomes = Object.keys(story.outcomes).length === 0 ? countOutcomes(steps) : story.outcomes;
  return { ...story, outcomes, steps, notices: [...view.notices] };
}

/** Number of steps by outcome; `open` counts the steps that had not ended. */
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
  5: 'waits for a person',
  6: 'needs a decision',
  69: 'unreachable',
  73: 'could not write',
  77: 'key refused',
  130: 'interrupted',
};

/** Table of earlier runs, newest first. `running`: id of the run that is still in progress. */
export function runsView(runs: readonly RunStory[], running?: string): Document {
  const columns = [
    { title: 'run' },
    { title: 'when' },
    { title: 'ended', least: 8 },
    { title: 'steps', least: 10 },
    { title: 'credits', align: 'right' as const },
    { title: 'took', align: 'right' as const },
  ];
  const cells = runs.map((run): Text[] => [
    run.id,
    run.at === undefined ? '' : clockText(run.at),
    endCell(run, run.id === running),
    outcomesText(run),
    spentText(run, run.id === running),
    run.elapsedMs === undefined ? '' : elapsedText(run.elapsedMs),
  ]);
  return [table(columns, cells)];
}

/** Returns the credits of a run. Unknown, not 0, if charges may be missing because the run did not reach its end. */
function spentText({ how, spentNow }: RunStory, isRunning: boolean): string {
  if (isRunning || how === 'ended') return creditsText(spentNow);
  return spentNow === 0 ? '?' : `at least ${creditsText(spentNow)}`;
}

export function runView(run: WholeStory, { isRunning, path }: { isRunning: boolean; path: string }): Document {
  const by = [
    run.tool === undefined ? 'mediabatch' : `mediabatch ${run.tool}`,
    ...(run.commit === undefined ? [] : [`commit ${run.commit.slice(0, 12)}`]),
    ...(run.manifest === undefined ? [] : [`manifest ${run.manifest.slice(0, 12)}`]),
  ];
  const took = run.elapsedMs === undefined ? '' : `, took ${elapsedText(run.elapsedMs)}`;
  const unknown = run.unknownPrices ? ` + ${countOf(run.unknownPrices, 'unknown price')}` : '';
  const planned = run.planned === undefined ? '' : `, planned ${creditsText(run.planned)}${unknown}`;
  return [
    line([strong(run.campaign ?? run.id), ': ', endCell(run, isRunning)].flat()),
    facts([
      { label: 'run', text: run.id },
      { label: 'began', text: `${run.at === undefined ? 'not on record' : clockText(run.at)}${took}` },
      { label: 'by', text: by.join(', ') },
      run.approved && { label: 'approved', text: `by ${run.approved.by}, ${clockText(run.approved.at)}` },
      { label: 'credits', text: `${spentText(run, isRunning)} charged${planned}` },
      run.error === undefined ? undefined : { label: 'error', text: run.error },
      run.dropped === undefined
        ? undefined
        : { label: 'events', text: warning(`${creditsText(run.dropped)} more that were not stored`) },
    ]),
    tasksTable(run.steps),
    listOf(bad('not done'), run.steps.filter(isTrouble).map(troubleText), mostProblems),
    listOf(warning('noticed'), run.notices, mostNotices),
    line(faint(`all events: ${path}`)),
  ];
}

function tasksTable(steps: readonly StepStory[]): Block {
  const groups = groupBy(steps, ({ task, action }) => `${task}\0${action}`);
  const columns = [
    { title: 'task', least: 12 },
    { title: 'kind' },
    { title: 'action' },
    { title: 'steps', least: 10 },
    { title: 'credits', align: 'right' as const },
    { title: 'files', align: 'right' as const },
  ];
  const cells = [...groups.values()].flatMap((group): string[][] => {
    const [first] = group;
    if (first === undefined) return [];
    const outcomes = outcomesText({
      outcomes: countOutcomes(group),
      unsaved: group.filter((step) => step.unsaved).length,
    });
    const unknown = group.some(({ credits }) => credits === null);
    const credits = group.reduce((sum, step) => sum + (step.credits ?? 0), 0);
    const files = group.reduce((sum, step) => sum + step.files.length, 0);
    const shown = !unknown ? creditsText(credits) : credits === 0 ? 'unknown' : `${creditsText(credits)} + unknown`;
    return [[first.task, first.kind, first.action, outcomes, shown, files === 0 ? '' : String(files)]];
  });
  return table(columns, cells);
}

function isTrouble({ outcome }: StepStory): boolean {
  return outcome !== 'done' && outcome !== 'unneeded';
}

function troubleText({ address, outcome = 'open', unsaved, error }: StepStory): string {
  return `${address} ${unsaved ? unsavedWords : outcome}${error === undefined ? '' : `: ${error}`}`;
}

function listOf(title: Text, lines: readonly string[], most: number): Block | undefined {
  if (lines.length === 0) return undefined;
  const hidden = lines.length - most;
  const more = hidden > 0 ? line(`… and ${creditsText(hidden)} more (--json shows all)`) : undefined;
  return line(title, [...lines.slice(0, most).map((text) => line(text)), more]);
}

function endCell(run: RunStory, isRunning: boolean): Text {
  const text = endText(run, isRunning);
  if (text === 'done') return good(text);
  return isRunning ? active(text) : (run.how === 'ended' && run.exit !== 3 ? warning : bad)(text);
}

function endText({ how, exit, stopped }: RunStory, isRunning: boolean): string {
  if (how === undefined) return isRunning ? 'running' : 'aborted';
  if (how !== 'ended') return how === 'left' ? 'detached' : 'error';
  if (exit === 4) return stopped === 'balance' ? 'account empty' : 'budget used up';
  return endings[exit ?? -1] ?? `exit ${exit ?? '?'}`;
}

const unsavedWords = 'finished, not saved';

function outcomesText({ outcomes, unsaved = 0 }: Pick<RunStory, 'outcomes' | 'unsaved'>): string {
  const counts = Object.entries(outcomes).map(
    ([outcome, count]) => [outcome === 'running' ? count - unsaved : count, outcome] as const,
  );
  return countWords([...counts, [unsaved, unsavedWords]]).join(', ');
}
