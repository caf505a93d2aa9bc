import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';
import type { Advice } from '../plan/advice.ts';
import type { FailureCode } from './failure.ts';

/** Something a person should know that does not end the command. Texts are raw: whoever shows them makes them safe. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode | FailureCode; hint?: Advice }
  /** The activity that takes time now. */
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  /** Warnings and errors of a file, with the texts that they point into, by file name. */
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Tell = (notice: Notice) => void;
