import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';

/** A run as its history tells it. Lines may be missing, and may be anybody's: what has no sense is left out. */
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
  /** Of the `running` ones: those whose jobs have finished, and whose files are not saved. */
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
  /** In the order in which they began. */
  steps: StepStory[];
  notices: string[];
}

type Line = { [key: string]: Json };

/** Tells a run by its first and last lines; `lines` may be all of them. */
export function tellRun(id: string, lines: readonly Json[]): RunStory {
  const story: RunStory = { id, spentNow: 0, outcomes: {} };
  let last: string | undefined;
  for (const line of lines) {
    if (!isMap(line)) continue;
    last = textOf(line, 'at') ?? last;
    if (line.mediabatch === 'run') Object.assign(story, headOf(line));
    else if (line.mediabatch === 'run-close' || line.event === 'run-ended') Object.assign(story, endOf(line));
    else if (line.event === 'credits-changed') story.spentNow = numberOf(line, 'spentNow') ?? story.spentNow;
    else if (line.event === 'spending-stopped') Object.assign(story, pick({ stopped: textOf(line, 'because') }));
  }
  const { at, elapsedMs } = story;
  if (elapsedMs === undefined && at !== undefined && last !== undefined) {
    story.elapsedMs = Math.max(0, Date.parse(last) - Date.parse(at)) || 0;
  }
  return story;
}

/** The same with every step. `lines`: all of them. */
export function tellWholeRun(id: string, lines: readonly Json[]): WholeStory {
  const steps = new Map<string, StepStory>();
  const notices = new Set<string>();
  for (const line of lines) if (isMap(line)) addLine(line, { steps, notices });
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

function addLine(line: Line, { steps, notices }: { steps: Map<string, StepStory>; notices: Set<string> }): void {
  const address = textOf(line, 'address');
  const error = textOf(line, 'error');
  const step = address === undefined ? undefined : steps.get(address);
  switch (line.event) {
    case 'step-started':
    case 'step-left': {
      const [task, kind, action] = [textOf(line, 'task'), textOf(line, 'kind'), textOf(line, 'action')];
      if (address === undefined || task === undefined || kind === undefined || action === undefined) return;
      // Nothing happened to what is up to date, and to what the manifest no longer has.
      if (line.event === 'step-left' && (action === 'keep' || action === 'orphan')) return;
      const left = line.event === 'step-left' ? { outcome: action, ...pick({ error: textOf(line, 'reason') }) } : {};
      steps.set(address, { address, task, kind, action, credits: 0, files: [], ...left });
      return;
    }
    case 'output-saved': {
      const path = isMap(line.output) ? textOf(line.output, 'path') : undefined;
      if (path !== undefined) step?.files.push(path);
      return;
    }
    case 'step-finished': {
      if (step === undefined) return;
      const credits = line.credits === null ? null : (numberOf(line, 'credits') ?? 0);
      const unsaved = line.unsaved === true ? true : undefined;
      Object.assign(step, { credits, ...pick({ outcome: textOf(line, 'outcome'), unsaved, error }) });
      return;
    }
    case 'noticed': {
      const message = textOf(line, 'message');
      if (message !== undefined) notices.add(address === undefined ? message : `${address}: ${message}`);
      return;
    }
    default:
  }
}

function headOf(line: Line): Partial<RunStory> {
  const totals = isMap(line.totals) ? line.totals : {};
  const sandbox = typeof line.sandbox === 'boolean' ? line.sandbox : undefined;
  const names = ['at', 'tool', 'campaign', 'manifest', 'commit', 'lock'] as const;
  const texts = Object.fromEntries(names.map((name) => [name, textOf(line, name)]));
  const [planned, unknownPrices] = [numberOf(totals, 'toSpend'), numberOf(totals, 'unknownPrices')];
  return pick({ ...texts, sandbox, planned, unknownPrices });
}

function endOf(line: Line): Partial<RunStory> {
  const how = (['ended', 'left', 'broken'] as const).find((one) => one === line.how);
  const counts = isMap(line.outcomes) ? line.outcomes : {};
  const outcomes = Object.entries(counts).flatMap(([name, count]) =>
    typeof count === 'number' ? [[name, count]] : [],
  );
  const numbers = ['exit', 'spentNow', 'elapsedMs', 'dropped', 'unsaved'] as const;
  const known = Object.fromEntries(numbers.map((name) => [name, numberOf(line, name)]));
  const counted = outcomes.length === 0 ? undefined : Object.fromEntries(outcomes);
  return pick({ ...known, how, error: textOf(line, 'error'), outcomes: counted });
}

function textOf(line: Line, name: string): string | undefined {
  const value = line[name];
  return typeof value === 'string' ? value : undefined;
}

/** A number that can stand in a sum. */
function numberOf(line: Line, name: string): number | undefined {
  const value = line[name];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Without what is undefined, so that it overwrites nothing. */
function pick<T extends object>(values: T): { [name in keyof T]?: Exclude<T[name], undefined> } {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [name in keyof T]?: Exclude<T[name], undefined> };
}
