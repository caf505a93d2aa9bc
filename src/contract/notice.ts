import type { Advice } from '../ground/advice.ts';
import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';
import type { FailureCode } from './failure.ts';

/** A message to the user that does not end the command. Every view must escape its texts. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode | FailureCode; hint?: Advice }
  /** An operation in progress that takes time. */
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  /** `sources`: texts of the files by file name, for excerpts. */
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Tell = (notice: Notice) => void;

export interface Finding {
  /** Subject of the check: `environment`, `service`, `locks`, … */
  about: string;
  state: 'ok' | 'warning' | 'problem';
  text: string;
  hint?: Advice;
  /** Set for problems. */
  exit?: number;
}
