import type { Diagnostic, Place } from '../diagnostic.ts';
import type { Json } from '../json.ts';
import { sortDiagnostics } from './diagnostic-order.ts';

/**
 * Mistakes as a document for programs: `{mediabatch: 'diagnostics', version: 1, file, valid, errors, warnings, steps?,
 * tasks?, diagnostics: [{code, severity, message, hint?, range?, related?, trail?}]}`. A range is `{file, start: {line,
 * column}, end: {line, column}}`, counted from 1, its end exclusive. `valid` means: no errors.
 *
 * @param context the manifest's path, and what it expands to where that is known
 */
export function diagnosticsJson(
  diagnostics: readonly Diagnostic[],
  context: { file: string; steps?: number; tasks?: number },
): Json {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return {
    mediabatch: 'diagnostics',
    version: 1,
    file: context.file,
    valid: errors === 0,
    errors,
    warnings: diagnostics.length - errors,
    ...(context.steps !== undefined && { steps: context.steps }),
    ...(context.tasks !== undefined && { tasks: context.tasks }),
    diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson),
  };
}

function diagnosticJson(diagnostic: Diagnostic): Json {
  const { code, severity, message, hint, place, related, trail } = diagnostic;
  return {
    code,
    severity,
    message,
    ...(hint !== undefined && { hint }),
    ...(place !== undefined && { range: rangeJson(place) }),
    ...(related !== undefined && {
      related: related.map((other) => ({ message: other.message, range: rangeJson(other.place) })),
    }),
    ...(trail !== undefined && { trail }),
  };
}

function rangeJson({ file, start, end }: Place): Json {
  return {
    file,
    start: { line: start.line, column: start.column },
    end: { line: end.line, column: end.column },
  };
}
