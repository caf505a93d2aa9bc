import type { Advice } from '../ground/advice.ts';
import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';
import { defined } from '../ground/values.ts';
import { type FailureCode, failureOf, failures } from './failure.ts';

/** A message to the user that does not end the command. Texts are not escaped; every view must escape them. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode | FailureCode; hint?: Advice }
  /** An operation in progress that takes time. */
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  /** Warnings and errors in files, with the source texts of these files by file name, from which excerpts are shown. */
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Tell = (notice: Notice) => void;

export interface Finding {
  /** Subject of the check: `environment`, `service`, `locks`, … */
  about: string;
  state: 'ok' | 'warning' | 'problem';
  text: string;
  hint?: Advice;
  /** Exit code for the problem; only for problems. */
  exit?: number;
}

/**
 * Turns a failure into a finding, so that the other checks can go on. An error that is no known failure, or that means
 * that no user can be asked, is thrown.
 */
export function failureFinding(about: string, error: unknown): Finding & { state: 'problem' } {
  const failure = failureOf(error);
  if (failure === undefined || failure.code === 'MB3004') throw error;
  const { code, message, hint } = failure;
  return { about, state: 'problem', text: message, ...defined({ hint }), exit: failures[code].exit };
}
