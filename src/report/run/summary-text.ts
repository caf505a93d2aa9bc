import { noUser } from '../../contract/failure.ts';
import { type Call, call } from '../../ground/advice.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import {
  type Block,
  command,
  type Document,
  type Fact,
  facts,
  good,
  line,
  stack,
  strong,
  warning,
} from '../document.ts';
import { countOf, creditsText, spanText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { RunView, SavedFiles, Stage, StepView } from './run-view.ts';
import { countSteps, isNoUser, stopText } from './run-words.ts';
import { type TroubleOptions, troubleBlocks } from './summary-troubles.ts';

interface SummaryOptions extends TroubleOptions {
  /** Base of output paths, relative to the working folder; empty for the folder itself. */
  outputs?: string;
  sandbox?: boolean;
  /** Command that continues the run. Default: `apply` of its manifest. */
  goingOn?: Call | undefined;
  /** Whether workers of an engine execute the run, attached or not. */
  elsewhere?: boolean;
  /** Whether saved files are in the store of the run, and not on this machine. */
  filesStay?: boolean | undefined;
}

const shownNotices = 5;

/**
 * Summary of a run, from its view: done steps, location of the files, costs, failures with advice, and remaining work.
 * Also for a run that was aborted. Advice comes last, because the lines above it may have scrolled away.
 */
export function summaryView(view: RunView, options: SummaryOptions): Document {
  const steps = [...view.stepsByAddress.values()];
  const head = stack(
    headline(view),
    facts([
      options.filesStay === true ? storeFact(view.files) : filesFact(view.files, 'saved', options.outputs),
      filesFact(view.movedFiles, 'moved', options.outputs),
      postsFact(view),
      { label: 'credits', text: moneyText(view) },
      estimateFact(view),
    ]),
  );
  return [head, noticeBlock(view), ...troubleBlocks(steps, options), stack(...openLines(view, steps, options))];
}

function headline(view: RunView): Block {
  const [done, kept, unneeded] = [countDone(view), countSteps(view, 'kept'), countSteps(view, 'unneeded')];
  const notes = [
    ...(kept > 0 ? [`${creditsText(kept)} of them in earlier runs`] : []),
    ...(unneeded > 0 ? [`${creditsText(unneeded)} not needed`] : []),
  ];
  const before = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  const count =
    done === view.steps
      ? good(`${view.steps === 1 ? '' : 'all '}${countOf(view.steps, 'step')} done`)
      : `${creditsText(done)} of ${countOf(view.steps, 'step')} done`;
  return line([strong(view.campaign), ': ', count, before]);
}

function countDone(view: RunView): number {
  return countSteps(view, 'done', 'kept', 'unneeded');
}

interface OpenSteps {
  /** Steps whose jobs continue after the run. */
  goingOn: number;
  /** Steps whose jobs have ended, and whose files are not saved here. */
  unsaved: number;
  /** Steps whose create requests were in flight. */
  unsure: number;
  unstarted: number;
}

function countOpen(view: RunView, steps: StepView[]): OpenSteps {
  const inStage = (...stages: Stage[]) => steps.filter(({ stage }) => stages.includes(stage));
  const sending = inStage('working', 'searching');
  const unsure = sending.filter(({ intended }) => intended).length;
  const idle = sending.length - unsure;
  const named = view.settled.size + steps.length;
  return {
    goingOn: inStage('running', 'stays-paid').filter(({ hasCompletedJob }) => !hasCompletedJob).length,
    unsaved: inStage('saving', 'stays-paid').filter(({ hasCompletedJob }) => hasCompletedJob).length,
    unsure,
    unstarted: inStage('left').length + view.steps - named + idle,
  };
}

/** Returns whether the user detached, so that the run's own events report its end. */
function isLeft(view: RunView, { elsewhere }: SummaryOptions): boolean {
  return elsewhere === true && view.end === undefined;
}

function leftLines(view: RunView, steps: StepView[], { paste }: SummaryOptions): Document {
  const { goingOn, unsaved, unsure, unstarted } = countOpen(view, steps);
  const open = goingOn + unsaved + unsure + unstarted;
  return [
    open === 0
      ? undefined
      : line(`${countOf(open, 'step')} ${open === 1 ? 'continues' : 'continue'} without this command`),
    command('to watch again, and download its outputs', paste(call('apply'))),
  ];
}

function openLines(view: RunView, steps: StepView[], options: SummaryOptions): Document {
  if (isLeft(view, options)) return leftLines(view, steps, options);
  const { goingOn, unsaved, unsure, unstarted } = countOpen(view, steps);
  const counts: [count: number, noun: string, words: string][] = [
    [goingOn, 'job', 'still running, paid'],
    [unsaved, 'job', 'finished and paid, to be fetched'],
    [unsure, 'create', 'sent, outcome unknown'],
    [unstarted, 'step', 'not started'],
  ];
  const parts = counts.flatMap(([count, noun, words]) => (count === 0 ? [] : [`${countOf(count, noun)} ${words}`]));
  const isOpen = parts.length > 0;
  return [
    isOpen ? line(parts.join(' · ')) : undefined,
    view.waitedMs > 0 ? line(`waited ${spanText(view.waitedMs)} for credits`) : undefined,
    ...wayFrom(view, { options, isOpen }),
  ];
}

/** Returns why the run stopped buying, and the next step if work is left. */
function wayFrom(view: RunView, { options, isOpen }: { options: SummaryOptions; isOpen: boolean }): Document {
  const { paste, goingOn = call('apply') } = options;
  if (view.stopped === undefined) return isOpen ? [command('to go on', paste(goingOn))] : [];
  return [
    line(stopText(view.stopped)),
    ...(countDone(view) === view.steps ? [] : [...missingLines(view), ...wayOn(view.stopped, options)]),
  ];
}

function missingLines({ stopped, toSpend, money: { spentNow, balance } }: RunView): Document {
  if (stopped?.because !== 'balance' || toSpend === null || toSpend <= spentNow) return [];
  const left = `the rest costs about ${countOf(toSpend - spentNow, 'credit')}`;
  if (balance === null) return [line(left)];
  const missing = Math.max(0, toSpend - spentNow - balance);
  return [line(`${left}, and the account has ${creditsText(balance)}: ${creditsText(missing)} missing`)];
}

/** Returns what a user can do after a stop. */
export function wayOn(
  stopped: NonNullable<RunView['stopped']>,
  { paste, sandbox, goingOn = call('apply') }: SummaryOptions,
): Document {
  const { because } = stopped;
  const apply = paste(call('apply'));
  switch (because) {
    case 'balance':
      return sandbox === true
        ? [command('for enough sandbox credits, omit --sandbox-credits', apply)]
        : [
            command('top up the account at the service, then', apply),
            command('or let the run wait until that is done', paste(call('apply', '--wait-for-balance', '2h'))),
          ];
    case 'budget':
      return [command('with a higher budget (`budget` in the manifest; --max-credits only lowers it)', apply)];
    case 'limit':
      return [
        command('again now (a limit per run), after 00:00 UTC (per day), or when the payer raises the limit', apply),
      ];
    case 'alike':
      return [command('to buy the other steps anyway', paste(call('apply', '--on-error', 'continue')))];
    case 'price':
      return [command('the next plan prices the rest by this charge', apply)];
    case 'auth':
    case 'unreachable':
      return [
        isNoUser(stopped) ? line(noUser.hint) : command('what is wrong with it', paste(call('doctor'))),
        command('then', apply),
      ];
    case 'throttled':
      return [command('to wait for it in a run', paste(call('apply', '--patience', '25h'))), command('or then', apply)];
    case 'signal':
    case 'disk':
    case 'failure':
    case 'error':
      return [command('to go on', paste(goingOn))];
    default:
      return because satisfies never;
  }
}

function noticeBlock(view: RunView): Block | undefined {
  const notices = [...view.notices];
  if (notices.length === 0) return undefined;
  const hidden = notices.length - shownNotices;
  const more = hidden > 0 ? line(`… and ${countOf(hidden, 'more notice')}`) : undefined;
  return line(warning('noticed'), [...notices.slice(0, shownNotices).map((notice) => line(safeText(notice))), more]);
}

function filesFact({ count, path, folder }: SavedFiles, label: 'saved' | 'moved', outputs = ''): Fact | undefined {
  if (count === 0) return undefined;
  const within = outputs === '' ? '' : `${outputs.replace(/\/+$/, '')}/`;
  if (count === 1) return { label, text: `${within}${path}` };
  const shared = `${within}${folder.map((name) => `${name}/`).join('')}`;
  return {
    label,
    text: `${countOf(count, 'file')}${shared === '' ? '' : ` ${label === 'moved' ? 'to' : 'in'} ${shared}`}`,
  };
}

function storeFact({ count, path }: SavedFiles): Fact | undefined {
  if (count === 0) return undefined;
  return { label: 'saved', text: `${count === 1 ? path : countOf(count, 'file')} in the store of the run` };
}

function postsFact(view: RunView): Fact | undefined {
  const tasks = new Map([...view.tasks].filter(([, { kind }]) => isPost(kind)));
  const count = (stage: Stage) => countSteps({ tasks }, stage);
  const [done, kept, waiting] = [count('done'), count('kept'), count('awaits-consent')];
  const published = done - view.scheduledPosts.size;
  const parts = [
    ...(published > 0 ? [`${creditsText(published)} published now`] : []),
    ...(view.scheduledPosts.size > 0 ? [`${creditsText(view.scheduledPosts.size)} scheduled`] : []),
    ...(kept > 0 ? [`${creditsText(kept)} before`] : []),
    ...(waiting > 0 ? [`${creditsText(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for consent`] : []),
  ];
  return done + waiting === 0 ? undefined : { label: 'posts', text: parts.join(' · ') };
}

function moneyText(view: RunView): string {
  const { spentNow, spentEver, held, budget, balance } = view.money;
  const parts = [`${creditsText(spentNow)} spent now`, `${creditsText(spentEver)} over all runs`];
  if (held > 0) parts.push(`${creditsText(held)} reserved for creates whose charge is not known`);
  if (budget !== null)
    parts.push(`${creditsText(Math.max(0, budget - spentEver - held))} of ${creditsText(budget)} left`);
  if (balance !== null) parts.push(`balance ${creditsText(balance)}`);
  return parts.join(' · ');
}

/** Returns the plan's expected cost, if it was an estimate or was wrong. */
function estimateFact({ estimated, money }: RunView): Fact | undefined {
  if (estimated === undefined) return undefined;
  const { jobs, likely, charged, unpriced } = estimated;
  const label = 'estimate';
  if (jobs === 0)
    return { label, text: `unknown for ${countOf(unpriced, 'job')} · ${creditsText(money.spentNow)} charged` };
  const off = charged - likely;
  const how = off === 0 ? 'as estimated' : `${creditsText(Math.abs(off))} ${off > 0 ? 'more' : 'less'} than estimated`;
  const others = unpriced > 0 ? ` · ${countOf(unpriced, 'job')} had no estimate` : '';
  const text = `${creditsText(likely)} for ${countOf(jobs, 'job')} · ${creditsText(charged)} charged, ${how}${others}`;
  return { label, text };
}
