import { spanText } from '../age-text.ts';
import { creditsText, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { cutMiddle, displayWidth, padRight } from '../text-width.ts';
import { remainingText } from './remaining-text.ts';
import type { RunView, Stage } from './run-view.ts';
import { awaitedGatesText, awaitedText, stopText } from './run-words.ts';
import { fillLine, joined, joinedWithin, type Piece, piece, spaces, widthOf } from './screen-line.ts';
import { barPieces, isNarrow, isWide, type Look } from './screen-look.ts';
import { creditsWord, nameWidthOf, taskRows } from './screen-rows.ts';
import { stepRows } from './screen-steps.ts';
import type { TroubleGroup } from './troubles.ts';

const mostTroubles = 3;
/** Most rows of tasks: more are not read, and would not fit a frame of 4 KB. */
const mostTasks = 18;
const mostSteps = 24;

/**
 * The screen of a run at one moment, as at most `look.rows` lines of at most `look.columns` − 1 columns: the first line
 * tells of the whole, then a row for each step or task, the credits, what it waits for, and why steps failed, the latest
 * first. With fewer rows the first line, what it waits for, the credits and the last failure stay longest.
 */
export function frameLines(view: RunView, look: Look): string[] {
  const rows = Math.max(0, look.rows);
  const waiting = look.isOver ? [] : waitingLines(view, look);
  // What is to come of failures has its room from the beginning, so that the rows do not change their form for it.
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
  const of = (...stages: Stage[]) => {
    let sum = 0;
    for (const task of view.tasks.values()) for (const stage of stages) sum += task.stages.get(stage) ?? 0;
    return sum;
  };
  const done = of('done', 'kept', 'unneeded');
  const words = [piece(`${creditsText(done)} of ${creditsText(view.steps)}`)];
  const add = (count: number, word: string, tone: Piece['tone'] = 'plain') => {
    if (count > 0) words.push(piece(`${creditsText(count)} ${word}`, tone));
  };
  const wide = isWide(look);
  const kept = of('kept');
  if (wide) add(kept, 'up to date', 'faint');
  const failed = of('failed', 'lost', 'refused');
  // In a narrow terminal there may be no room for both, and running ones are seen below.
  if (isNarrow(look)) add(failed, look.signs.failed, 'bad');
  add(of('running'), 'running', 'busy');
  if (!isNarrow(look)) add(failed, 'failed', 'bad');
  add(of('unresolved'), 'unresolved', 'unsure');
  add(of('saving'), 'saving');
  if (wide) {
    const picks = of('awaits-pick');
    add(of('blocked'), 'blocked', 'unsure');
    add(picks, picks === 1 ? 'waits for a pick' : 'wait for a pick', 'unsure');
  }
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

/** Spent, held for creates on their way, and free, as a bar where there is a budget. */
function creditsLine(view: RunView, look: Look): string {
  const { spentNow, spentEver, held, budget, balance } = view.money;
  const narrow = isNarrow(look);
  const now = spentEver === spentNow || narrow ? '' : ` (${creditsText(spentNow)} now)`;
  const words = [piece(`${creditsText(spentEver)} spent${now}`)];
  if (held > 0) words.push(piece(`${creditsText(held)} held`, 'busy'));
  if (budget !== null) {
    const free = Math.max(0, budget - spentEver - held);
    words.push(
      piece(`${creditsText(free)} free${narrow ? '' : ` of ${creditsText(budget)}`}`, free === 0 ? 'unsure' : 'plain'),
    );
  } else if (balance !== null) words.push(piece(`balance ${creditsText(balance)}`));
  const shown = [...view.tasks.keys()].slice(0, look.rows);
  const name = piece(padRight(creditsWord, nameWidthOf(shown, look)), 'plain');
  const bar =
    budget === null || budget === 0
      ? []
      : [...barPieces({ all: budget, done: spentEver, busy: held }, look), spaces(2)];
  return fillLine([name, spaces(2), ...bar, ...joined(words)], [], look);
}

/** Says what stops the run for now, and what ends its buying. An address is never cut, but has a line of its own. */
function waitingLines(view: RunView, look: Look): string[] {
  const line = (text: string) => fillLine([piece(text, 'unsure')], [], look);
  const lines: string[] = [];
  if (view.stopped !== undefined) {
    const isSignal = view.stopped.because === 'signal';
    lines.push(
      line(
        isSignal ? 'interrupted: what is on the wire is awaited; a second time leaves at once' : stopText(view.stopped),
      ),
    );
  }
  if (view.awaited !== undefined) lines.push(line(awaitedText(view.awaited, look.now)));
  if (view.awaitedGates !== undefined) {
    const whole = awaitedGatesText(view.awaitedGates, look.page);
    if (displayWidth(whole) < look.columns || look.page === undefined) lines.push(line(whole));
    else {
      lines.push(line(awaitedGatesText(view.awaitedGates, undefined)));
      // Half an address leads nowhere; it stands above, where the page was opened.
      if (displayWidth(look.page) < look.columns) lines.push(line(look.page));
    }
  }
  return lines;
}

/** The latest first. */
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
