import { type Call, call, type Way, way } from '../../ground/advice.ts';
import { likenessOf } from '../../ground/likeness.ts';
import { groupBy } from '../../ground/values.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { isPromptRefused } from '../../plan/purchases/next.ts';
import { writeName } from '../../plan/select/names.ts';
import { type Paste, waysBlock } from '../advice-text.ts';
import { bad, type Document, type Line, line, type Span, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { anonymousText } from '../plan/plan-items.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { StepView } from './run-view.ts';

export interface TroubleOptions {
  paste: Paste;
  unfit?: ReadonlySet<string>;
}

const shownGroups = 5;
const shownNames = 5;

export type Remedy = string | Way<Call>;

type Troubled = Pick<StepView, 'address' | 'error' | 'jobId' | 'need'>;

interface Trouble {
  title: readonly Span[];
  has(step: StepView, isUnfit: boolean): boolean;
  select?: string;
  mend?(steps: readonly StepView[], all: readonly StepView[]): Remedy[];
}

export function troubleBlocks(steps: readonly StepView[], { paste, unfit }: TroubleOptions): Document {
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
    mend: () => [way('to find out without paying twice', call('apply'))],
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
  // A selection that is one whole address matches exactly that step, without quotes.
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
  const all = isCut && select !== undefined ? [way('all of them', call('status', '--list', '--select', select))] : [];
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
