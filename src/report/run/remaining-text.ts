import type { Remaining } from './run-time.ts';

interface Unit {
  name: string;
  seconds: number;
  /** Whole numbers of it, and steps between them. */
  step: number;
}

const seconds: Unit = { name: 's', seconds: 1, step: 5 };
const minutes: Unit = { name: 'min', seconds: 60, step: 1 };
const tenMinutes: Unit = { name: 'min', seconds: 60, step: 10 };
const hours: Unit = { name: 'h', seconds: 3600, step: 1 };

/**
 * `about 5–7 min left`, `about 1–2 min to the first gate`, `longer than usual`, `time unknown`. `isShort`: `5–7 min`,
 * `~1 min`, `late`, `time ?`. Never `0`.
 */
export function remainingText(remaining: Remaining, { isShort = false } = {}): string {
  if (remaining === 'unknown') return isShort ? 'time ?' : 'time unknown';
  if (remaining === 'overdue') return isShort ? 'late' : 'longer than usual';
  const { unit, low, high } = shownRange(remaining);
  const from = numberText(low, unit);
  const to = numberText(high, unit);
  const range = low === high ? to : unit === tenMinutes ? `${from} – ${to}` : `${from.split(' ')[0]}–${to}`;
  if (isShort) return low === high ? `~${range}` : range;
  return `about ${range} ${remaining.until === 'gate' ? 'to the first gate' : 'left'}`;
}

/**
 * Rounds so coarsely that a range keeps its words for a while: to one number where both ends round to it, else outward.
 * `low`, `high`: in steps of the unit.
 */
export function shownRange({ low, high }: { low: number; high: number }): { unit: Unit; low: number; high: number } {
  const unit = unitOf(high);
  const size = unit.seconds * unit.step;
  const nearest = Math.max(1, Math.round((low + high) / 2 / size));
  const isOne = unit !== seconds && Math.abs(low / size - nearest) <= 0.5 && Math.abs(high / size - nearest) <= 0.5;
  if (isOne) return { unit, low: nearest, high: nearest };
  const least = unit === seconds ? 1 : Math.max(1, Math.floor(low / size));
  return { unit, low: Math.max(least, Math.floor(low / size)), high: Math.max(least, Math.ceil(high / size)) };
}

function unitOf(high: number): Unit {
  if (high <= 50) return seconds;
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
