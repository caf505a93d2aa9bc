import { call } from '../../ground/advice.ts';
import { likenessOf } from '../../ground/likeness.ts';
import { groupBy } from '../../ground/values.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { classifyFailure } from '../../plan/purchases/next.ts';
import { writeName } from '../../plan/select/names.ts';
import type { Paste } from '../advice-text.ts';
import { type Block, command, type Document, type Line, line, type Mark, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { Stage, StepView } from './run-view.ts';
import { anonymousText, sharedText } from './troubles.ts';

export interface TroubleOptions {
  paste: Paste;
  /** Steps whose file is saved and paid for, but does not meet the task's expectation. */
  unfit?: ReadonlySet<string>;
}

const shownGroups = 5;
const shownNames = 5;

type Troubled = Pick<StepView, 'address' | 'error' | 'jobId'>;

interface TroublePart {
  steps: readonly StepView[];
  mend: Document;
  /** Selection that matches all of them. */
  select?: string | undefined;
}

interface Trouble {
  word: string;
  mark: Mark;
  /** Words about all of them, after the outcome. */
  note?: string;
  parts: readonly TroublePart[];
}

/** Failures, equal ones grouped, each group with a single command that fixes all of them. */
export function troubleBlocks(steps: readonly StepView[], options: TroubleOptions): Document {
  const blocks = troublesOf(steps, options).map(({ word, mark, note = '', parts }) =>
    line(
      [{ text: word, mark }, note],
      parts.flatMap(({ steps: own, select, mend }) => groupLines(own, { ...options, select, mends: mend })),
    ),
  );
  return [...blocks, blockedBlock(inStage(steps, 'blocked'))];
}

function troublesOf(steps: readonly StepView[], options: TroubleOptions): Trouble[] {
  const all = [
    failedTrouble(inStage(steps, 'failed', 'lost'), options),
    refusedTrouble(inStage(steps, 'refused'), options),
    unresolvedTrouble(
      inStage(steps, 'unresolved').filter(({ kind, because }) => !isPost(kind) && because !== 'key-known'),
      { ...options, unknown: 'whether these were charged', ways: '--job and its id, --not-spent or --spend-again' },
    ),
    unresolvedTrouble(
      inStage(steps, 'unresolved').filter(({ kind, because }) => isPost(kind) && because !== 'key-known'),
      { ...options, unknown: 'whether these were published', ways: '--job and its id, or --not-spent' },
    ),
    knownTrouble(
      inStage(steps, 'unresolved').filter(({ because }) => because === 'key-known'),
      options,
    ),
  ];
  return all.flatMap((trouble) => {
    const parts = trouble.parts.filter((part) => part.steps.length > 0);
    return parts.length === 0 ? [] : [{ ...trouble, parts }];
  });
}

function inStage(steps: readonly StepView[], ...stages: Stage[]): StepView[] {
  return steps.filter(({ stage }) => stages.includes(stage));
}

function wordsAdvice(steps: readonly StepView[]): string {
  const refused = steps.filter(({ error }) => classifyFailure(error) === 'prompt');
  const tasks = new Set(refused.map(({ task }) => `\`${task}\``));
  if (tasks.size === 0) return '';
  return `the same words are likely to fail again: change them in task ${shortList([...tasks], shownNames)}; then `;
}

/** Groups failed steps. A failed job is bought again only on request; a finished job is only downloaded. */
function failedTrouble(steps: readonly StepView[], { paste, unfit }: TroubleOptions): Trouble {
  const isUnfit = (step: StepView) => step.files.length > 0 || unfit?.has(step.address) === true;
  const kept = steps.filter(isUnfit);
  const unsaved = steps.filter((step) => !isUnfit(step) && step.hasCompletedJob);
  const failed = steps.filter((step) => !isUnfit(step) && !step.hasCompletedJob);
  const them = (some: readonly StepView[]) => (some.length === 1 ? 'it' : 'them');
  const redo = (words: string) => paste(call('apply', '--redo', words));
  const all = failed.length === 1 ? 'it' : `all ${failed.length}`;
  return {
    word: 'failed',
    mark: 'bad',
    parts: [
      {
        steps: failed,
        select: statesOf(failed),
        mend: [command(`${wordsAdvice(failed)}to buy ${all} again`, redo(failedNames(failed)))],
      },
      {
        steps: unsaved,
        select: 'state:running',
        mend: [
          command(
            `${unsaved.length === 1 ? 'it is' : 'they are'} paid; to fetch ${them(unsaved)} again`,
            paste(call('apply')),
          ),
        ],
      },
      { steps: kept, select: 'state:failed', mend: unfitMends(kept, { paste, areAll: kept.length === steps.length }) },
    ],
  };
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

function failedNames(steps: readonly StepView[]): string {
  return steps.length === 1 ? namesOf(steps) : statesOf(steps);
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

function refusedTrouble(steps: readonly StepView[], { paste }: TroubleOptions): Trouble {
  const lacksOperation = ({ because }: StepView) => because === 'no-operation';
  return {
    word: 'refused',
    mark: 'bad',
    note: ', nothing was charged',
    parts: [
      {
        steps: steps.filter(lacksOperation),
        mend: [
          command('which operations the service has', paste(call('doctor'))),
          command('what to do', paste(call('help', 'MB1511'))),
        ],
      },
      {
        steps: steps.filter((step) => !lacksOperation(step)),
        mend: [command(`${wordsAdvice(steps)}when the cause is fixed`, paste(call('apply')))],
      },
    ],
  };
}

/** `unknown`: missing facts; `ways`: the options that provide them. */
function unresolvedTrouble(
  steps: readonly StepView[],
  { paste, unknown, ways }: TroubleOptions & { unknown: string; ways: string },
): Trouble {
  const open = steps.filter(({ recoverable }) => recoverable !== true);
  const recoverable = steps.filter((step) => step.recoverable === true);
  const select = 'state:unresolved';
  const [first] = open;
  const them = open.length === 1 ? '' : ', one after the other';
  return {
    word: 'unresolved',
    mark: 'warning',
    note: `, it is not known ${unknown}`,
    parts: [
      {
        steps: recoverable,
        select,
        mend: [command('to find out, which never pays twice', paste(call('apply')))],
      },
      {
        steps: open,
        select,
        mend: [command(`to decide${them}, with ${ways}`, paste(call('resolve', first?.address ?? '')))],
      },
    ],
  };
}

/** Groups steps of a lost lock. Only a user can say which jobs they have; no other idempotency key is tried. */
function knownTrouble(steps: readonly StepView[], { paste }: TroubleOptions): Trouble {
  const [first] = steps;
  const them = steps.length === 1 ? '' : ', one after the other';
  const resolve = paste(call('resolve', first?.address ?? ''));
  const mend = command(
    `to decide${them}, with --job and its id from the service's dashboard, or --spend-again`,
    resolve,
  );
  return {
    word: 'unresolved',
    mark: 'warning',
    note: ', bought before and not on record',
    parts: [{ steps, mend: [mend] }],
  };
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
  const groups = [...groupAlike(steps).values()];
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

function groupAlike<Step extends Troubled>(steps: readonly Step[]): Map<string, Step[]> {
  return groupBy(steps, (step) => likenessOf(textOf(step)));
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
