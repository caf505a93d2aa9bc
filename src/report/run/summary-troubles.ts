import { type Call, call } from '../../ground/advice.ts';
import { likenessOf } from '../../ground/likeness.ts';
import { groupBy } from '../../ground/values.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { classifyFailure } from '../../plan/purchases/next.ts';
import { writeName } from '../../plan/select/names.ts';
import type { Paste } from '../advice-text.ts';
import { type Block, bad, command, type Document, type Line, line, type Span, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { anonymousText } from '../plan/plan-items.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { StepView } from './run-view.ts';

export interface TroubleOptions {
  paste: Paste;
  /** Steps whose file is saved and paid for, but does not meet the task's expectation. */
  unfit?: ReadonlySet<string>;
}

const shownGroups = 5;
const shownNames = 5;

type Troubled = Pick<StepView, 'address' | 'error' | 'jobId'>;

/** Failures that need the same remedy, under one heading. */
interface Trouble {
  title: readonly Span[];
  has(step: StepView): boolean;
  /** Selection that matches all of them. */
  select?: string;
  mend(steps: readonly StepView[]): Document;
}

/** Failures, equal ones grouped, each group with a single command that fixes all of them. */
export function troubleBlocks(steps: readonly StepView[], options: TroubleOptions): Document {
  const troubled = steps.filter(({ stage }) => stage !== 'blocked');
  const troubles = troublesOf(troubled, options);
  const byTrouble = groupBy(troubled, (step) => troubles.findIndex(({ has }) => has(step)));
  return [
    ...troubles.map(({ title, select, mend }, index) => {
      const own = byTrouble.get(index);
      return own && line(title, groupLines(own, { paste: options.paste, select, mends: mend(own) }));
    }),
    blockedBlock(steps.filter(({ stage }) => stage === 'blocked')),
  ];
}

/** The kinds of failures, in the order in which they are shown. A step belongs to the first one that has it. */
function troublesOf(all: readonly StepView[], { paste, unfit }: TroubleOptions): Trouble[] {
  const run = (to: string, command_: Call): Document => [command(to, paste(command_))];
  const isFailed = ({ stage }: StepView) => stage === 'failed' || stage === 'lost';
  const isUnresolved = ({ stage }: StepView) => stage === 'unresolved';
  const isUnfit = ({ files, address }: StepView) => files.length > 0 || unfit?.has(address) === true;
  const charged = ', it is not known whether these were charged';
  const resolve = (ways: string) => (steps: readonly StepView[]) =>
    run(
      `to decide${steps.length === 1 ? '' : ', one after the other'}, with ${ways}`,
      call('resolve', steps[0]?.address ?? ''),
    );
  return [
    {
      title: [bad('failed'), ', paid, and the file does not fit `expect`'],
      has: (step) => isFailed(step) && isUnfit(step),
      select: 'state:failed',
      mend: (steps) => unfitMends(steps, { paste, areAll: steps.length === all.filter(isFailed).length }),
    },
    {
      title: [bad('failed'), ', paid, and the file is not saved'],
      has: (step) => isFailed(step) && step.hasCompletedJob,
      select: 'state:running',
      mend: ({ length }) => run(`to fetch ${length === 1 ? 'it' : 'them'} again`, call('apply')),
    },
    {
      title: [bad('failed')],
      has: isFailed,
      select: 'state:failed state:lost',
      mend: (steps) => {
        const redo = steps.length === 1 ? namesOf(steps) : statesOf(steps);
        const all = steps.length === 1 ? 'it' : `all ${steps.length}`;
        return run(`${wordsAdvice(steps)}to buy ${all} again`, call('apply', '--redo', redo));
      },
    },
    {
      title: [bad('refused'), ', nothing was charged; the service does not have the operation'],
      has: ({ stage, because }) => stage === 'refused' && because === 'no-operation',
      mend: () => [
        ...run('which operations the service has', call('doctor')),
        ...run('what to do', call('help', 'MB1511')),
      ],
    },
    {
      title: [bad('refused'), ', nothing was charged'],
      has: ({ stage }) => stage === 'refused',
      mend: (steps) => run(`${wordsAdvice(steps)}when the cause is fixed`, call('apply')),
    },
    {
      title: [warning('unresolved'), ', bought before and not on record'],
      has: (step) => isUnresolved(step) && step.because === 'key-known',
      mend: resolve("--job and its id from the service's dashboard, or --spend-again"),
    },
    {
      title: [warning('unresolved'), ', and the next run can find out whether these were charged'],
      has: (step) => isUnresolved(step) && step.recoverable === true,
      select: 'state:unresolved',
      mend: () => run('to find out, which never pays twice', call('apply')),
    },
    {
      title: [warning('unresolved'), ', it is not known whether these were published'],
      has: (step) => isUnresolved(step) && isPost(step.kind),
      select: 'state:unresolved',
      mend: resolve('--job and its id, or --not-spent'),
    },
    {
      title: [warning('unresolved'), charged],
      has: isUnresolved,
      select: 'state:unresolved',
      mend: resolve('--job and its id, --not-spent or --spend-again'),
    },
  ];
}

/** Advises to change a refused prompt, because the same words are likely to fail again. */
function wordsAdvice(steps: readonly StepView[]): string {
  const refused = steps.filter(({ error }) => classifyFailure(error) === 'prompt');
  const tasks = new Set(refused.map(({ task }) => `\`${task}\``));
  if (tasks.size === 0) return '';
  return `the same words are likely to fail again: change them in task ${shortList([...tasks], shownNames)}; then `;
}

/** Returns remedies for outputs that do not fit: accept or redo them. `areAll`: nothing else has failed. */
export function unfitMends(
  steps: readonly Pick<StepView, 'address'>[],
  { paste, areAll }: { paste: Paste; areAll: boolean },
): Document {
  const [it, is] = steps.length === 1 ? ['it', 'it is'] : ['them', 'they are'];
  const selects = steps.length > 1 && areAll;
  const accept = selects
    ? call('accept', '--select', 'state:failed')
    : call('accept', ...steps.map(({ address }) => address));
  const redo = selects ? 'state:failed' : namesOf(steps);
  return [
    line('if `expect` is too strict, change it: files that then fit count as done, for 0 credits'),
    command(`${is} paid and kept; to accept ${it}, for 0 credits`, paste(accept)),
    command(`to buy ${it} again`, paste(call('apply', '--redo', redo))),
  ];
}

function statesOf(steps: readonly StepView[]): string {
  const states = (['failed', 'lost'] as const).filter((state) => steps.some(({ stage }) => stage === state));
  return states.map((state) => `state:${state}`).join(' ');
}

function namesOf(steps: readonly Pick<StepView, 'address'>[]): string {
  const [only, ...others] = steps;
  // A full address is never interpreted as anything else.
  if (only !== undefined && others.length === 0) return only.address;
  return steps.map(({ address }) => writeName(address)).join(' ');
}

function blockedBlock(steps: readonly StepView[]): Block | undefined {
  if (steps.length === 0) return undefined;
  const ofNeed = groupBy(steps, ({ task, need, error = '' }) => (need === undefined ? error : `${task} ${need.is}`));
  const groups = [...ofNeed.values()];
  const lines = groups.slice(0, shownGroups).map(([first, ...others]) => {
    if (first === undefined) return undefined;
    if (others.length === 0) return errorLine(first);
    const all = [first, ...others];
    if (first.need === undefined)
      return line(`${countOf(all.length, 'step')}  ${safeText(first.error ?? '')}: ${shortNames(all)}`);
    const needs = [...new Set(all.flatMap(({ need }) => need?.address ?? []))];
    const is = first.need.is === 'unselected' ? 'not done and not selected' : first.need.is;
    const which = `${shortList(needs, shownNames)}, which ${needs.length === 1 ? 'is' : 'are'} ${is}`;
    return line(`${countOf(all.length, 'step')} of ${safeText(first.task, 100)}  need ${which}`);
  });
  return line(warning('blocked'), [...lines, moreGroups(groups)]);
}

export function groupLines(
  steps: readonly Troubled[],
  { paste, select, mends }: Pick<TroubleOptions, 'paste'> & { select: string | undefined; mends: Document },
): Document {
  const groups = [...groupBy(steps, (step) => likenessOf(textOf(step))).values()];
  const lines = groups.slice(0, shownGroups).flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const text = safeText(sharedText(same.map(textOf)));
    if (same.length === 1) return [errorLine(first)];
    return [line(`${countOf(same.length, 'step')}${text === '' ? '' : `  ${text}`}`, [line(shortNames(same))])];
  });
  const isCut = groups.some(({ length }) => length > shownNames) || groups.length > shownGroups;
  const list = isCut && select !== undefined ? paste(call('status', '--list', '--select', select)) : undefined;
  const all = [...lines, moreGroups(groups)].filter((block) => block !== undefined);
  const last = all.pop();
  if (last === undefined) return [];
  return [
    ...all,
    {
      ...last,
      below: [...(last.below ?? []), list === undefined ? undefined : command('all of them', list), ...mends],
    },
  ];
}

/** One text for several similar ones, with `…` in place of each word that differs. */
function sharedText(texts: readonly string[]): string {
  const [first = '', ...others] = new Set(texts);
  const words = first.split(' ');
  for (const other of others) {
    for (const [index, word] of other.split(' ').entries()) if (words[index] !== word) words[index] = '…';
  }
  return words.join(' ');
}

function moreGroups(groups: readonly (readonly Troubled[])[]): Line | undefined {
  const hidden = groups.slice(shownGroups).reduce((sum, { length }) => sum + length, 0);
  return hidden === 0 ? undefined : line(`… and ${countOf(hidden, 'more step')}`);
}

function textOf({ error = '', ...step }: Troubled): string {
  return anonymousText(error, step);
}

function shortNames(steps: readonly Troubled[]): string {
  return shortList(
    steps.map(({ address }) => address),
    shownNames,
  );
}

function errorLine({ address, error }: Troubled): Line {
  return line(`${safeText(address, 300)}${error === undefined ? '' : `  ${safeText(error)}`}`);
}
