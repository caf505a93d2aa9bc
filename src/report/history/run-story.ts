import type { HistoryLine, RunEvent, RunHeader } from '../../contract/event.ts';

/** A run as its history tells it, of which lines may be missing. */
export interface RunStory {
  id: string;
  /** ISO 8601, UTC. */
  at?: string;
  tool?: string;
  campaign?: string;
  manifest?: string;
  commit?: string;
  lock?: string;
  sandbox?: boolean;
  /** Who approved its plan, and when. */
  approved?: { by: string; at: string };
  /** Id of the run on an engine that was watched. */
  engineRun?: string;
  /** Credits that the plan was to spend. */
  planned?: number;
  /** Number of steps of the plan whose price was not known. */
  unknownPrices?: number;
  /** Absent: it was killed, or still runs. */
  how?: 'ended' | 'left' | 'broken';
  exit?: number;
  error?: string;
  stopped?: string;
  /** Credits charged, as far as the lines tell. */
  spentNow: number;
  elapsedMs?: number;
  /** Steps that ended in this run, by outcome. */
  outcomes: { [outcome: string]: number };
  /** Number of the `running` ones whose jobs have finished, and whose files are not saved. */
  unsaved?: number;
  /** Number of events that were left out. */
  dropped?: number;
}

export interface StepStory {
  address: string;
  task: string;
  kind: string;
  action: string;
  /** Absent: it had not ended. */
  outcome?: string;
  /** `null`: not known. */
  credits: number | null;
  files: string[];
  /** `running`, and its job has finished. */
  unsaved?: true;
  error?: string;
}

export interface WholeStory extends RunStory {
  /** Steps in the order in which they began. */
  steps: StepStory[];
  notices: string[];
}

/** Tells a run by its first and last lines; `lines` may be all of them. */
export function tellRun(id: string, lines: readonly HistoryLine[]): RunStory {
  const story: RunStory = { id, spentNow: 0, outcomes: {} };
  for (const line of lines) Object.assign(story, told(line));
  const { at, elapsedMs } = story;
  const last = lines.at(-1);
  if (elapsedMs === undefined && at !== undefined && last !== undefined) {
    story.elapsedMs = Math.max(0, Date.parse(last.at) - Date.parse(at));
  }
  return story;
}

/** The same with every step. `lines`: all of them. */
export function tellWholeRun(id: string, lines: readonly HistoryLine[]): WholeStory {
  const steps = new Map<string, StepStory>();
  const notices = new Set<string>();
  for (const line of lines) if ('event' in line) addEvent(line, { steps, notices });
  const story = tellRun(id, lines);
  if (Object.keys(story.outcomes).length === 0) {
    story.outcomes = countOutcomes([...steps.values()]);
  }
  return { ...story, steps: [...steps.values()], notices: [...notices] };
}

/** Number of steps by outcome; `open` for those that had not ended. */
export function countOutcomes(steps: readonly StepStory[]): RunStory['outcomes'] {
  const counts = new Map<string, number>();
  for (const { outcome = 'open' } of steps) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Reads what a line says of the whole run. */
function told(line: HistoryLine): Partial<RunStory> {
  if ('mediabatch' in line) {
    switch (line.mediabatch) {
      case 'run':
        return headOf(line);
      case 'run-close': {
        const { mediabatch: _mediabatch, version: _version, at: _at, ...end } = line;
        return end;
      }
      case 'run-time':
        return {};
      default:
        return line satisfies never;
    }
  }
  switch (line.event) {
    case 'credits-changed':
      return { spentNow: line.spentNow };
    case 'spending-stopped':
      return { stopped: line.because };
    case 'run-ended': {
      const { exit, outcomes, spentNow, elapsedMs, unsaved } = line;
      return { exit, outcomes, spentNow, elapsedMs, ...(unsaved !== undefined && { unsaved }) };
    }
    default:
      return {};
  }
}

function headOf({ mediabatch: _mediabatch, version: _version, id: _id, steps: _steps, ...line }: RunHeader) {
  const { totals, ...head } = line;
  return { ...head, planned: totals.knownPrices, unknownPrices: totals.unknownPrices };
}

function addEvent(event: RunEvent, { steps, notices }: { steps: Map<string, StepStory>; notices: Set<string> }): void {
  switch (event.event) {
    case 'step-started':
    case 'step-left': {
      const { address, task, kind, action } = event;
      const isLeft = event.event === 'step-left';
      // Nothing happened to what is up to date, and to what the manifest no longer has.
      if (isLeft && (action === 'keep' || action === 'orphan')) return;
      const left = isLeft ? { outcome: action, error: event.reason } : {};
      steps.set(address, { address, task, kind, action, credits: 0, files: [], ...left });
      return;
    }
    case 'output-saved':
      steps.get(event.address)?.files.push(event.output.path);
      return;
    case 'step-finished': {
      const step = steps.get(event.address);
      const { outcome, credits, error, unsaved } = event;
      const more = { ...(error !== undefined && { error }), ...(unsaved && { unsaved }) };
      if (step !== undefined) Object.assign(step, { outcome, credits, ...more });
      return;
    }
    case 'noticed': {
      const { address, message } = event;
      notices.add(address === undefined ? message : `${address}: ${message}`);
      return;
    }
    default:
  }
}
