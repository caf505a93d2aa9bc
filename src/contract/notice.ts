import type { Diagnostic, DiagnosticCode } from '../ground/diagnostic.ts';

/** Something that a person should know, and that ends nothing. Texts are as they are: whoever shows them makes them safe. */
export type Notice =
  | { is: 'notice'; text: string; code?: DiagnosticCode }
  /** What takes its time now. */
  | { is: 'waiting' | 'cannot reach' | 'connecting'; text: string }
  /** Warnings and mistakes of a file, with the texts that they point into, by file name. */
  | { is: 'diagnostics'; diagnostics: readonly Diagnostic[]; sources: ReadonlyMap<string, string> };

export type Tell = (notice: Notice) => void;
