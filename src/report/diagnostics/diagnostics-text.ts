import { countDiagnostics, type Diagnostic, type Place } from '../../ground/diagnostic.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { sortDiagnostics } from './diagnostic-order.ts';
import { excerptLines } from './excerpt.ts';

export interface DiagnosticsTextOptions {
  style: Style;
  /** Absolute paths below this folder are shown relative to it. */
  cwd?: string;
  /** Columns for source lines; default: 100. Messages are never cut to it. */
  width?: number;
  /** Most that are shown; more are only counted. Default: all. */
  most?: number;
}

/**
 * Diagnostics for people: place, code, sentence, the line with carets, other places, the expansion trail, the remedy;
 * at the end the counts. Empty for no diagnostics, else with a line feed at the end.
 *
 * @param sources file texts by the name that diagnostics use; without a text there is no excerpt
 */
export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string {
  if (diagnostics.length === 0) return '';
  const shown = sortDiagnostics(diagnostics).slice(0, options.most);
  const blocks = shown.map((diagnostic) => blockOf(diagnostic, sources, options).join('\n'));
  const isWhole = shown.length === diagnostics.length;
  const more = isWhole ? '' : `, the first ${shown.length} of them above`;
  return `${blocks.join('\n\n')}\n\n${countsText(diagnostics, options.style)}${more}\n`;
}

/** `2 errors, 1 warning`, or `100 of 163 errors` where a list is cut. */
function countsText(diagnostics: readonly Diagnostic[], style: Style): string {
  const { errors, warnings, omitted } = countDiagnostics(diagnostics);
  const told = (count: number, left: number, word: string) =>
    `${left > 0 ? `${count - left} of ` : ''}${countOf(count, word)}`;
  const parts = [];
  if (errors > 0) parts.push(style.red(told(errors, omitted.errors, 'error')));
  if (warnings > 0) parts.push(style.yellow(told(warnings, omitted.warnings, 'warning')));
  return parts.join(', ');
}

const messageLength = 2000;

function blockOf(
  diagnostic: Diagnostic,
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string[] {
  const { style } = options;
  const { severity, code, message, place, hint } = diagnostic;
  const word = severity === 'error' ? style.red(style.bold('error')) : style.yellow(style.bold('warning'));
  const head = [
    ...(place ? [style.bold(placeText(place, options.cwd))] : []),
    word,
    code,
    safeText(message, messageLength),
  ];
  const lines = [head.join(' '), ...excerptOf(place, sources, options)];
  for (const other of diagnostic.related ?? []) {
    lines.push(`  ${placeText(other.place, options.cwd)} ${safeText(other.message, messageLength)}`);
    lines.push(...excerptOf(other.place, sources, options));
  }
  const trail = (diagnostic.trail ?? []).map((part) => safeText(part, 120));
  if (trail.length > 0) lines.push(`  in ${trail.join(' › ')}`);
  if (hint !== undefined) lines.push(`  ${style.cyan('hint:')} ${safeText(hint, messageLength)}`);
  return lines;
}

function excerptOf(
  place: Place | undefined,
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string[] {
  const text = place && sources.get(place.file);
  if (place === undefined || text === undefined) return [];
  return excerptLines(text, place, { style: options.style, width: (options.width ?? 100) - 2 }).map(
    (line) => `  ${line}`,
  );
}

function placeText(place: Place, cwd: string | undefined): string {
  const inside = cwd !== undefined && place.file.startsWith(`${cwd}/`);
  const file = inside ? place.file.slice(cwd.length + 1) : place.file;
  return `${safeText(file)}:${place.start.line}:${place.start.column}`;
}
