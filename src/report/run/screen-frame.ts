import { kinds } from '../../kinds/index.ts';
import type { Mark } from '../document.ts';
import { creditsText, elapsedText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { cutMiddle, displayWidth, padRight } from '../text-width.ts';
import type { PlannedStep } from './planned-work.ts';
import { hasEnded, mostStepsShown, type RunView, type Stage, type StepView, sinceOf } from './run-view.ts';
import {
  askedWaitText,
  awaitedGatesText,
  awaitedText,
  doneIn,
  remainingText,
  stageCounts,
  stoppingText,
} from './run-words.ts';
import { fillLine, joined, joinedWithin, type Piece, piece, spaces, widthOf } from './screen-line.ts';
import { barPieces, isNarrow, isWide, type Look } from './screen-look.ts';
import { countPiece, creditsWord, nameOf, nameWidthOf, taskRows } from './screen-rows.ts';
import type { TroubleGroup } from './troubles.ts';

const mostTroubles = 3;
/** Limit of task rows, because more are not readable and would not fit a frame of 4 KB. */
const mostTasks = 18;
const mostSteps = 24;

/**
 * The screen of a run at one moment, as at most `look.rows` lines of at most `look.columns` − 1 columns: a line for the
 * whole run, then a row for each step or task, the credits, what the run waits for, and the reasons of failures, latest
 * first. With few rows, the first line, what the run waits for, the credits and the latest failure have priority.
 */
export function frameLines(view: RunView, look: Look): string[] {
  const rows = Math.max(0, look.rows);
  const waiting = look.isOver ? [] : waitingLines(view, look);
  // Space for failures is reserved from the beginning, so that the rows do not change their form when one occurs.
  const spare = rows - 2 - waiting.length;
  const room = look.isOver ? rows - 1 : spare;
  const steps = stepRows(view, look, Math.min(mostSteps, look.isOver ? room : room - mostTroubles));
  const troubles =
    look.isOver || steps !== undefined ? [] : troubleLines(view, look, Math.min(mostTroubles, Math.max(1, spare - 4)));
  const body = steps ?? taskRows(view, look, Math.max(0, Math.min(mostTasks, room - troubles.length)));
  const credits = look.isOver ? [] : [creditsLine(view, look)];
  const [first] = troubles;
  const parts = [
    { lines: [headerLine(view, look)], rank: 0 },
    { lines: body, rank: 4 },
    { lines: credits, rank: 1 },
    { lines: waiting, rank: 2 },
    { lines: first === undefined ? [] : [first], rank: 3 },
    { lines: troubles.slice(1), rank: 5 },
  ];
  let left = rows;
  const taken = new Map<(typeof parts)[number], string[]>();
  for (const part of parts.toSorted((a, b) => a.rank - b.rank)) {
    const lines = part.lines.slice(0, left);
    taken.set(part, lines);
    left -= lines.length;
  }
  return parts.flatMap((part) => taken.get(part) ?? []);
}

function headerLine(view: RunView, look: Look): string {
  const stages = new Map<Stage, number>();
  for (const task of view.tasks.values())
    for (const [stage, count] of task.stages) stages.set(stage, (stages.get(stage) ?? 0) + count);
  const whole = { steps: view.steps, stages };
  const kept = stages.get('kept') ?? 0;
  const counts = stageCounts(whole, { isOver: false });
  // A narrow terminal may lack the space for both, and running steps are shown below.
  const failed = isNarrow(look) ? counts.filter(({ word }) => word === 'failed') : [];
  const ordered = [...failed, ...counts.filter((one) => !failed.includes(one))];
  const words = [
    piece(`${creditsText(doneIn(whole))} of ${creditsText(view.steps)}`),
    ...(kept > 0 && isWide(look) ? [piece(`${creditsText(kept)} up to date`, 'faint')] : []),
    ...ordered.map((one) => countPiece(one, look)),
  ];
  const remaining = look.isOver ? undefined : look.times.remaining?.();
  const time = [
    piece(elapsedText(view.end?.elapsedMs ?? look.now - look.startedAt)),
    ...(remaining === undefined ? [] : [piece(remainingText(remaining, { short: isNarrow(look) }))]),
  ];
  const name = piece(cutMiddle(safeText(view.campaign, 200), Math.floor(look.columns / 3)), 'strong');
  const right = joined(time);
  const room = look.columns - 1 - name.width - widthOf(right) - 4;
  return fillLine([name, spaces(2), ...joinedWithin(words, room)], right, look);
}

function creditsLine(view: RunView, look: Look): string {
  const { spentNow, spentEver, held, budget, balance } = view.money;
  const narrow = isNarrow(look);
  const now = spentEver === spentNow || narrow ? '' : ` (${creditsText(spentNow)} now)`;
  const words = [piece(`${creditsText(spentEver)} spent${now}`)];
  if (budget !== null) {
    const free = Math.max(0, budget - spentEver - held);
    words.push(
      piece(
        `${creditsText(free)} free${narrow ? '' : ` of ${creditsText(budget)}`}`,
        free === 0 ? 'warning' : undefined,
      ),
    );
  } else if (balance !== null) words.push(piece(`balance ${creditsText(balance)}`));
  const shown = [...view.tasks.keys()].slice(0, look.rows);
  const name = piece(padRight(creditsWord, nameWidthOf(shown, look)));
  const bar =
    budget === null || budget === 0
      ? []
      : [...barPieces({ all: budget, done: spentEver, busy: held }, look), spaces(2)];
  const start = [name, spaces(2), ...bar];
  const whole = joined(held > 0 ? words.toSpliced(1, 0, piece(`${creditsText(held)} reserved`, 'active')) : words);
  const text = widthOf(start) + widthOf(whole) < look.columns ? whole : joined(words);
  return fillLine([...start, ...text], [], look);
}

function waitingLines(view: RunView, look: Look): string[] {
  const line = (text: string) => fillLine([piece(text, 'warning')], [], look);
  const lines: string[] = [];
  if (view.stopped !== undefined) lines.push(line(stoppingText(view.stopped)));
  const asked = askedWaitText(view, look.now);
  if (asked !== '') lines.push(line(asked));
  if (view.awaited !== undefined) lines.push(line(awaitedText(view.awaited, look.now)));
  if (view.awaitedGates !== undefined) {
    const whole = awaitedGatesText(view.awaitedGates, look.page);
    if (displayWidth(whole) < look.columns || look.page === undefined) lines.push(line(whole));
    else {
      lines.push(line(awaitedGatesText(view.awaitedGates, undefined)));
      // A cut address is useless. It was already printed above, when the page was opened.
      if (displayWidth(look.page) < look.columns) lines.push(line(look.page));
    }
  }
  return lines;
}

function troubleLines({ troubles }: RunView, look: Look, most: number): string[] {
  const groups = [...troubles.values()];
  return groups
    .slice(-most)
    .reverse()
    .map((group) => troubleLine(group, look));
}

function troubleLine({ text, outcome, count, credits, address, at }: TroubleGroup, look: Look): string {
  const name = count === 1 ? safeText(address, 200) : `${creditsText(count)} ×`;
  const last = count === 1 || isNarrow(look) ? '' : `, last ${safeText(address, 60)}`;
  const words = text === '' ? outcome : safeText(text, 300).replace(/\.$/, '');
  const charged = credits > 0 ? [piece(`charged ${creditsText(credits)}`)] : [];
  return fillLine(
    [piece(look.signs.failed, 'bad'), spaces(1), piece(name), spaces(2), piece(`${words}${last}`)],
    joined([...charged, piece(`${spanText(look.now - at)} ago`, 'faint')]),
    look,
  );
}

/** A running job is marked as late from this multiple of its usual duration. */
const lateFrom = 1.5;
/** Shortest time shown on the screen. */
const aSecondMs = 1000;

function stepRows(view: RunView, look: Look, rows: number): string[] | undefined {
  const steps = stepsToShow(view, look);
  if (steps.length === 0 || steps.length > rows) return undefined;
  const most = Math.floor(look.columns * (isNarrow(look) ? 0.35 : 0.3));
  const width = steps.reduce((widest, { address }) => Math.max(widest, displayWidth(safeText(address, 200))), 7);
  return steps.map((step) => stepRow(step, { view, look, nameWidth: Math.min(most, width) }));
}

/** Returns the steps of the plan; without a plan, the started ones. Empty if too many, or if more may follow. */
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
  // The cost of steps that wait for users is not known yet.
  const money = amount === null || (amount === 0 && !costs) ? '' : `${creditsText(amount)} cr`;
  return fillLine(
    [icon, spaces(1), nameOf(step.address, nameWidth), spaces(2), words],
    [piece(money, isOpen && (charged ?? 0) === 0 ? 'faint' : undefined)],
    look,
  );
}

function stateOf(step: PlannedStep, view: RunView, look: Look): State {
  const { signs } = look;
  const begun = view.firstBegun.get(step.address);
  const seen = view.stepsByAddress.get(step.address) ?? begun;
  const none = piece(' ');
  const row = (icon: Piece, text: string, mark?: Mark): State => ({ icon, words: piece(text, mark) });
  const failed = piece(signs.failed, 'bad');
  const unsure = piece('?', 'warning');
  const error = seen?.error === undefined ? '' : safeText(seen.error, 300);
  const turning = piece(signs.spinner[look.frame % signs.spinner.length] ?? ' ', 'active');
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
    case 'searching':
      return row(turning, 'searching for its job');
    case 'running':
      return row(turning, ...runningText(seen, look));
    case 'saving':
      return row(turning, 'saving');
    case 'stays-paid':
      return row(
        unsure,
        seen?.hasCompletedJob === true ? 'paid, to be fetched' : 'runs on, to be collected',
        'warning',
      );
    case 'failed':
    case 'lost':
    case 'refused': {
      const charged = (begun?.credits ?? 0) > 0 ? '; charged' : '';
      return row(failed, error === '' ? `${stage}${charged}` : `${error}${charged}`, 'bad');
    }
    case 'unresolved':
      return row(unsure, `unresolved${error === '' ? '' : `: ${error}`}`, 'warning');
    case 'blocked':
      return row(none, error === '' ? 'blocked' : error, 'warning');
    case 'awaits-consent':
      return row(none, 'waits for consent', 'warning');
    case 'awaits-pick':
      return row(none, 'waits for a pick', 'warning');
    case 'left':
      return row(none, 'not started', 'warning');
    default:
      return stage satisfies never;
  }
}

function doneText(
  known: Pick<StepView, 'kind' | 'files' | 'isMoved' | 'scheduledFor'> | undefined,
  look: Look,
): string {
  const act = kinds[known?.kind ?? '']?.act ?? 'job';
  if (act === 'post') return known?.scheduledFor !== undefined ? 'scheduled' : 'published';
  const [path] = known?.files ?? [];
  if (known === undefined || path === undefined) return act === 'upload' ? 'uploaded' : 'done';
  const word = known.isMoved ? 'moved' : 'saved';
  return isNarrow(look) ? word : `${word}  ${safeText(path, 300)}`;
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

/** Returns a text such as `running 0:21 of about 0:30`; in a narrow terminal `0:21 of ~0:30`. */
function runningText(step: StepView | undefined, look: Look): [string, Mark?] {
  const since = step && sinceOf(step);
  if (step === undefined || since === undefined) return ['running'];
  const narrow = isNarrow(look);
  const ageMs = look.now - since;
  const age = elapsedText(ageMs);
  const known = look.times.usual?.(step.address);
  const queued = narrow ? 'queued ' : 'queued at the service ';
  const word = step.isQueued ? queued : narrow ? '' : 'running ';
  if (known === undefined) return [`${step.isQueued ? word : 'running '}${age}`];
  const usual = Math.max(aSecondMs, known);
  if (ageMs > Math.max(lateFrom * usual, usual + aSecondMs)) return [`${word}${age}, longer than usual`, 'warning'];
  return [`${word}${age} of ${narrow ? '~' : 'about '}${elapsedText(usual)}`];
}
