import type { PlanRow, PlanTotals } from '../plan/plan.ts';

/** Formats credits with narrow spaces between thousands from 10,000. Returns `?` for null. */
export function creditsText(credits: number | null): string {
  if (credits === null) return '?';
  const digits = String(credits);
  return Math.abs(credits) < 10_000 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** Returns a text such as `5 credits`, `≈ 3 credits` (expected price) or `price unknown`. */
export function priceText({ credits, price }: { credits: number | null; price?: PlanRow['price'] }): string {
  if (credits !== null) return countOf(credits, 'credit');
  return price?.likely === undefined ? 'price unknown' : `≈ ${countOf(price.likely, 'credit')}`;
}

export interface Cost {
  credits: number;
  unpriced: number;
  isLikely?: boolean;
  most?: number;
}

/** Returns a text such as `≈ 44 credits, at most 60 + 3 steps of unknown price`. */
export function costText({ credits, unpriced, isLikely = false, most }: Cost): string {
  const limit = most === undefined ? '' : `, at most ${creditsText(most)}`;
  return [
    ...(credits > 0 || unpriced === 0 ? [`${isLikely ? '≈ ' : ''}${countOf(credits, 'credit')}${limit}`] : []),
    ...(unpriced > 0 ? [`${countOf(unpriced, 'step')} of unknown price`] : []),
  ].join(' + ');
}

/** Returns a cost for a table cell: `24`, `≈ 24` or `24 + ?`. Empty for 0. */
export function costCell({ credits, unpriced, isLikely = false }: Cost): string {
  const known = `${isLikely && credits > 0 ? '≈ ' : ''}${countCell(credits)}`;
  return [known, unpriced > 0 ? '?' : ''].filter((text) => text !== '').join(' + ');
}

export function countCell(count: number): string {
  return count === 0 ? '' : creditsText(count);
}

export function countOf(count: number, noun: string): string {
  return `${creditsText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a text such as `3 failed` for each count above 0. */
export function countWords(counts: readonly (readonly [count: number, words: string])[]): string[] {
  return counts.flatMap(([count, words]) => (count > 0 ? [`${creditsText(count)} ${words}`] : []));
}

interface Money {
  /** Credits charged in this run. Omitted if there is no run. */
  spentNow?: number;
  spentEver: number;
  held: number;
  heldUnknown?: number;
  budget?: number | null | undefined;
  /** Remaining budget in credits. Defaults to `budget - spentEver - held`, but at least 0. */
  left?: number | undefined;
  balance?: number | null;
}

/** Returns a text such as `23 spent (5 now) · 6 reserved · 91 of 120 left · balance 12`. */
export function moneyText(money: Money): string {
  const { spentEver, spentNow = spentEver, held, budget = null, balance = null } = money;
  const { left = Math.max(0, (budget ?? 0) - spentEver - held) } = money;
  const reserved = heldText(money);
  return [
    `${creditsText(spentEver)} spent${spentNow === spentEver ? '' : ` (${creditsText(spentNow)} now)`}`,
    ...(reserved === '' ? [] : [`${reserved} reserved`]),
    ...(budget === null ? [] : [`${creditsText(left)} of ${creditsText(budget)} left`]),
    ...(balance === null ? [] : [`balance ${creditsText(balance)}`]),
  ].join(' · ');
}

/** Returns a text such as `6 + 2 create requests of unknown price`. Empty if nothing is reserved. */
export function heldText({ held, heldUnknown = 0 }: Pick<Money, 'held' | 'heldUnknown'>): string {
  const unknown = heldUnknown === 0 ? '' : `${countOf(heldUnknown, 'create request')} of unknown price`;
  return [countCell(held), unknown].filter((text) => text !== '').join(' + ');
}

/** Returns a text such as `400 a day, 120 left` or `50 a run by all workers`. */
export function limitText({ credits, per, left, of }: NonNullable<PlanTotals['limit']>): string {
  const most = `${creditsText(credits)} a ${per}${of === 'engine' ? ' by all workers' : ''}`;
  return per === 'run' ? most : `${most}, ${creditsText(left)} left`;
}

export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  for (; value >= 999.5 && units.length > 1; units.shift()) value /= 1000;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[0]}`;
}

export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Returns a text such as `6–9 min`, rounded outward. Seconds are multiples of five: `1–10 s`. */
export function rangeText({ lowMs, highMs }: { lowMs: number; highMs: number }): string {
  const isShort = highMs < 90_000;
  const [unit, ms, step] = isShort ? ['s', 1000, 5] : highMs < 10_800_000 ? ['min', 60_000, 1] : ['h', 3_600_000, 1];
  const low = Math.max(1, Math.floor(lowMs / ms / step) * step);
  const high = Math.max(step, Math.ceil(highMs / ms / step) * step);
  return low === high ? `${low} ${unit}` : `${low}–${high} ${unit}`;
}

/** Returns an age such as `5 min`. `?` for an invalid time; `0 s` for a time in the future. */
export function ageText(time: string | undefined, now: number): string {
  const at = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? '?' : spanText(now - at);
}

/**
 * Returns a time in the time zone of this machine: `2026-11-23 14:05`. Omits the date if it is the day of `now`.
 */
export function clockText(time: string | number, now?: number): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '?';
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (now !== undefined && at.toDateString() === new Date(now).toDateString()) return clock;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}
