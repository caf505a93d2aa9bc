import type { PlanTotals } from '../../plan/plan.ts';
import type { Style } from '../style.ts';
import { footerLines } from './footer-lines.ts';

const shownUntimed = 3;

/** How long the run will take, as a range; or of what no duration is known. */
export function timeLines({ expected, untimed }: PlanTotals, options: { style: Style; width?: number }): string[] {
  if (expected !== undefined) return footerLines('time', `about ${rangeText(expected)}`, options);
  if (untimed === undefined) return [];
  const [only] = untimed;
  if (untimed.length === 1) return footerLines('time', `unknown: no ${only} was timed yet`, options);
  const names = untimed.slice(0, shownUntimed);
  const last = untimed.length > shownUntimed ? `${untimed.length - shownUntimed} more` : names.pop();
  return footerLines('time', `unknown: ${names.join(', ')} and ${last} were never timed`, options);
}

/** `6–9 min`, `40 s`: in the unit of the longer one, whole numbers, never less than 1. */
export function rangeText({ lowMs, highMs }: { lowMs: number; highMs: number }): string {
  const [unit, ms] = highMs < 90_000 ? ['s', 1000] : highMs < 5_400_000 ? ['min', 60_000] : ['h', 3_600_000];
  const [low, high] = [Math.max(1, Math.floor(lowMs / ms)), Math.max(1, Math.ceil(highMs / ms))];
  return low === high ? `${low} ${unit}` : `${low}–${high} ${unit}`;
}
