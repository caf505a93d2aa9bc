import type { HistoryLine, RunClose, RunHeader } from '../../contract/event.ts';
import { defined } from '../../ground/values.ts';
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

export interface StepStory {
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

export interface WholeStory extends RunStory {
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
export function countOutcomes(steps: readonly StepStory[]): RunStory['outcomes'] {
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
