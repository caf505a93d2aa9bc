import { noUser } from '../../contract/failure.ts';
import { type Call, call, way } from '../../ground/advice.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { waysBlock } from '../advice-text.ts';
import {
  type Block,
  type Document,
  type Fact,
  facts,
  good,
  line,
  someLines,
  stack,
  strong,
  warning,
} from '../document.ts';
import { countOf, countWords, creditsText, elapsedText, moneyText, spanText } from '../numbers.ts';
import type { RunView, SavedFiles, Stage, StepView } from './run-view.ts';
import { countSteps, isNoUser, stopText } from './run-words.ts';
import { type Remedy, type TroubleOptions, troubleBlocks } from './summary-troubles.ts';

interface SummaryOptions extends TroubleOptions {
  outputs?: string;
  sandbox?: boolean;
  goingOn?: Call | undefined;
  elsewhere?: boolean;
  /** Whether the saved files are in the store of the run instead of on this machine. */
  filesStay?: boolean | undefined;
}

const shownNotices = 5;

/**
 * Summarizes a run that has ended or was aborted. Advice comes last, because a terminal shows the last lines of a long
 * summary.
 */
export function summaryView(view: RunView, options: SummaryOptions): Document {
  const steps = [...view.stepsByAddress.values()];
  const head = stack(
    headline(view),
    facts([
      filesFact('saved', view.files, options),
      filesFact('moved', view.movedFiles, options),
      postsFact(view),
      { label: 'credits', text: moneyText(view.money) },
      estimateFact(view),
      view.end && { label: 'time', text: elapsedText(view.end.elapsedMs) },
    ]),
  );
  return [head, noticeBlock(view), ...troubleBlocks(steps, options), stack(...endLines(view, steps, options))];
}

function headline(view: RunView): Block {
  const [done, kept, unneeded] = [countDone(view), countSteps(view, 'kept'), countSteps(view, 'unneeded')];
  const notes = countWords([
    [kept, 'of them in earlier runs'],
    [unneeded, 'not needed'],
  ]);
  const count =
    done === view.steps
      ? good(`${view.steps === 1 ? '' : 'all '}${countOf(view.steps, 'step')} done`)
      : `${creditsText(done)} of ${countOf(view.steps, 'step')} done`;
  return line([strong(view.campaign), ': ', count, notes.length === 0 ? '' : ` (${notes.join(', ')})`]);
}

function countDone(view: RunView): number {
  return countSteps(view, 'done', 'kept', 'unneeded');
}

function endLines(view: RunView, steps: readonly StepView[], options: SummaryOptions): Document {
  const { paste, goingOn = call('apply') } = options;
  const open = openCounts(view, steps);
  // The user detached, and the run continues.
  if (options.elsewhere === true && view.end === undefined) {
    const count = open.reduce((sum, [one]) => sum + one, 0);
    const words = `${countOf(count, 'step')} ${count === 1 ? 'continues' : 'continue'} without this command`;
    return [
      count === 0 ? undefined : line(words),
      ...waysBlock([way('to watch the run again, and download its outputs', call('apply'))], paste),
    ];
  }
  const parts = open.flatMap(([count, noun, words]) => (count === 0 ? [] : [`${countOf(count, noun)} ${words}`]));
  const { stopped, waitedMs } = view;
  const isDone = countDone(view) === view.steps;
  return [
    parts.length > 0 ? line(parts.join(' · ')) : undefined,
    waitedMs > 0 ? line(`waited ${spanText(waitedMs)} for credits`) : undefined,
    ...(stopped === undefined
      ? waysBlock(parts.length > 0 ? [way('to continue', goingOn)] : [], paste)
      : [line(stopText(stopped)), ...(isDone ? [] : [missingLine(view), ...wayOn(stopped, options)])]),
  ];
}

function openCounts(view: RunView, steps: readonly StepView[]): [count: number, noun: string, words: string][] {
  const count = (has: (step: StepView) => boolean, ...stages: Stage[]) =>
    steps.filter((step) => stages.includes(step.stage) && has(step)).length;
  const named = view.settled.size + steps.length;
  const unstarted = view.steps - named + count(({ intended }) => !intended, 'working', 'searching');
  return [
    [count(({ hasCompletedJob }) => !hasCompletedJob, 'running', 'stays-paid'), 'job', 'still running, paid'],
    [
      count(({ hasCompletedJob }) => hasCompletedJob, 'saving', 'stays-paid'),
      'job',
      'finished and paid, not downloaded yet',
    ],
    [count(({ intended }) => intended, 'working', 'searching'), 'create request', 'sent, outcome unknown'],
    [unstarted + count(() => true, 'left'), 'step', 'not started'],
  ];
}

function missingLine({ stopped, toSpend, money: { spentNow, balance } }: RunView): Block | undefined {
  if (stopped?.because !== 'balance' || toSpend === null || toSpend <= spentNow) return undefined;
  const rest = toSpend - spentNow;
  const text = `the remaining steps cost about ${countOf(rest, 'credit')}`;
  if (balance === null) return line(text);
  const missing = creditsText(Math.max(0, rest - balance));
  return line(`${text}, and the account has ${creditsText(balance)}: ${missing} missing`);
}

export function wayOn(stopped: NonNullable<RunView['stopped']>, options: SummaryOptions): Document {
  return waysBlock(waysOn(stopped, options), options.paste);
}

function waysOn(stopped: NonNullable<RunView['stopped']>, options: SummaryOptions): Remedy[] {
  const { sandbox, goingOn = call('apply') } = options;
  const { because } = stopped;
  const apply = call('apply');
  switch (because) {
    case 'balance':
      return sandbox === true
        ? [way('for enough sandbox credits, omit --sandbox-credits', apply)]
        : [
            way('top up the account at the service, then', apply),
            way('or let the run wait for the credits', call('apply', '--wait-for-balance', '2h')),
          ];
    case 'budget':
      return [way('with a higher budget (`budget` in the manifest; --max-credits only lowers it)', apply)];
    case 'limit':
      return [
        way('run again now (a limit per run), after 00:00 UTC (per day), or when the payer raises the limit', apply),
      ];
    case 'alike':
      return [way('to buy the other steps anyway', call('apply', '--on-error', 'continue'))];
    case 'price':
      return [way('the next plan prices the remaining steps by this charge', apply)];
    case 'auth':
    case 'unreachable':
      return [
        isNoUser(stopped) ? noUser.hint : way('to check the key and the service', call('doctor')),
        way('then', apply),
      ];
    case 'throttled':
      return [
        way('to let the run wait for the service', call('apply', '--patience', '25h')),
        way('or to run again after that time', apply),
      ];
    case 'signal':
    case 'disk':
    case 'failure':
    case 'error':
      return [way('to continue', goingOn)];
    default:
      return because satisfies never;
  }
}

function noticeBlock(view: RunView): Block | undefined {
  const notices = [...view.notices];
  if (notices.length === 0) return undefined;
  return line(warning('noticed'), someLines(notices, shownNotices));
}

function filesFact(
  label: 'saved' | 'moved',
  { count, path, folder }: SavedFiles,
  { outputs = '', filesStay = false }: SummaryOptions,
): Fact | undefined {
  if (count === 0) return undefined;
  if (filesStay && label === 'saved')
    return { label, text: `${count === 1 ? path : countOf(count, 'file')} in the store of the run` };
  const base = outputs === '' ? '' : `${outputs.replace(/\/+$/, '')}/`;
  if (count === 1) return { label, text: `${base}${path}` };
  const place = `${base}${folder}`;
  return { label, text: `${countOf(count, 'file')}${place === '' ? '' : ` in ${place}`}` };
}

function postsFact(view: RunView): Fact | undefined {
  const tasks = new Map([...view.tasks].filter(([, { kind }]) => isPost(kind)));
  const count = (stage: Stage) => countSteps({ tasks }, stage);
  const { size: scheduled } = view.scheduledPosts;
  const waiting = count('awaits-consent');
  if (count('done') + waiting === 0) return undefined;
  const parts = countWords([
    [count('done') - scheduled, 'published now'],
    [scheduled, 'scheduled'],
    [count('kept'), 'before'],
    [waiting, `${waiting === 1 ? 'waits' : 'wait'} for consent`],
  ]);
  return { label: 'posts', text: parts.join(' · ') };
}

function estimateFact({ estimated, money }: RunView): Fact | undefined {
  if (estimated === undefined) return undefined;
  const { jobs, likely, charged, unpriced } = estimated;
  const parts = [
    ...(jobs > 0 ? [`${creditsText(likely)} for ${countOf(jobs, 'job')}`, `${creditsText(charged)} charged`] : []),
    ...(unpriced > 0 ? [`unknown for ${countOf(unpriced, 'job')}`] : []),
    ...(jobs > 0 ? [] : [`${creditsText(money.spentNow)} charged`]),
  ];
  return { label: 'estimate', text: parts.join(' · ') };
}
