import { groupBy } from '../../ground/values.ts';
import { countOf, creditsText, elapsedText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from '../tables/table.ts';
import { countOutcomes, type RunStory, type StepStory, type WholeStory } from './run-story.ts';

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

/** Earlier runs, newest first. `running`: the id of one that still goes on. */
export function runsText(
  runs: readonly RunStory[],
  { running, ...options }: { style: Style; width?: number; running?: string | undefined },
): string {
  const columns = [
    { title: 'run' },
    { title: 'when' },
    { title: 'ended', least: 8 },
    { title: 'steps', least: 10 },
    { title: 'credits', align: 'right' as const },
    { title: 'took', align: 'right' as const },
  ];
  const cells = runs.map((run): Cell[] => [
    run.id,
    timeText(run.at).slice(0, 16),
    endCell(run, { style: options.style, isRunning: run.id === running }),
    outcomesText(run),
    spentText(run, run.id === running),
    run.elapsedMs === undefined ? '' : elapsedText(run.elapsedMs),
  ]);
  return tableText(columns, cells, options);
}

/** Charges of a run that did not come to its end may be missing: never 0 for unknown. */
function spentText({ how, spentNow }: RunStory, isRunning: boolean): string {
  if (isRunning || how === 'ended') return creditsText(spentNow);
  return spentNow === 0 ? '?' : `at least ${creditsText(spentNow)}`;
}

/** Renders one run: its steps by task, what went wrong, what was noticed. Ends with a line feed. */
export function runText(
  run: WholeStory,
  options: { style: Style; width?: number; isRunning: boolean; path: string },
): string {
  const { style, isRunning, path } = options;
  const end = endCell(run, { style, isRunning });
  const by = [
    run.tool === undefined ? 'mediabatch' : `mediabatch ${run.tool}`,
    ...(run.commit === undefined ? [] : [`commit ${run.commit.slice(0, 12)}`]),
    ...(run.manifest === undefined ? [] : [`manifest ${run.manifest.slice(0, 12)}`]),
  ];
  const took = run.elapsedMs === undefined ? '' : `, took ${elapsedText(run.elapsedMs)}`;
  const unknown = run.unknownPrices ? ` + ${countOf(run.unknownPrices, 'unknown price')}` : '';
  const planned = run.planned === undefined ? '' : `, planned ${creditsText(run.planned)}${unknown}`;
  const head = [
    `${style.bold(safeText(run.campaign ?? run.id))}: ${typeof end === 'string' ? end : end.paint(safeText(end.text))}`,
    `run      ${run.id}`,
    `began    ${timeText(run.at) || 'not on record'}${took}`,
    `by       ${safeText(by.join(', '))}`,
    ...(run.approved === undefined
      ? []
      : [`approved by ${safeText(run.approved.by, 100)}, ${timeText(run.approved.at)}`]),
    `credits  ${spentText(run, isRunning)} charged${planned}`,
    ...(run.error === undefined ? [] : [`error    ${safeText(run.error)}`]),
    ...(run.dropped === undefined ? [] : [style.yellow(`${countOf(run.dropped, 'event')} more than are kept`)]),
  ];
  const blocks = [
    `${head.join('\n')}\n`,
    tasksText(run.steps, options),
    listText(style.red('not done'), run.steps.filter(isTrouble).map(troubleText), mostProblems),
    listText(style.yellow('noticed'), run.notices, mostNotices),
    `${style.dim(`all events: ${safeText(path)}`)}\n`,
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function tasksText(steps: readonly StepStory[], options: { style: Style; width?: number }): string {
  const groups = groupBy(steps, ({ task, action }) => `${task}\0${action}`);
  const columns = [
    { title: 'task', least: 12 },
    { title: 'kind' },
    { title: 'action' },
    { title: 'steps', least: 10 },
    { title: 'credits', align: 'right' as const },
    { title: 'files', align: 'right' as const },
  ];
  const cells = [...groups.values()].flatMap((group): Cell[][] => {
    const [first] = group;
    if (first === undefined) return [];
    const outcomes = outcomesText({
      outcomes: countOutcomes(group),
      unsaved: group.filter((step) => step.unsaved).length,
    });
    const unknown = group.some(({ credits }) => credits === null);
    const credits = group.reduce((sum, step) => sum + (step.credits ?? 0), 0);
    const files = group.reduce((sum, step) => sum + step.files.length, 0);
    const shown = unknown ? `${creditsText(credits)} + ?` : creditsText(credits);
    return [[first.task, first.kind, first.action, outcomes, shown, files === 0 ? '' : String(files)]];
  });
  return tableText(columns, cells, options);
}

function isTrouble({ outcome }: StepStory): boolean {
  return outcome !== 'done' && outcome !== 'unneeded';
}

function troubleText({ address, outcome = 'open', unsaved, error }: StepStory): string {
  return `${address} ${unsaved ? unsavedWords : outcome}${error === undefined ? '' : `: ${error}`}`;
}

function listText(title: string, lines: readonly string[], most: number): string {
  if (lines.length === 0) return '';
  const more = lines.length > most ? [`  … and ${creditsText(lines.length - most)} more (--json shows all)`] : [];
  return `${[title, ...lines.slice(0, most).map((line) => `  ${safeText(line)}`), ...more].join('\n')}\n`;
}

function endCell(run: RunStory, { style, isRunning }: { style: Style; isRunning: boolean }): Cell {
  const text = endText(run, isRunning);
  if (text === 'done') return { text, paint: style.green };
  return { text, paint: isRunning ? style.cyan : run.how === 'ended' && run.exit !== 3 ? style.yellow : style.red };
}

function endText({ how, exit, stopped }: RunStory, isRunning: boolean): string {
  if (how === undefined) return isRunning ? 'running' : 'broken off';
  if (how !== 'ended') return how === 'left' ? 'left early' : 'error';
  if (exit === 4) return stopped === 'balance' ? 'account empty' : 'budget used up';
  return endings[exit ?? -1] ?? `exit ${exit ?? '?'}`;
}

const unsavedWords = 'finished, not saved';

/** `12 done, 2 failed`. */
function outcomesText({ outcomes, unsaved = 0 }: Pick<RunStory, 'outcomes' | 'unsaved'>): string {
  const counts = Object.entries(outcomes).map(([outcome, count]): [string, number] =>
    outcome === 'running' ? [outcome, count - unsaved] : [outcome, count],
  );
  const shown = [...counts, [unsavedWords, unsaved] as const].filter(([, count]) => count > 0);
  return shown.map(([outcome, count]) => `${creditsText(count)} ${outcome}`).join(', ');
}

/** `2026-11-22 15:32:15` by this machine's time zone; empty for no time. */
function timeText(at: string | undefined): string {
  const time = new Date(at ?? Number.NaN);
  if (Number.isNaN(time.getTime())) return '';
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
