import type { Advice } from '../ground/advice.ts';
import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';
import { type FailureCode, failureOf, failures } from './failure.ts';

/** A message to the user that does not end the command. Texts are raw; every view must escape them. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode | FailureCode; hint?: Advice }
  /** The activity that takes time now. */
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  /** Warnings and errors of a file, with the texts that they point into, by file name. */
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Tell = (notice: Notice) => void;

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

/** A failure that the other checks need not end by. What is no failure, or means that nobody can be asked, is thrown. */
export function failureFinding(about: string, error: unknown): Finding & { state: 'problem' } {
  const failure = failureOf(error);
  if (failure === undefined || failure.code === 'MB3004') throw error;
  const { code, message, hint } = failure;
  return { about, state: 'problem', text: message, ...(hint !== undefined && { hint }), exit: failures[code].exit };
}
