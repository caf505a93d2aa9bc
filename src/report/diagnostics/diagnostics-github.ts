import { type Diagnostic, sortDiagnostics } from '../../ground/diagnostic.ts';
import { shellLines } from '../advice-text.ts';
import { type Annotation, annotationText, limitAnnotations } from '../github-commands.ts';
import { safeText } from '../safe-text.ts';

const messageLength = 2000;

/**
 * Diagnostics as workflow commands of GitHub Actions, one line each: `::error file=…,line=…::message`. The runner shows
 * them beside the lines concerned. Paths are relative to `root`, the folder of the checkout; a path that leads out of
 * it stays as it is. Columns are given only for a range within one line, because the runner accepts no others.
 */
export function diagnosticsGithub(
  diagnostics: readonly Diagnostic[],
  options: {
    toCheckoutPath(file: string): string;
    /** Whether to limit the commands to the number that the runner shows. The text output has all of them. */
    limit?: boolean;
  },
): string {
  const annotations = sortDiagnostics(diagnostics).map((diagnostic) => annotationOf(diagnostic, options));
  return (options.limit === true ? limitAnnotations(annotations) : annotations).map(annotationText).join('');
}

function annotationOf(diagnostic: Diagnostic, options: { toCheckoutPath(file: string): string }): Annotation {
  const { severity, code, message, hint, place, trail = [] } = diagnostic;
  const properties: [string, string | number][] = [];
  if (place !== undefined) {
    const { file, start, end } = place;
    properties.push(['file', safeText(options.toCheckoutPath(file), 1000)], ['line', start.line]);
    // The end of a range is exclusive here and inclusive for the runner. A range that ends before the first column of
    // a line does not include that line.
    const endsBefore = end.column <= 1 && end.line > start.line;
    properties.push(['endLine', endsBefore ? end.line - 1 : end.line]);
    if (start.line === end.line) {
      properties.push(['col', start.column], ['endColumn', Math.max(start.column, end.column - 1)]);
    }
  }
  properties.push(['title', code]);
  const lines = [
    safeText(message, messageLength),
    ...(trail.length > 0 ? [`in ${trail.map((part) => safeText(part, 120)).join(' › ')}`] : []),
    ...(hint === undefined ? [] : shellLines(hint)),
  ];
  return { level: severity, properties, message: lines.join('\n') };
}
