import type { Remaining } from './run-time.ts';

interface Unit {
  name: string;
  seconds: number;
  /** Number of units that a range is rounded to. */
  step: number;
}

const seconds: Unit = { name: 's', seconds: 1, step: 5 };
const minutes: Unit = { name: 'min', seconds: 60, step: 1 };
const tenMinutes: Unit = { name: 'min', seconds: 60, step: 10 };
const hours: Unit = { name: 'h', seconds: 3600, step: 1 };

/**
 * `about 5–7 min left`, `under 2 min left`, `about 1–2 min to the first gate`, `longer than usual`, `time unknown`.
 * `short`: `5–7 min`, `<2 min`, `~1 min`, `late`, `time ?`. Never `0`.
 */
export function remainingText(remaining: Remaining, { short = false } = {}): string {
  if (remaining === 'unknown') return short ? 'time ?' : 'time unknown';
  if (remaining === 'overdue') return short ? 'late' : 'longer than usual';
  const { unit, low, high } = shownRange(remaining);
  const to = numberText(high, unit);
  const isOne = low === high;
  const range = isOne || low === 0 ? to : betweenText(low, to, unit);
  if (short) return low === 0 ? `<${range}` : `${isOne ? '~' : ''}${range}`;
  return `${low === 0 ? 'under' : 'about'} ${range} ${remaining.until === 'gate' ? 'to the first gate' : 'left'}`;
}

function betweenText(low: number, to: string, unit: Unit): string {
  return unit === tenMinutes ? `${numberText(low, unit)} – ${to}` : `${low * unit.step}–${to}`;
}

/**
 * Rounds so coarsely that a range keeps its words for a while: to one number where both ends round to it, else outward.
 * `low`, `high`: in steps of the unit, `high` at least 1.
 */
export function shownRange({ low, high }: { low: number; high: number }): { unit: Unit; low: number; high: number } {
  const unit = unitOf(high);
  const size = unit.seconds * unit.step;
  const nearest = Math.max(1, Math.round((low + high) / 2 / size));
  const isOne = unit !== seconds && Math.abs(low / size - nearest) <= 0.5 && Math.abs(high / size - nearest) <= 0.5;
  if (isOne) return { unit, low: nearest, high: nearest };
  const to = Math.max(1, Math.ceil(high / size));
  return { unit, low: Math.min(to - 1, Math.floor(low / size)), high: to };
}

function unitOf(high: number): Unit {
  if (high <= 90) return seconds;
  if (high <= 90 * 60) return minutes;
  return high <= 6 * 3600 ? tenMinutes : hours;
}

/** `5 min`, `1 h 40`, `20 s`. */
function numberText(count: number, unit: Unit): string {
  const value = count * unit.step;
  if (unit !== tenMinutes || value < 60) return `${value} ${unit.name}`;
  const rest = value % 60;
  return rest === 0 ? `${Math.floor(value / 60)} h` : `${Math.floor(value / 60)} h ${rest}`;
}
