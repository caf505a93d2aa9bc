import { countDiagnostics, type Diagnostic, type Place, sortDiagnostics } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import { shellLines } from '../advice-text.ts';

/**
 * Diagnostics as a document for programs: `{mediabatch: 'diagnostics', version: 1, file, valid, errors, warnings,
 * omitted?, steps?, tasks?, unchecked?, diagnostics: [{code, severity, message, hint?, range?, related?, trail?, fix?}]}`.
 * A range is `{file, start: {line, column, offset}, end}`: lines and columns from 1, offsets in UTF-16 units from 0, its
 * end exclusive. A fix is `{range, text}`: the replacement for that range. `valid` means: no errors.
 * `schemas/diagnostics.schema.json` specifies the same.
 *
 * @param context the manifest's path, and the size of its expansion if known
 */
export function diagnosticsJson(
  diagnostics: readonly Diagnostic[],
  context: { file: string; steps?: number; tasks?: number; unchecked?: number },
): Json {
  const { errors, warnings, omitted } = countDiagnostics(diagnostics);
  const left = omitted.errors + omitted.warnings;
  return {
    mediabatch: 'diagnostics',
    version: 1,
    file: context.file,
    valid: errors === 0,
    errors,
    warnings,
    ...(left > 0 && { omitted: left }),
    ...defined({ steps: context.steps, tasks: context.tasks, unchecked: context.unchecked }),
    diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson),
  };
}

export function diagnosticJson(diagnostic: Diagnostic): Json {
  const { code, severity, message, hint, place, related, trail, fix } = diagnostic;
  return {
    code,
    severity,
    message,
    ...(hint !== undefined && { hint: shellLines(hint).join('\n') }),
    ...(place !== undefined && { range: rangeJson(place) }),
    ...(related !== undefined && {
      related: related.map((other) => ({ message: other.message, range: rangeJson(other.place) })),
    }),
    ...defined({ trail, fix: fix && { range: rangeJson(fix.place), text: fix.text } }),
  };
}

function rangeJson({ file, sheet, start, end }: Place): Json {
  return {
    file,
    ...defined({ sheet }),
    start: { line: start.line, column: start.column, offset: start.offset },
    end: { line: end.line, column: end.column, offset: end.offset },
  };
}
