import type { Advice } from '../plan/advice.ts';

/** One thing that was looked at. */
export interface Finding {
  /** What it belongs to: `environment`, `service`, `locks`, … */
  about: string;
  state: 'ok' | 'warning' | 'problem';
  /** What was seen, without a full stop. */
  text: string;
  /** What to do about it. */
  hint?: Advice;
  /** What the command ends with because of it; only for problems. */
  exit?: number;
}
