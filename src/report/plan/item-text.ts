import { taskOfAddress } from '../../graph/address.ts';
import { groupBy } from '../../ground/values.ts';
import { isHeldBack } from '../../plan/actions.ts';
import { describeChange } from '../../plan/compare/changes.ts';
import type { Change } from '../../plan/plan.generated.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { describeFollowed } from '../../plan/rows/follow.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { postsText } from './plan-facts.ts';
import { anonymousText, asWanted, type PlanItem, withCanary } from './plan-items.ts';

const shownKeys = 3;

/** Rows by address, to name the steps that a row follows. */
type RowIndex = ReadonlyMap<string, PlanRow>;

export function indexRows({ rows }: Pick<Plan, 'rows'>): RowIndex {
  const isNeeded = rows.some((row) => asWanted(row).reason.follows !== undefined);
  return new Map(isNeeded ? rows.map((row) => [row.address, asWanted(row)]) : []);
}

/** Describes the reason, and the steps concerned unless it is the whole task. The text is not escaped. */
export function describeItem(item: PlanItem, index: RowIndex): string {
  const { rows, action } = item;
  const [first] = rows;
  if (first === undefined) return '';
  if (rows.length === 1) return withCanary(describeOne(first), first);
  if (action === 'keep' && !isHeldBack(first)) return describeKept(rows);
  const isFolded = item.causes > 1;
  return `${withCanary(describeMany(item, index), isFolded ? {} : first)}${describeKeys(item)}`;
}

export function describeDiscarded({ rows }: PlanItem): string {
  const discards = rows.reduce((sum, row) => sum + (row.discards ?? 0), 0);
  return discards > 0 ? `gives up ${creditsText(discards)}` : '';
}

export function nameOfItem({ rows, task }: PlanItem): string {
  const [first] = rows;
  return rows.length === 1 && first !== undefined
    ? first.address
    : (task ?? `${new Set(rows.map((row) => row.task)).size} tasks`);
}

/** Describes why a step is made, and what prevents it. “Not bought yet” is implied, so it is omitted. */
function describeOne(row: PlanRow): string {
  if (isMissed(row)) return `${asWanted(row).reason.text}; ${row.reason.text}`;
  if (row.post === undefined || row.reason.code !== 'not-bought') return row.reason.text;
  return `${row.reason.text}: ${postsText([row.post])}`;
}

/** Returns whether the credits do not cover the step and its reason is not simply `not-bought`. */
function isMissed({ would }: PlanRow): boolean {
  return would !== undefined && would.reason.code !== 'not-bought';
}

/** Describes kept rows. If they have many different reasons, counts only the unusual ones. */
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
    return `${describeMany({ ...item, rows: rows.map(asWanted) }, index)}; ${sentences[code] ?? text}`;
  }
  switch (code) {
    case 'changed':
    case 'pinned':
    case 'accepted':
    case 'posted-changed':
      if (first.reason.changes !== undefined) return describeChanged(rows, { code, index });
      return first.reason.follows === undefined ? text : 'sent, and keep the earlier outputs';
    case 'redo-asked':
      return rows.every(({ reason }) => reason.text === text)
        ? text
        : '--redo regenerates them; steps made from the earlier outputs do not change';
    case 'not-bought': {
      const targets = rows.flatMap(({ post }) => post ?? []);
      if (targets.length > 0) return `not posted yet: ${postsText(targets)}`;
      const isCeiling = rows.some(({ reason }) => reason.neededIf !== undefined);
      return `not ${isPost(first.kind) ? 'posted' : 'bought'} yet${isCeiling ? '; at most this many, depending on other outputs' : ''}`;
    }
    case 'job-failed':
    case 'refused':
    case 'answer-lost':
    case 'key-known':
    case 'consent':
    case 'payer':
    case 'post-open':
    case 'post-lost':
      return anonymousText(text, { address: first.address, jobId: first.reason.job });
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
  const [task = ''] = tasks;
  const isTask = tasks.size === 1 && rows.every((row) => row.task !== task);
  if (isTask) return `was ${safeText(task, 100)}`;
  const [first, ...others] = former;
  if (first === undefined) return 'had other names';
  return `was ${safeText(first, 100)}${others.length === 0 ? '' : ' and others like it'}`;
}

/** Sentences for several steps, for reasons whose own text names one step. */
const sentences: { readonly [code in PlanRow['reason']['code']]?: string } = {
  'job-running': 'their jobs are running',
  'job-lost': 'the service no longer knew their jobs; they are requested once more (--redo buys them again)',
  shared: 'same requests as other steps: one job for both',
  'not-saved': 'paid, and not saved yet',
  'bought-before': 'the same requests were bought before',
  missing: 'paid; their files are missing',
  edited: 'paid; their files are not the ones that were saved',
  'saved-elsewhere': 'saved under new names',
  restored: "restored from this machine's purchase journal",
  unfit: 'their outputs do not fit `expect`; change it, take them with `accept`, or buy them again with --redo',
  posted: 'posted',
  'not-needed': 'not needed',
  rejected: 'not made: their input is rejected',
  unpicked: 'not picked; their files are not here',
  budget: 'the budget is not enough',
  'run-limit': '--max-credits is not enough',
  limit: 'the limit is not enough',
  needs: 'need steps that are not going to be done',
  gate: 'wait for a pick',
  'not-selected': 'need steps that are neither done nor selected',
};

function describeChanged(
  rows: readonly PlanRow[],
  { code, index }: { code: PlanRow['reason']['code']; index: RowIndex },
): string {
  const causes = [...groupBy(rows.flatMap(ownChanges), nameOfCause).values()].map((changes) => describeSame(changes));
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

/** Returns the step's own changes: the first one of each cause. */
function ownChanges({ reason }: PlanRow): Change[] {
  const own = (reason.changes ?? []).filter(({ cause }) => cause?.is !== 'step');
  return [...groupBy(own, nameOfCause).values()].flatMap(([first]) => first ?? []);
}

function nameOfCause({ field, cause }: Change): string {
  return cause === undefined ? field : `${cause.is} ${cause.file ?? ''} ${cause.sheet ?? ''} ${cause.name}`;
}

function costOf(rows: readonly PlanRow[]): string {
  if (rows.some(({ wouldCost }) => wouldCost === null)) return '?';
  return creditsText(rows.reduce((sum, { wouldCost }) => sum + (wouldCost ?? 0), 0));
}

/** Describes the changes of several steps, one change each: the common one, or the first and how many others differ. */
function describeSame(changes: readonly Change[]): string {
  const [first] = changes;
  if (first === undefined) return '';
  const lines = new Set(changes.map(({ cause }) => cause?.line));
  const isSpread = first.cause?.is === 'data' && lines.size > 1;
  const texts = groupBy(changes, (change) => describeChange(change, isSpread));
  const text = describeChange(first, isSpread);
  const spread = isSpread ? ` (${lines.size} rows)` : '';
  const others = changes.length - (texts.get(text)?.length ?? 0);
  return others === 0 ? `${text}${spread}` : `${text}${spread}, differently in ${countOf(others, 'more step')}`;
}

function describeKeys({ rows, ofTask, causes }: PlanItem): string {
  if (rows.length === ofTask || causes > 1) return '';
  const keys = rows.slice(0, shownKeys).map(({ address }) => address.slice(address.indexOf('@') + 1));
  const more = rows.length - keys.length;
  return ` (${keys.join('  ')}${more > 0 ? ` and ${more} more` : ''})`;
}
