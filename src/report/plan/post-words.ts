import type { PlanRow, PostTarget } from '../../plan/plan.ts';
import type { Block } from '../document.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** Display names of accounts, by ID, where the service has reported them. */
type AccountNames = ReadonlyMap<string, string>;

const shownAccounts = 8;

/**
 * Number, destinations and times of posts, like `3 posts to Instagram @lamps, at once`. With `now`, in ms, also the
 * posts that are published at once because their time has passed.
 */
export function postsText(targets: readonly PostTarget[], now?: number): string {
  const names = new Map(targets.flatMap(({ names = {} }) => Object.entries(names)));
  const most = targets.some(({ perhaps }) => perhaps === true) ? 'up to ' : '';
  return `${most}${countOf(targets.length, 'post')} to ${accountsText(targets, names)}, ${timesText(targets)}${now === undefined ? '' : overdueText(targets, now)}`;
}

function overdueText(targets: readonly PostTarget[], now: number): string {
  const overdue = targets.filter(({ at }) => Date.parse(at ?? '') < now).length;
  if (overdue === 0) return '';
  const whose =
    overdue < targets.length ? `the time of ${creditsText(overdue)}` : overdue === 1 ? 'its time' : 'their time';
  return `; ${whose} has passed, so ${overdue === 1 ? 'it is' : 'they are'} published at once`;
}

export function sideBySide({ address, beside }: Pick<PlanRow, 'address' | 'beside'>): Block {
  const { address: old = '', jobId, before, after } = beside ?? {};
  const quoted = (words: string | undefined) =>
    words === undefined ? '(its words are not known)' : `“${safeText(words, 300)}”`;
  const job = jobId === undefined ? '' : ` (${safeText(jobId, 80)})`;
  const rows = [
    ['published', safeText(old, 80), `${quoted(before)}${job}`],
    ['new', safeText(address, 80), quoted(after)],
  ];
  const columns = [
    { title: '' },
    { title: '', least: 12, cut: 'middle' as const },
    { title: '', least: 20, cut: 'wrap' as const },
  ];
  return { is: 'table', columns, rows };
}

function accountsText(targets: readonly PostTarget[], names: AccountNames): string {
  const accounts = [...new Set(targets.flatMap(({ accounts }) => accounts))];
  const shown = accounts.slice(0, shownAccounts).map((id) => accountText(id, names));
  const unnamed = targets.filter((target) => target.accounts.length === 0).length;
  if (unnamed > 0) shown.push(accounts.length === 0 ? 'accounts that the request does not name' : 'others not named');
  if (accounts.length > shownAccounts) shown.push(`${accounts.length - shownAccounts} more accounts`);
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function accountText(id: string, names: AccountNames): string {
  const name = names.get(id);
  return name === undefined ? `account ${safeText(id, 80)}` : safeText(name, 80);
}

function timesText(targets: readonly PostTarget[]): string {
  const times = targets.flatMap(({ at }) => at ?? []).sort(compareTimes);
  const now = targets.length - times.length;
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return 'at once';
  const span =
    first === last
      ? `${times.length > 1 ? 'all ' : ''}at ${safeText(first, 40)}`
      : `from ${safeText(first, 40)} to ${safeText(last, 40)}`;
  return now === 0 ? span : `${now} at once, ${times.length} ${span}`;
}

function compareTimes(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b) || (a < b ? -1 : 1);
}
