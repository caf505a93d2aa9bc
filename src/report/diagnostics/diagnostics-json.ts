import { failedOutcomes } from '../../contract/event.ts';
import { countDiagnostics, type Diagnostic, type Place, sortDiagnostics } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined, groupBy } from '../../ground/values.ts';
import { adviceLines } from '../advice-text.ts';
import { jsonOf } from '../document.ts';
import type { RunView, Stage } from '../run/run-view.ts';
import { safeText, shortList } from '../safe-text.ts';

/** Returns the document of `schemas/diagnostics.schema.json`. `context`: path and size of the manifest. */
export function diagnosticsJson(
  diagnostics: readonly Diagnostic[],
  context: { file: string; steps?: number; tasks?: number; unchecked?: number },
): Json {
  const { errors, warnings, omitted } = countDiagnostics(diagnostics);
  const left = omitted.errors + omitted.warnings;
  return jsonOf('diagnostics', {
    file: context.file,
    valid: errors === 0,
    errors,
    warnings,
    ...(left > 0 && { omitted: left }),
    ...defined({ steps: context.steps, tasks: context.tasks, unchecked: context.unchecked }),
    diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson),
  });
}

export function diagnosticJson(diagnostic: Diagnostic): Json {
  const { code, severity, message, hint, place, related, trail, fix } = diagnostic;
  return {
    code,
    severity,
    message,
    ...(hint !== undefined && { hint: adviceLines(hint).join('\n') }),
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

/**
 * Returns workflow commands such as `::error file=…::message`. GitHub Actions shows each message in the file that its
 * command names.
 */
export function diagnosticsGithub(
  diagnostics: readonly Diagnostic[],
  { toCheckoutPath }: { toCheckoutPath(file: string): string },
): string {
  return sortDiagnostics(diagnostics)
    .map(({ severity, code, message, hint, place, trail = [] }) => {
      const properties = { ...(place && placeProperties(place, toCheckoutPath(place.file))), title: code };
      const lines = [
        safeText(message, messageLength),
        ...(trail.length > 0 ? [`in ${trail.map((part) => safeText(part, 120)).join(' › ')}`] : []),
        ...(hint === undefined ? [] : adviceLines(hint)),
      ];
      return annotation(severity, properties, lines);
    })
    .join('');
}

export function failureGithub(title: string, lines: readonly string[]): string {
  const safe = lines.map((line) => safeText(line, messageLength));
  return annotation('error', { title }, safe);
}

/**
 * Returns a workflow command for each distinct reason of failed or unresolved steps. `file`: path of the manifest in
 * the checkout.
 */
export function failedStepsGithub({ stepsByAddress }: RunView, file: string): string {
  const failed = [...stepsByAddress].filter(([, { stage }]) => failedStages.includes(stage));
  return [...groupBy(failed, ([, { error, stage }]) => error ?? stage)]
    .map(([reason, steps]) => {
      const title = shortList(
        steps.map(([address]) => address),
        3,
      );
      return annotation('error', { file: safeText(file, 1000), title }, [safeText(reason, messageLength)]);
    })
    .join('');
}

const failedStages: readonly Stage[] = failedOutcomes;
const messageLength = 2000;

interface Properties {
  [name: string]: string | number;
}

function placeProperties(place: Place, file: string): Properties {
  const { start, end } = place;
  const lines = { file: safeText(file, 1000), line: start.line, endLine: lastLine(place) };
  // GitHub Actions accepts columns only for a range within one line.
  if (start.line !== end.line) return lines;
  // The end of a mediabatch range is exclusive. GitHub Actions expects an inclusive end.
  return { ...lines, col: start.column, endColumn: Math.max(start.column, end.column - 1) };
}

/** Returns the last line of a place. If the end is in column 1, returns the line before the end. */
export function lastLine({ start, end }: Place): number {
  return Math.max(start.line, end.column <= 1 ? end.line - 1 : end.line);
}

function annotation(severity: Diagnostic['severity'], properties: Properties, lines: readonly string[]): string {
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity} ${list.join(',')}::${escapeData(lines.join('\n'))}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
