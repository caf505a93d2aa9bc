import type { Advice } from '../ground/advice.ts';
import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';
import type { FailureCode } from './failure.ts';

/** A message to the user that does not end the command. Views must escape the texts of a notice. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode | FailureCode; hint?: Advice }
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Notify = (notice: Notice) => void;

export interface Finding {
  /** Area that `doctor` checked: `environment`, `service`, `locks`, … */
  about: string;
  state: 'ok' | 'warning' | 'problem';
  text: string;
  hint?: Advice;
  exit?: number;
}
