import type { Diagnostic } from '../../ground/diagnostic.ts';

/** Errors before warnings, then by file and position; diagnostics without a place come first. Stable. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => {
    if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
    if (a.place === undefined || b.place === undefined)
      return Number(b.place === undefined) - Number(a.place === undefined);
    if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
    return a.place.start.line - b.place.start.line || a.place.start.column - b.place.start.column;
  });
}
