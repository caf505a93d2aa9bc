import { kinds } from '../../kinds/index.ts';
import { creditsText, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { displayWidth } from '../text-width.ts';
import type { PlannedStep } from './planned-work.ts';
import { hasEnded, mostStepsShown, type RunView, type Stage, type StepView, sinceOf } from './run-view.ts';
import { fillLine, type Piece, piece, spaces, type Tone } from './screen-line.ts';
import { isNarrow, type Look } from './screen-look.ts';
import { nameOf } from './screen-rows.ts';

/** A running job is called late from this multiple of what is usual. */
const lateFrom = 1.5;

/**
 * A row for each step that this run has to do. Undefined when they are too many for the rows, or not known.
 */
export function stepRows(view: RunView, look: Look, rows: number): string[] | undefined {
  const steps = stepsToShow(view, look);
  if (steps.length === 0 || steps.length > rows) return undefined;
  const most = Math.floor(look.columns * (isNarrow(look) ? 0.35 : 0.3));
  const width = steps.reduce((widest, { address }) => Math.max(widest, displayWidth(safeText(address, 200))), 7);
  return steps.map((step) => stepRow(step, { view, look, nameWidth: Math.min(most, width) }));
}

/**
 * Returns the steps of the plan; without one, those that the run has begun, and a run that begins more of them later
 * tells so.
 */
function stepsToShow({ steps, settled, firstBegun }: RunView, { planned }: Look): readonly PlannedStep[] {
  if (planned.steps.length > 0) return planned.steps;
  const unnamed = steps - (settled.stages.get('kept') ?? 0) - firstBegun.size;
  if (planned.tasks.size > 0 || unnamed > 0 || firstBegun.size > mostStepsShown) return [];
  return [...firstBegun.values()].map(({ address, task }) => ({ address, task, credits: null, needs: [] }));
}

interface State {
  icon: Piece;
  words: Piece;
}

function stepRow(
  step: PlannedStep,
  { view, look, nameWidth }: { view: RunView; look: Look; nameWidth: number },
): string {
  const { icon, words } = stateOf(step, view, look);
  const begun = view.firstBegun.get(step.address);
  const charged = begun?.credits ?? null;
  const isOpen = begun === undefined || !hasEnded(begun.stage);
  const costs = charged !== null && (charged > 0 || begun?.stage === 'done');
  const amount = costs ? charged : isOpen ? step.credits : null;
  // What waits for people has no price of its own yet.
  const money = amount === null || (amount === 0 && !costs) ? '' : `${creditsText(amount)} cr`;
  return fillLine(
    [icon, spaces(1), nameOf(step.address, nameWidth), spaces(2), words],
    [piece(money, isOpen && (charged ?? 0) === 0 ? 'faint' : 'plain')],
    look,
  );
}

function stateOf(step: PlannedStep, view: RunView, look: Look): State {
  const { signs } = look;
  const begun = view.firstBegun.get(step.address);
  const seen = view.stepsByAddress.get(step.address) ?? begun;
  const none = piece(' ');
  const row = (icon: Piece, text: string, tone: Tone = 'plain'): State => ({ icon, words: piece(text, tone) });
  const failed = piece(signs.failed, 'bad');
  const unsure = piece('?', 'unsure');
  const error = seen?.error === undefined ? '' : safeText(seen.error, 300);
  const turning = piece(signs.spinner[look.frame % signs.spinner.length] ?? ' ', 'busy');
  const stage: Stage | 'queued' = seen?.stage ?? (view.settled.addresses.has(step.address) ? 'done' : 'queued');
  switch (stage) {
    case 'done':
      return row(piece(signs.done, 'good'), doneText(begun, look));
    case 'kept':
    case 'unneeded':
      return row(piece(signs.done, 'good'), stage === 'kept' ? 'up to date' : 'not needed', 'faint');
    case 'queued':
      return row(none, waitingText(step, view, look), 'faint');
    case 'working':
      return row(turning, startingText(seen?.kind));
    case 'running':
      return row(turning, ...runningText(seen, look));
    case 'saving':
      return row(turning, 'saving');
    case 'stays-paid':
      return row(unsure, seen?.hasCompletedJob === true ? 'paid, to be fetched' : 'runs on, to be collected', 'unsure');
    case 'failed':
    case 'lost':
    case 'refused': {
      const charged = (begun?.credits ?? 0) > 0 ? '; charged' : '';
      return row(failed, error === '' ? `${stage}${charged}` : `${error}${charged}`, 'bad');
    }
    case 'unresolved':
      return row(unsure, `unresolved${error === '' ? '' : `: ${error}`}`, 'unsure');
    case 'blocked':
      return row(none, error === '' ? 'blocked' : error, 'unsure');
    case 'awaits-consent':
      return row(none, 'waits for consent', 'unsure');
    case 'awaits-pick':
      return row(none, 'waits for a pick', 'unsure');
    case 'left':
      return row(none, 'not started', 'unsure');
    default:
      return stage satisfies never;
  }
}

function doneText(known: { kind: string; path?: string } | undefined, look: Look): string {
  const act = kinds[known?.kind ?? '']?.act ?? 'job';
  if (act === 'post') return 'published';
  if (known?.path === undefined) return act === 'upload' ? 'uploaded' : 'done';
  return isNarrow(look) ? 'saved' : `saved  ${safeText(known.path, 300)}`;
}

function startingText(kind: string | undefined): string {
  const act = kinds[kind ?? '']?.act ?? 'job';
  return act === 'upload' ? 'uploading' : act === 'post' ? 'publishing' : 'starting';
}

function waitingText({ needs }: PlannedStep, view: RunView, look: Look): string {
  if (look.isOver) return 'not started';
  const open = needs.filter((need) => !view.settled.addresses.has(need));
  const [first] = open;
  if (first === undefined) return 'queued';
  return `waits for ${safeText(first, 200)}${open.length > 1 ? ` and ${open.length - 1} more` : ''}`;
}

/** `running 0:21 of about 0:30`; in a narrow terminal `0:21 of ~0:30`. */
function runningText(step: StepView | undefined, look: Look): [string, Tone] {
  const since = step && sinceOf(step);
  if (step === undefined || since === undefined) return ['running', 'plain'];
  const narrow = isNarrow(look);
  const ageMs = look.now - since;
  const age = elapsedText(ageMs);
  const usual = look.times.usual?.(step.address);
  const queued = narrow ? 'queued ' : 'queued at the service ';
  const word = step.isQueued ? queued : narrow ? '' : 'running ';
  if (usual === undefined) return [`${step.isQueued ? word : 'running '}${age}`, 'plain'];
  if (ageMs > lateFrom * usual) return [`${word}${age}, longer than usual`, 'unsure'];
  return [`${word}${age} of ${narrow ? '~' : 'about '}${elapsedText(Math.max(1000, usual))}`, 'plain'];
}
