import { noUser } from '../../contract/failure.ts';
import { call } from '../../ground/advice.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { countOf, creditsText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { wrapLines } from '../text-width.ts';
import type { RunView, SavedFiles, Stage, StepView } from './run-view.ts';
import { isNoUser, stopText } from './run-words.ts';
import { shortTroubleBlocks, type TroubleOptions, troubleBlocks } from './summary-troubles.ts';

export interface SummaryOptions extends TroubleOptions {
  /** Base of output paths, as a person here would write it; empty for the working folder. */
  outputs?: string;
  /** Columns of the terminal; absent: nothing is wrapped. */
  width?: number | undefined;
  /** The money is play money. */
  sandbox?: boolean;
  /** Workers elsewhere carry the run out, whether or not somebody watches. */
  elsewhere?: boolean;
  /** Whether what was saved is in the store of the run, and not here. */
  filesStay?: boolean | undefined;
}

const shownNotices = 10;

/** Lines of a summary: what scrolls away is not read. */
const mostLines = 12;

/**
 * Summary of a run, from the fold of its events: what is done, what failed and how to go on, what is left, where the
 * files are, and the money. Also for a run that was broken off. At most twelve lines, each of which ends with a line
 * feed: what does not fit is told in fewer words, and at last only where it stands.
 */
export function summaryText(view: RunView, options: SummaryOptions): string {
  const steps = [...view.stepsByAddress.values()];
  const head = [headline(view, steps, options.style)];
  const open = openBlock(view, steps, options);
  const notices = noticeBlock(view, options.style);
  const foot = [
    ...(options.filesStay === true ? storeLines(view.files) : fileLines(view.files, 'saved    ', options.outputs)),
    ...fileLines(view.movedFiles, 'moved    ', options.outputs),
    ...postLines(view),
    ...moneyLines(view),
    ...estimateLines(view),
  ];
  // What to do stands last: above it the screen may have scrolled away.
  const full = [[...head, ...foot], notices, ...troubleBlocks(steps, options), open];
  const lines = full
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
  const dense = full.flat();
  const room = mostLines - 1 - foot.length;
  const shortest = () => {
    const ways = [...shortTroubleBlocks(steps, options).flat(), ...shortOpenBlock(view, steps, options)];
    const noticed = shortNoticeBlock(view, options.style);
    const short = ways.length + noticed.length <= room ? [...noticed, ...ways] : ways;
    return [...head, ...foot, ...upTo(room, short, `… more: ${options.paste(call('status'))}`)];
  };
  const told = [lines, dense].find(({ length }) => length <= mostLines) ?? shortest();
  return wrapLines(told, options.width)
    .map((line) => `${line}\n`)
    .join('');
}

/** Takes at most so many lines; where there are more, the last one says so. */
function upTo(most: number, lines: readonly string[], more: string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, Math.max(0, most - 1)), more];
}

function headline(view: RunView, steps: StepView[], style: Style): string {
  const { done, unneeded, kept } = countDone(view, steps);
  const name = style.bold(safeText(view.campaign));
  const notes = [
    ...(kept > 0 ? [`${creditsText(kept)} of them from before`] : []),
    ...(unneeded > 0 ? [`${creditsText(unneeded)} turned out not to be needed`] : []),
  ];
  const before = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  if (done + kept === view.steps) return `${name}: ${style.green(`all ${countOf(view.steps, 'step')} done`)}${before}`;
  return `${name}: ${creditsText(done + kept)} of ${countOf(view.steps, 'step')} done${before}`;
}

/** Number of steps that are done, with those that turned out not to be needed, and of those done before. */
function countDone({ settled }: RunView, steps: StepView[]): { done: number; unneeded: number; kept: number } {
  const unneeded = steps.filter(({ stage }) => stage === 'unneeded').length;
  return { done: (settled.stages.get('done') ?? 0) + unneeded, unneeded, kept: settled.stages.get('kept') ?? 0 };
}

interface OpenSteps {
  /** Steps whose jobs run, without us. */
  goingOn: number;
  /** Steps whose jobs have ended, and whose files are not here. */
  unsaved: number;
  /** Steps whose creates were on the wire. */
  unsure: number;
  unstarted: number;
}

function countOpen(view: RunView, steps: StepView[]): OpenSteps {
  const inStage = (...stages: Stage[]) => steps.filter(({ stage }) => stages.includes(stage));
  const sending = inStage('working', 'searching');
  const unsure = sending.filter(({ intended }) => intended).length;
  const idle = sending.length - unsure;
  const named = view.settled.addresses.size + steps.length;
  return {
    goingOn: inStage('running', 'stays-paid').filter(({ hasCompletedJob }) => !hasCompletedJob).length,
    unsaved: inStage('saving', 'stays-paid').filter(({ hasCompletedJob }) => hasCompletedJob).length,
    unsure,
    unstarted: inStage('left').length + view.steps - named + idle,
  };
}

/** Nobody here watches to the end, which is told by the run's own words. */
function isLeft(view: RunView, { elsewhere }: SummaryOptions): boolean {
  return elsewhere === true && view.end === undefined;
}

/** Says what the workers go on with. */
function leftBlock(view: RunView, steps: StepView[], { paste }: SummaryOptions): string[] {
  const { goingOn, unsaved, unsure, unstarted } = countOpen(view, steps);
  const open = goingOn + unsaved + unsure + unstarted;
  const lines = open === 0 ? [] : [`${countOf(open, 'step')} ${open === 1 ? 'goes' : 'go'} on without this command`];
  return [...lines, `to watch again, and bring what is made: ${paste(call('apply'))}`];
}

/** Jobs that go on without us, and steps that never began. */
function openBlock(view: RunView, steps: StepView[], options: SummaryOptions): string[] {
  if (isLeft(view, options)) return leftBlock(view, steps, options);
  const { goingOn, unsaved, unsure, unstarted } = countOpen(view, steps);
  const lines: string[] = [];
  if (goingOn > 0) {
    lines.push(
      `${countOf(goingOn, 'job')} ${goingOn === 1 ? 'keeps' : 'keep'} running and ${are(goingOn)} paid; run again to collect`,
    );
  }
  if (unsaved > 0) {
    lines.push(`${countOf(unsaved, 'job')} ${are(unsaved)} finished and paid, not saved yet; run again to fetch`);
  }
  if (unsure > 0) {
    const outcome = unsure === 1 ? 'its outcome is' : 'their outcomes are';
    lines.push(
      `${countOf(unsure, 'create')} ${were(unsure)} on the wire, ${outcome} not known yet; run again to find out`,
    );
  }
  if (unstarted > 0) lines.push(`${countOf(unstarted, 'step')} ${were(unstarted)} not started`);
  if (view.waitedMs > 0) lines.push(`waited ${spanText(view.waitedMs)} for credits`);
  if (view.stopped !== undefined) lines.push(...stopLines(view.stopped, { view, steps, options }));
  else if (goingOn + unsaved + unsure + unstarted > 0) lines.push(`to go on: ${options.paste(call('apply'))}`);
  return lines;
}

/** The same in two or three lines. */
function shortOpenBlock(view: RunView, steps: StepView[], options: SummaryOptions): string[] {
  if (isLeft(view, options)) return leftBlock(view, steps, options);
  const { goingOn, unsaved, unsure, unstarted } = countOpen(view, steps);
  const counts: [count: number, words: string][] = [
    [goingOn, 'running on, paid'],
    [unsaved, 'paid, to be fetched'],
    [unsure, 'on the wire, to be found out'],
    [unstarted, 'not started'],
  ];
  const parts = counts.flatMap(([count, words]) => (count === 0 ? [] : [`${creditsText(count)} ${words}`]));
  const open = parts.length === 0 ? [] : [`open     ${parts.join(' · ')}`];
  if (view.stopped !== undefined) return [...open, ...stopLines(view.stopped, { view, steps, options })];
  return parts.length === 0 ? open : [...open, `to go on: ${options.paste(call('apply'))}`];
}

/** Reason why nothing more is bought, and the way on where anything is left. */
function stopLines(
  stopped: NonNullable<RunView['stopped']>,
  { view, steps, options }: { view: RunView; steps: StepView[]; options: SummaryOptions },
): string[] {
  const { done, kept } = countDone(view, steps);
  return [
    stopText(stopped),
    ...(done + kept === view.steps ? [] : [...missingLines(view), ...wayOn(stopped, options)]),
  ];
}

/** Says how many credits the account lacks for what is left. */
function missingLines({ stopped, toSpend, money: { spentNow, balance } }: RunView): string[] {
  if (stopped?.because !== 'balance' || toSpend === undefined || toSpend <= spentNow) return [];
  const left = `what is left costs about ${countOf(toSpend - spentNow, 'credit')}`;
  if (balance === null) return [left];
  const missing = Math.max(0, toSpend - spentNow - balance);
  return [`${left}, and the account has ${creditsText(balance)}: ${creditsText(missing)} missing`];
}

/** Advice on how to continue. */
function wayOn(stopped: NonNullable<RunView['stopped']>, { paste, sandbox }: SummaryOptions): string[] {
  const { because } = stopped;
  const apply = paste(call('apply'));
  switch (because) {
    case 'balance':
      return sandbox === true
        ? [`it is play money: without --sandbox-credits there is enough of it: ${apply}`]
        : [
            `top up the account at the service, then: ${apply}`,
            `or let the run wait until that is done: ${paste(call('apply', '--wait-for-balance', '2h'))}`,
          ];
    case 'budget':
      return [`with a higher budget (\`budget\` in the manifest, or --max-credits): ${apply}`];
    case 'limit':
      return [`when the day or the month is over, or after the payer raises the limit: ${apply}`];
    case 'alike':
      return [`to buy the others all the same: ${paste(call('apply', '--on-error', 'continue'))}`];
    case 'price':
      return [`the next plan knows the charge, and says what the rest comes to: ${apply}`];
    case 'auth':
      if (isNoUser(stopped)) return [noUser.hint, `then: ${apply}`];
      return [`what is wrong with it: ${paste(call('doctor'))}`, `then: ${apply}`];
    case 'unreachable':
      return [`what is wrong with it: ${paste(call('doctor'))}`, `then: ${apply}`];
    case 'throttled':
      return [`to wait for it in a run: ${paste(call('apply', '--patience', '25h'))}`, `or then: ${apply}`];
    case 'signal':
    case 'disk':
    case 'failure':
    case 'error':
      return [`to go on: ${apply}`];
    default:
      return because satisfies never;
  }
}

function noticeBlock(view: RunView, style: Style): string[] {
  const notices = [...view.notices];
  if (notices.length === 0) return [];
  const hidden = notices.length - shownNotices;
  return [
    style.yellow('noticed'),
    ...notices.slice(0, shownNotices).map((notice) => `  ${safeText(notice)}`),
    ...(hidden > 0 ? [`  … and ${countOf(hidden, 'more notice')}`] : []),
  ];
}

function shortNoticeBlock({ notices }: RunView, style: Style): string[] {
  const [first] = notices;
  if (first === undefined) return [];
  const more = notices.size > 1 ? `, and ${countOf(notices.size - 1, 'more notice')}` : '';
  return [`${style.yellow('noticed')}  ${safeText(first, 200)}${more}`];
}

function fileLines({ count, path, folder }: SavedFiles, label: string, outputs = ''): string[] {
  if (count === 0) return [];
  const within = outputs === '' ? '' : `${outputs.replace(/\/+$/, '')}/`;
  if (count === 1) return [`${label}${safeText(`${within}${path}`)}`];
  const shared = `${within}${folder.map((name) => `${name}/`).join('')}`;
  return [
    `${label}${countOf(count, 'file')} ${label.startsWith('moved') ? 'to' : 'in'} ${safeText(shared === '' ? './' : shared)}`,
  ];
}

function storeLines({ count, path }: SavedFiles): string[] {
  return count === 0
    ? []
    : [`saved    ${count === 1 ? safeText(path) : countOf(count, 'file')} in the store of the run`];
}

/** Posts that went public in this run, and those that still await agreement. */
function postLines(view: RunView): string[] {
  const tasks = [...view.tasks.values()].filter(({ kind }) => isPost(kind));
  const count = (stage: Stage) => tasks.reduce((sum, { stages }) => sum + (stages.get(stage) ?? 0), 0);
  const [done, kept, waiting] = [count('done'), count('kept'), count('awaits-consent')];
  const published = done - view.scheduledPosts.size;
  const parts = [
    ...(published > 0 ? [`${creditsText(published)} published now`] : []),
    ...(view.scheduledPosts.size > 0 ? [`${creditsText(view.scheduledPosts.size)} scheduled`] : []),
    ...(kept > 0 ? [`${creditsText(kept)} before`] : []),
    ...(waiting > 0 ? [`${creditsText(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for consent`] : []),
  ];
  return done + waiting === 0 ? [] : [`posts    ${parts.join(' · ')}`];
}

function moneyLines(view: RunView): string[] {
  const { spentNow, spentEver, held, budget, balance } = view.money;
  const parts = [`${creditsText(spentNow)} spent now`, `${creditsText(spentEver)} over all runs`];
  if (held > 0) parts.push(`${creditsText(held)} reserved for creates whose charge is not known`);
  if (budget !== null)
    parts.push(`${creditsText(Math.max(0, budget - spentEver - held))} of ${creditsText(budget)} left`);
  if (balance !== null) parts.push(`balance ${creditsText(balance)}`);
  return [`credits  ${parts.join(' · ')}`];
}

/** Says what the plan expected, where it was an estimate or turned out otherwise. */
function estimateLines({ estimated, money }: RunView): string[] {
  if (estimated === undefined) return [];
  const { jobs, likely, charged, unpriced } = estimated;
  if (jobs === 0) return [`estimate none for ${countOf(unpriced, 'job')} · ${creditsText(money.spentNow)} charged`];
  const off = charged - likely;
  const how = off === 0 ? 'as estimated' : `${creditsText(Math.abs(off))} ${off > 0 ? 'more' : 'less'} than estimated`;
  const others = unpriced > 0 ? ` · ${countOf(unpriced, 'job')} had no estimate` : '';
  return [
    `estimate ${creditsText(likely)} for ${countOf(jobs, 'job')} · ${creditsText(charged)} charged, ${how}${others}`,
  ];
}

function are(count: number): string {
  return count === 1 ? 'is' : 'are';
}

function were(count: number): string {
  return count === 1 ? 'was' : 'were';
}
