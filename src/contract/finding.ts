import type { Advice } from '../plan/advice.ts';

/** A single observation. */
export interface Finding {
  /** The subject: `environment`, `service`, `locks`, … */
  about: string;
  state: 'ok' | 'warning' | 'problem';
  /** The observation, without a full stop. */
  text: string;
  /** Suggested remedy. */
  hint?: Advice;
  /** The exit code that it leads to; only for problems. */
  exit?: number;
}
