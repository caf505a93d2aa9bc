import { groupBy } from '../../ground/values.ts';
import { isHeldBack } from '../../plan/actions.ts';
import { describeWords } from '../../plan/compare/changes.ts';
import type { Change } from '../../plan/plan.generated.ts';
import type { Action, Plan, PlanRow } from '../../plan/plan.ts';
import { findRoot } from '../../plan/rows/follow.ts';

/** Order of actions in a plan: those that need the most attention first. */
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

/** A line of a displayed plan: steps of one task with the same action and cause. */
export interface PlanItem {
  action: Action;
  /** Omitted for the kept steps of several tasks. */
  task?: string;
  kind?: string;
  /** Rows, at least one, in the order of the plan. */
  rows: readonly PlanRow[];
  /** Number of all steps of its task in the plan. */
  ofTask: number;
  /** Number of causes that are merged into it, because too many would be shown. */
  causes: number;
}

/** Limit of causes of one task and action. If there are more, the last ones are merged into one item. */
const mostCauses = 10;
/** Limit up to which unresolved steps are listed one by one, because each needs its own decision. */
const mostUnresolved = 12;

/**
 * Groups the rows of a plan by cause, so that every row is in exactly one item. `all`: each row is an item of its
 * own. Ordered by action, those that need the most attention first; kept steps are one item.
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
 * Returns a function that names the cause of a row, so that rows with equal causes have equal names. The cause of a
 * step that follows others is the own change of the steps where the chain began. Each row is examined once, however
 * many rows follow it.
 */
function causeFinder(rows: readonly PlanRow[]): (row: PlanRow) => string {
  let byAddress: Map<string, PlanRow> | undefined;
  return (given) => {
    const row = asWanted(given);
    const held = row === given ? '' : `${given.reason.code} `;
    const causes = (row.reason.changes ?? []).map((change) => {
      if (change.cause?.is !== 'step') return nameOfCause(change);
      byAddress ??= new Map(rows.map((one) => [one.address, asWanted(one)]));
      const root = findRoot(change.cause.name, byAddress);
      return root === undefined ? `after ${change.cause.name}` : `after ${root.task} ${nameOwn(root)}`;
    });
    return `${held}${nameAll(row, causes)} ${canaryWords(row)}`;
  };
}

/** Returns the row with the reason that it would have if the credits covered it. */
export function asWanted(row: PlanRow): PlanRow {
  if (row.would === undefined) return row;
  const { would, ...others } = row;
  return { ...others, reason: would.reason };
}

function nameOwn(row: PlanRow): string {
  return nameAll(
    row,
    (row.reason.changes ?? []).flatMap((change) => (change.cause?.is === 'step' ? [] : nameOfCause(change))),
  );
}

function nameAll(row: PlanRow, causes: readonly string[]): string {
  const { code, text, changes, job } = row.reason;
  if (changes === undefined)
    return `${code} ${explained.has(code) ? anonymousText(text, { address: row.address, jobId: job }) : ''}`;
  return `${code} ${[...new Set(causes)].sort().join('\n')}`;
}

function nameOfCause({ field, before, after, cause }: Change): string {
  if (cause !== undefined)
    return `${cause.is} ${cause.is === 'data' ? `${cause.file ?? ''} ${cause.sheet ?? ''}` : ''} ${cause.name}`;
  const words = typeof before === 'string' && typeof after === 'string' ? describeWords(before, after) : '';
  return `${field} ${words}`;
}

/** Reasons whose sentence says more than their code. */
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

/** Returns words such as `goes first, as canary` or `after its canary hero@lamp`. Empty without a canary. */
function canaryWords({ canary, canaries = [] }: Pick<PlanRow, 'canary' | 'canaries'>): string {
  if (canary === true) return 'goes first, as canary';
  if (canaries.length === 0) return '';
  const more = canaries.length > shownCanaries ? ` and ${canaries.length - shownCanaries} more` : '';
  return `after its ${canaries.length === 1 ? 'canary' : 'canaries'} ${canaries.slice(0, shownCanaries).join(', ')}${more}`;
}

export function withCanary(text: string, row: Pick<PlanRow, 'canary' | 'canaries'>): string {
  const words = canaryWords(row);
  return words === '' ? text : `${text}; ${words}`;
}

/** Returns the message without parts that name only this step and its job, so that many steps can share it. */
export function anonymousText(
  text: string,
  { address, jobId }: { address: string; jobId?: string | undefined },
): string {
  const without = jobId === undefined ? text : text.replaceAll(jobId, '…');
  return without.replaceAll(address, '…');
}
