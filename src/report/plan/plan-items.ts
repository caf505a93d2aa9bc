import { taskOfAddress } from '../../graph/address.ts';
import { groupBy } from '../../ground/values.ts';
import { isHeldBack } from '../../plan/actions.ts';
import { describeChange } from '../../plan/compare/changes.ts';
import type { Change } from '../../plan/plan.generated.ts';
import type { Action, Plan, PlanRow } from '../../plan/plan.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { describeFollowed, findRoot } from '../../plan/rows/follow.ts';
import { countOf, creditsText } from '../numbers.ts';
import { shortList } from '../safe-text.ts';
import { postsText } from './plan-facts.ts';

export const actionOrder: readonly Action[] = [
  'create',
  'redo',
  'retry',
  'attach',
  'download',
  'move',
  'unresolved',
  'failed',
  'blocked',
  'orphan',
  'keep',
];

export interface PlanItem {
  action: Action;
  task?: string;
  kind?: string;
  rows: readonly PlanRow[];
  ofTask: number;
  causes: number;
}

/** Maximum number of lines for one task and action. The last line counts the causes without a line of their own. */
const mostCauses = 10;
/** If a plan has at most this many unresolved steps, each has a line of its own, because each needs a decision. */
const mostUnresolved = 12;

/**
 * Groups the rows of a plan by action and cause. Each row is in exactly one item. `all`: each row is an item of its
 * own.
 */
export function groupPlan({ rows }: Pick<Plan, 'rows'>, { all }: { all: boolean }): PlanItem[] {
  const counts = groupBy(rows, ({ task }) => task);
  const itemOf = (own: readonly PlanRow[], causes = 1): PlanItem => {
    const [first] = own;
    const { action = 'keep', task = '', kind = '' } = first ?? {};
    return { action, task, kind, rows: own, ofTask: counts.get(task)?.length ?? 0, causes };
  };
  const causeOf = causeFinder(rows);
  const byAction = groupBy(rows, ({ action }) => action);
  return actionOrder.flatMap((action) => {
    const own = byAction.get(action) ?? [];
    if (all) return own.map((row) => itemOf([row]));
    if (action === 'keep') {
      const isHeld = groupBy(own, isHeldBack);
      return [...byTaskAndCause(isHeld.get(true) ?? [], causeOf, itemOf), ...foldKept(isHeld.get(false) ?? [], itemOf)];
    }
    if (action === 'unresolved' && own.length <= mostUnresolved) return own.map((row) => itemOf([row]));
    return byTaskAndCause(own, causeOf, itemOf);
  });
}

type MakeItem = (rows: readonly PlanRow[], causes?: number) => PlanItem;

function byTaskAndCause(rows: readonly PlanRow[], causeOf: (row: PlanRow) => string, itemOf: MakeItem): PlanItem[] {
  return [...groupBy(rows, ({ task, kind }) => `${task}\n${kind}`).values()].flatMap((ofTask) => {
    const groups = [...groupBy(ofTask, causeOf).values()];
    if (groups.length <= mostCauses) return groups.map((group) => itemOf(group));
    const rest = groups.slice(mostCauses - 1);
    return [...groups.slice(0, mostCauses - 1).map((group) => itemOf(group)), itemOf(rest.flat(), rest.length)];
  });
}

function foldKept(rows: readonly PlanRow[], itemOf: MakeItem): PlanItem[] {
  if (rows.length === 0) return [];
  const item = itemOf(rows);
  if (new Set(rows.map(({ task }) => task)).size === 1) return [item];
  const { task: _task, kind: _kind, ...several } = item;
  return [several];
}

/**
 * Returns a function that describes the cause of a row; rows with the same description form one item. For a step that
 * is redone because another step is redone, the cause is that of the first step in the chain.
 */
function causeFinder(rows: readonly PlanRow[]): (row: PlanRow) => string {
  let byAddress: Map<string, PlanRow> | undefined;
  return (given) => {
    const row = withoutBudget(given);
    const held = row === given ? '' : `${given.reason.code} `;
    const causes = (row.reason.changes ?? []).map((change) => {
      if (change.cause?.is !== 'step') return causeName(change);
      byAddress ??= new Map(rows.map((one) => [one.address, withoutBudget(one)]));
      const root = findRoot(change.cause.name, byAddress);
      return root === undefined ? `after ${change.cause.name}` : `after ${root.task} ${nameOwn(root)}`;
    });
    return `${held}${nameAll(row, causes)} ${canaryWords(row)}`;
  };
}

/** If the budget blocks a row, returns the row with the reason that it would have with enough credits. */
function withoutBudget(row: PlanRow): PlanRow {
  if (row.would === undefined) return row;
  const { would, ...others } = row;
  return { ...others, reason: would.reason };
}

function nameOwn(row: PlanRow): string {
  return nameAll(
    row,
    (row.reason.changes ?? []).flatMap((change) => (change.cause?.is === 'step' ? [] : causeName(change))),
  );
}

function nameAll(row: PlanRow, causes: readonly string[]): string {
  const { code, text, changes, job } = row.reason;
  if (changes === undefined)
    return `${code} ${explained.has(code) ? anonymousText(text, { address: row.address, jobId: job }) : ''}`;
  return `${code} ${[...new Set(causes)].sort().join('\n')}`;
}

/** Reason codes whose text contains facts that distinguish rows, in addition to the code. */
const explained = new Set<PlanRow['reason']['code']>([
  'refused',
  'job-failed',
  'answer-lost',
  'key-known',
  'consent',
  'payer',
  'post-open',
  'post-lost',
  'canary',
]);

const shownCanaries = 3;

function canaryWords({ canary, canaries = [] }: Pick<PlanRow, 'canary' | 'canaries'>): string {
  if (canary === true) return 'runs first, as canary';
  if (canaries.length === 0) return '';
  return `after its ${canaries.length === 1 ? 'canary' : 'canaries'} ${shortList(canaries, shownCanaries)}`;
}

export function withCanary(text: string, row: Pick<PlanRow, 'canary' | 'canaries'>): string {
  const words = canaryWords(row);
  return words === '' ? text : `${text}; ${words}`;
}

export function anonymousText(
  text: string,
  { address, jobId }: { address: string; jobId?: string | undefined },
): string {
  const without = jobId === undefined ? text : text.replaceAll(jobId, '…');
  return without.replaceAll(address, '…');
}

const shownKeys = 3;

type RowIndex = ReadonlyMap<string, PlanRow>;

export function indexRows({ rows }: Pick<Plan, 'rows'>): RowIndex {
  const isNeeded = rows.some((row) => withoutBudget(row).reason.follows !== undefined);
  return new Map(isNeeded ? rows.map((row) => [row.address, withoutBudget(row)]) : []);
}

/** Describes the reason. Names the steps unless the item contains all steps of the task. The text is not escaped. */
export function describeItem(item: PlanItem, index: RowIndex): string {
  const { rows, action } = item;
  const [first] = rows;
  if (first === undefined) return '';
  if (rows.length === 1) return withCanary(describeOne(first), first);
  if (action === 'keep' && !isHeldBack(first)) return describeKept(rows);
  const isFolded = item.causes > 1;
  return `${withCanary(describeMany(item, index), isFolded ? {} : first)}${describeKeys(item)}`;
}

export function nameOfItem({ rows, task }: PlanItem): string {
  const [first] = rows;
  return rows.length === 1 && first !== undefined
    ? first.address
    : (task ?? `${new Set(rows.map((row) => row.task)).size} tasks`);
}

function describeOne(row: PlanRow): string {
  if (isMissed(row)) return `${withoutBudget(row).reason.text}; ${row.reason.text}`;
  if (row.post === undefined || row.reason.code !== 'not-bought') return row.reason.text;
  return `${row.reason.text}: ${postsText([row.post])}`;
}

function isMissed({ would }: PlanRow): boolean {
  return would !== undefined && would.reason.code !== 'not-bought';
}

function describeKept(rows: readonly PlanRow[]): string {
  const [first] = rows;
  if (first !== undefined && rows.every(({ reason }) => reason.text === first.reason.text)) return first.reason.text;
  const counts = (['not-needed', 'rejected', 'pinned', 'accepted'] as const).flatMap((code) => {
    const count = rows.filter(({ reason }) => reason.code === code).length;
    const name = code === 'pinned' || code === 'accepted' ? code : sentences[code];
    return count === 0 ? [] : count === rows.length ? [name] : [`${count} of them ${name}`];
  });
  const isAll = rows.every(({ unneeded }) => unneeded === true);
  return [...(isAll ? [] : ['up to date']), ...counts].join(', ');
}

function describeMany(item: PlanItem, index: RowIndex): string {
  const { rows, causes } = item;
  const [first] = rows;
  if (first === undefined) return '';
  if (causes > 1) return `for ${causes} other reasons (plan --all lists them)`;
  const { code, text } = first.reason;
  if (isMissed(first)) {
    return `${describeMany({ ...item, rows: rows.map(withoutBudget) }, index)}; ${sentences[code] ?? text}`;
  }
  if (explained.has(code)) return anonymousText(text, { address: first.address, jobId: first.reason.job });
  switch (code) {
    case 'changed':
    case 'pinned':
    case 'accepted':
    case 'posted-changed':
      if (first.reason.changes !== undefined) return describeChanged(rows, { code, index });
      return first.reason.follows === undefined ? text : 'already sent, with the earlier outputs';
    case 'redo-asked':
      return rows.every(({ reason }) => reason.text === text)
        ? text
        : '--redo buys these steps again; steps that use the earlier outputs do not change';
    case 'not-bought': {
      const targets = rows.flatMap(({ post }) => post ?? []);
      if (targets.length > 0) return `not posted yet: ${postsText(targets)}`;
      const isCeiling = rows.some(({ reason }) => reason.neededIf !== undefined);
      return `not ${isPost(first.kind) ? 'posted' : 'bought'} yet${isCeiling ? '; at most this many steps, depending on other outputs' : ''}`;
    }
    case 'renamed':
      return formerNames(rows);
    case 'bought-before':
    case 'missing':
    case 'edited':
      return `${sentences[code]}${item.action === 'move' ? '; they are restored from retained files' : ''}`;
    default:
      return sentences[code] ?? text;
  }
}

function formerNames(rows: readonly PlanRow[]): string {
  const former = rows.flatMap(({ order }) => order?.movedFrom ?? []);
  const tasks = new Set(former.map(taskOfAddress));
  if (tasks.size === 0) return 'had other names';
  const isTask = tasks.size === 1 && rows.every(({ task }) => !tasks.has(task));
  return `was ${shortList(isTask ? [...tasks] : former, 1)}`;
}

/** Reasons of items with several steps, because the text of a row's reason names only one step. */
const sentences: { readonly [code in PlanRow['reason']['code']]?: string } = {
  'job-running': 'their jobs are running',
  'job-lost': 'the service had no record of their jobs; apply checks once more (--redo buys the steps again)',
  shared: 'same requests as other steps, whose jobs they share',
  'not-saved': 'paid, and not saved yet',
  'bought-before': 'the same requests were bought before',
  missing: 'paid; their files are missing',
  edited: 'paid; their files have changed since they were saved',
  'saved-elsewhere': 'saved under new names',
  restored: "restored from this machine's purchase journal",
  unfit:
    'their outputs do not fit `expect`; change `expect`, accept the outputs with `accept`, or buy the steps again with --redo',
  posted: 'posted',
  'not-needed': 'not needed',
  rejected: 'not made: their input is rejected',
  unpicked: 'not picked; their files are not on this machine',
  budget: 'the budget is not enough',
  'run-limit': '--max-credits is not enough',
  limit: 'the credit limit is not enough',
  needs: 'need steps that will not run',
  gate: 'wait for a pick',
  'not-selected': 'need steps that are neither done nor selected',
};

function describeChanged(
  rows: readonly PlanRow[],
  { code, index }: { code: PlanRow['reason']['code']; index: RowIndex },
): string {
  const causes = [...groupBy(rows.flatMap(ownChanges), causeName).values()].map((changes) => describeSame(changes));
  const followed = new Set(rows.flatMap(({ reason }) => reason.follows ?? []));
  const [first] = followed;
  if (first !== undefined) {
    const tasks = new Set([...followed].map((address) => index.get(address)?.task ?? address));
    const names = followed.size === 1 ? first : [...tasks].join(' and ');
    causes.push(`follows ${names}${describeFollowed(first, index, { many: followed.size > 1 })}`);
  }
  const change = causes.join('; ');
  if (code === 'pinned') return `pinned; ${change} (would cost ${costOf(rows)})`;
  if (code === 'accepted') return `accepted as they are, although ${change}`;
  return code === 'posted-changed' ? `sent; changed since (${change})` : change;
}

function ownChanges({ reason }: PlanRow): Change[] {
  const own = (reason.changes ?? []).filter(({ cause }) => cause?.is !== 'step');
  return [...groupBy(own, causeName).values()].flatMap(([first]) => first ?? []);
}

function causeName({ field, cause }: Change): string {
  return cause === undefined ? field : `${cause.is} ${cause.file ?? ''} ${cause.sheet ?? ''} ${cause.name}`;
}

function costOf(rows: readonly PlanRow[]): string {
  if (rows.some(({ wouldCost }) => wouldCost === null)) return '?';
  return creditsText(rows.reduce((sum, { wouldCost }) => sum + (wouldCost ?? 0), 0));
}

function describeSame(changes: readonly Change[]): string {
  const [first] = changes;
  if (first === undefined) return '';
  const lines = new Set(changes.map(({ cause }) => cause?.line));
  const isSpread = first.cause?.is === 'data' && lines.size > 1;
  const texts = groupBy(changes, (change) => describeChange(change, isSpread));
  const text = describeChange(first, isSpread);
  const spread = isSpread ? ` (${lines.size} rows)` : '';
  const others = changes.length - (texts.get(text)?.length ?? 0);
  return others === 0
    ? `${text}${spread}`
    : `${text}${spread}; ${countOf(others, 'more step')} with a different change`;
}

function describeKeys({ rows, ofTask, causes }: PlanItem): string {
  if (rows.length === ofTask || causes > 1) return '';
  const keys = rows.slice(0, shownKeys).map(({ address }) => address.slice(address.indexOf('@') + 1));
  const more = rows.length - keys.length;
  return ` (${keys.join('  ')}${more > 0 ? ` and ${more} more` : ''})`;
}
