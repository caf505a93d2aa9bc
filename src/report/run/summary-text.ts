import { noUser } from '../../contract/failure.ts';
import { type Call, call, type Way, way } from '../../ground/advice.ts';
import { likenessOf } from '../../ground/likeness.ts';
import { groupBy } from '../../ground/values.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { isPromptRefused } from '../../plan/purchases/next.ts';
import { writeName } from '../../plan/select/names.ts';
import { type Paste, waysBlock } from '../advice-text.ts';
import {
  type Block,
  bad,
  type Document,
  type Fact,
  facts,
  good,
  type Line,
  line,
  type Span,
  someLines,
  stack,
  strong,
  warning,
} from '../document.ts';
import { countOf, countWords, creditsText, elapsedText, moneyText, spanText } from '../numbers.ts';
import { anonymousText } from '../plan/plan-items.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { RunView, SavedFiles, Stage, StepView } from './run-view.ts';
import { countSteps, isNoUser, stopText } from './run-words.ts';

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
        way(
          'run again now (limit per run), after 00:00 UTC (limit per day), or when the payer raises the limit',
          apply,
        ),
      ];
    case 'alike':
      return [way('to buy the other steps anyway', call('apply', '--on-error', 'continue'))];
    case 'price':
      return [way('to approve the remaining steps at the price that was charged', apply)];
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

interface TroubleOptions {
  paste: Paste;
  unfit?: ReadonlySet<string>;
}

const shownGroups = 5;
const shownNames = 5;

type Remedy = string | Way<Call>;

type Troubled = Pick<StepView, 'address' | 'error' | 'jobId' | 'need'>;

interface Trouble {
  title: readonly Span[];
  has(step: StepView, isUnfit: boolean): boolean;
  select?: string;
  mend?(steps: readonly StepView[], all: readonly StepView[]): Remedy[];
}

function troubleBlocks(steps: readonly StepView[], { paste, unfit }: TroubleOptions): Document {
  const isUnfit = ({ files, address }: StepView) => files.length > 0 || unfit?.has(address) === true;
  const byTrouble = groupBy(steps, (step) => troubles.find(({ has }) => has(step, isUnfit(step))));
  return troubles.map((trouble) => {
    const own = byTrouble.get(trouble);
    const { title, select, mend } = trouble;
    return own && line(title, groupLines(own, { paste, select, mends: mend?.(own, steps) ?? [] }));
  });
}

const isUnresolved = ({ stage }: StepView) => stage === 'unresolved';

/** Classes of failures in display order. A step belongs to the first class whose condition it meets. */
const troubles: readonly Trouble[] = [
  {
    title: [bad('failed'), ', paid, and the file does not fit `expect`'],
    has: (step, isUnfit) => isFailed(step) && isUnfit,
    select: 'state:failed',
    mend: (steps, all) => unfitMends(steps, { areAll: steps.length === all.filter(isFailed).length }),
  },
  {
    title: [bad('failed'), ', paid, and the file is not saved'],
    has: (step) => isFailed(step) && step.hasCompletedJob,
    select: 'state:running',
    mend: ({ length }) => [way(`to fetch ${length === 1 ? 'it' : 'them'} again`, call('apply'))],
  },
  {
    title: [bad('failed')],
    has: isFailed,
    select: 'state:failed state:lost',
    mend: (steps) => [redoWay(steps, wordsAdvice(steps))],
  },
  {
    title: [bad('refused'), ', nothing was charged; the service does not offer this operation'],
    has: ({ stage, because }) => stage === 'refused' && because === 'no-operation',
    mend: () => [way('what to do', call('help', 'MB1511'))],
  },
  {
    title: [bad('refused'), ', nothing was charged'],
    has: ({ stage }) => stage === 'refused',
    mend: (steps) => [way(`${wordsAdvice(steps)}after fixing the cause`, call('apply'))],
  },
  {
    title: [warning('unresolved'), ', bought before, but not on record'],
    has: (step) => isUnresolved(step) && step.because === 'key-known',
    mend: (steps) => resolveWay(steps, "--job and the job id from the service's dashboard, or --spend-again"),
  },
  {
    title: [warning('unresolved'), ', but the next run can find out whether these steps were charged'],
    has: (step) => isUnresolved(step) && step.recoverable === true,
    select: 'state:unresolved',
    // With `--on-unknown hold`, another `apply` would not query the service.
    mend: () => [way('to find out without paying twice', { ...call('apply'), without: '--on-unknown' })],
  },
  {
    title: [warning('unresolved'), ', it is not known whether these posts were published'],
    has: (step) => isUnresolved(step) && isPost(step.kind),
    select: 'state:unresolved',
    mend: (steps) => resolveWay(steps, '--job and the id of the post, or --not-spent'),
  },
  {
    title: [warning('unresolved'), ', it is not known whether these steps were charged'],
    has: isUnresolved,
    select: 'state:unresolved',
    mend: (steps) => resolveWay(steps, '--job and the job id, --not-spent or --spend-again'),
  },
  { title: [warning('blocked')], has: ({ stage }) => stage === 'blocked' },
];

function isFailed({ stage }: Pick<StepView, 'stage'>): boolean {
  return stage === 'failed' || stage === 'lost';
}

function resolveWay([first, ...others]: readonly StepView[], ways: string): Remedy[] {
  const each = others.length === 0 ? '' : ', one after the other';
  return first === undefined ? [] : [way(`to decide${each}, with ${ways}`, call('resolve', first.address))];
}

function wordsAdvice(steps: readonly StepView[]): string {
  const refused = steps.filter(({ error }) => isPromptRefused(error));
  const tasks = new Set(refused.map(({ task }) => `\`${task}\``));
  if (tasks.size === 0) return '';
  return `the same prompt is likely to fail again: change the prompt in task ${shortList([...tasks], shownNames)}; then `;
}

export function redoWay(steps: readonly { address: string; stage: string }[], before = ''): Remedy {
  const [first] = steps;
  if (first !== undefined && steps.length === 1)
    return way(`${before}to buy the step again`, call('apply', '--redo', first.address));
  const states = [...new Set(steps.map(({ stage }) => `state:${stage}`))].sort().join(' ');
  return way(`${before}to buy all ${steps.length} again`, call('apply', '--redo', states));
}

export function unfitMends(steps: readonly { address: string }[], { areAll }: { areAll: boolean }): Remedy[] {
  const addresses = steps.map(({ address }) => address);
  const [it, outputs] = steps.length === 1 ? ['it', 'the output is'] : ['them', 'the outputs are'];
  const byState = steps.length > 1 && areAll;
  const accept = byState ? call('accept', '--select', 'state:failed') : call('accept', ...addresses);
  // A selection that consists of one address needs no quotes: it matches exactly that step.
  const names = steps.length === 1 ? addresses.join() : addresses.map(writeName).join(' ');
  return [
    'if `expect` is too strict, change it: files that then fit count as done, for 0 credits',
    way(`${outputs} paid and stored; to accept ${it}, for 0 credits`, accept),
    way(
      `to buy the ${steps.length === 1 ? 'step' : 'steps'} again`,
      call('apply', '--redo', byState ? 'state:failed' : names),
    ),
  ];
}

export function groupLines(
  steps: readonly Troubled[],
  { paste, select, mends }: { paste: Paste; select: string | undefined; mends: readonly Remedy[] },
): Document {
  const groups = [...groupBy(steps, (step) => likenessOf(textOf(step))).values()];
  const hidden = groups.slice(shownGroups).flat().length;
  const isCut = hidden > 0 || groups.some(({ length }) => length > shownNames);
  const all = isCut && select !== undefined ? [way('to list all', call('status', '--list', '--select', select))] : [];
  return [
    ...groups.slice(0, shownGroups).map(groupLine),
    hidden === 0 ? undefined : line(`… and ${countOf(hidden, 'more step')}`),
    ...waysBlock([...all, ...mends], paste),
  ];
}

function groupLine(steps: readonly Troubled[]): Line {
  const [first] = steps;
  const addresses = steps.map(({ address }) => address);
  if (first !== undefined && steps.length === 1) return line(withError(safeText(first.address, 300), first.error));
  const count = countOf(steps.length, 'step');
  return line(withError(count, sharedText(steps.map(textOf))), [line(shortList(addresses, shownNames))]);
}

function withError(name: string, error = ''): string {
  return error === '' ? name : `${name}  ${safeText(error)}`;
}

function sharedText(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  const words = first.split(' ');
  for (const other of others) {
    for (const [index, word] of other.split(' ').entries()) if (words[index] !== word) words[index] = '…';
  }
  return words.join(' ');
}

function textOf({ error = '', need, ...step }: Troubled): string {
  const own = anonymousText(error, step);
  return need === undefined ? own : own.replaceAll(need.address, '…');
}
