import { failedOutcomes } from '../../contract/event.ts';
import { answersOfExit } from '../../contract/exit.ts';
import { type Failure, failures } from '../../contract/failure.ts';
import { countDiagnostics, type Diagnostic, nameCell, type Place, sortDiagnostics } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { defined, groupBy } from '../../ground/values.ts';
import { adviceLines, adviceText, adviceView, hintView, type Paste } from '../advice-text.ts';
import { bad, type Document, jsonOf, line, strong, type Text, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { blockLines, indented, terminalText, wrapped } from '../render/terminal-text.ts';
import type { RunView, Stage } from '../run/run-view.ts';
import { safeText, shortList } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutStart, cutToWidth, displayWidth } from '../text-width.ts';

interface DiagnosticsTextOptions {
  style: Style;
  /** Width of the terminal in columns. Omitted for a file or pipe, where only source lines are cut, at 100 columns. */
  width?: number;
  most?: number;
}

/**
 * Returns diagnostics with source excerpts, followed by counts. Empty without diagnostics. `sources`: file texts by the
 * names in the diagnostics. If the text of a file is missing, its diagnostics have no excerpt.
 */
export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string {
  if (diagnostics.length === 0) return '';
  const groups = [...groupBy(sortDiagnostics(diagnostics), groupKeyOf).values()];
  const shown = groups.slice(0, options.most);
  const blocks = shown.map((group) => blockOf(group, sources, options).join('\n'));
  const more = shown.length === groups.length ? '' : `, the first ${shown.flat().length} shown above`;
  return `${blocks.join('\n\n')}\n\n${countsText(diagnostics, options.style)}${more}\n`;
}

function countsText(diagnostics: readonly Diagnostic[], style: Style): string {
  const { errors, warnings, omitted } = countDiagnostics(diagnostics);
  const counted = (count: number, left: number, word: string) =>
    `${left > 0 ? `${count - left} of ` : ''}${countOf(count, word)}`;
  const parts = [];
  if (errors > 0) parts.push(style.red(counted(errors, omitted.errors, 'error')));
  if (warnings > 0) parts.push(style.yellow(counted(warnings, omitted.warnings, 'warning')));
  return parts.join(', ');
}

const messageLength = 2000;
const indent = 2;
const mostPlaces = 5;

/** Returns a key by which diagnostics are grouped: one block shows all diagnostics that have the same text. */
function groupKeyOf(diagnostic: Diagnostic): unknown {
  const { severity, code, message, hint, place, related, fix } = diagnostic;
  if (place === undefined) return diagnostic;
  return JSON.stringify([severity, code, message, hint, place.file, place.sheet, related, fix?.text]);
}

function blockOf(
  [diagnostic, ...others]: readonly Diagnostic[],
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string[] {
  if (diagnostic === undefined) return [];
  const { severity, code, message, place, hint } = diagnostic;
  const screen = { style: options.style, room: options.width ?? Number.POSITIVE_INFINITY };
  const inner = { ...screen, room: screen.room - indent };
  const below = (text: Text) => indented(wrapped(text, inner, indent), indent);
  const word = severity === 'error' ? bad('error') : warning('warning');
  const head = [
    ...(place ? [strong(placeText(place)), ' '] : []),
    word,
    ` ${code} ${safeText(message, messageLength)}`,
  ];
  const lines = [...wrapped(head, screen, indent), ...excerptOf(place, sources, options)];
  for (const other of diagnostic.related ?? []) {
    const where = placeText(other.place);
    lines.push(...below(`${where} ${safeText(other.message, messageLength)}`));
    lines.push(...excerptOf(other.place, sources, options));
  }
  if (others.length > 0) {
    const places = others.flatMap((other) => (other.place ? [placeText(other.place)] : []));
    lines.push(...below(`the same problem in ${shortList(places, mostPlaces)}`));
  }
  const trail = (diagnostic.trail ?? []).map((part) => safeText(part, 120));
  if (trail.length > 0) lines.push(...below(`in ${trail.join(' › ')}`));
  const advice = hintView(hint).flatMap((block) => blockLines(block, inner));
  return [...lines, ...indented(advice, indent)];
}

function placeText({ file, start, sheet }: Place): string {
  if (sheet !== undefined) return `${safeText(file)}, sheet ${safeText(sheet)}, ${nameCell(start.line, start.column)}`;
  return `${safeText(file)}:${start.line}:${start.column}`;
}

const maxLines = 3;

function excerptOf(
  place: Place | undefined,
  sources: ReadonlyMap<string, string>,
  { style, width = 100 }: DiagnosticsTextOptions,
): string[] {
  const text = place && sources.get(place.file);
  if (place === undefined || text === undefined) return [];
  const first = place.start.line;
  const lines = text.split('\n', first - 1 + maxLines).slice(first - 1, lastLine(place));
  const gutterWidth = String(first + lines.length - 1).length + 1;
  const room = Math.max(20, width - indent - gutterWidth - 3);
  const gutter = (label = '') => `${' '.repeat(indent)}${style.dim(`${label.padStart(gutterWidth)} |`)}`;
  const shown = lines.flatMap((line, index) => {
    const { code, carets } = excerptLine(line.replace(/\r$/, ''), place, { index, room });
    return [`${gutter(String(first + index))} ${code}`.trimEnd(), `${gutter()} ${style.red(carets)}`];
  });
  const hidden = lines.length === 0 ? 0 : lastLine(place) - first + 1 - lines.length;
  return hidden > 0 ? [...shown, `${gutter()} ${style.dim(`… and ${countOf(hidden, 'more line')}`)}`] : shown;
}

function excerptLine(
  line: string,
  place: Place,
  { index, room }: { index: number; room: number },
): { code: string; carets: string } {
  const indentation = line.length - line.trimStart().length;
  const start = index === 0 ? Math.min(place.start.column - 1, line.length) : indentation;
  const end = place.start.line + index === place.end.line ? place.end.column - 1 : line.length;
  // Only the text near the carets is escaped and measured, because a line may have megabytes.
  const reach = 4 * room;
  const before = shownText(line.slice(Math.max(0, start - reach), start));
  const marked = shownText(line.slice(start, Math.min(Math.max(end, start + 1), start + reach)));
  const after = shownText(line.slice(Math.max(end, start + 1)).slice(0, reach));
  const left = Math.max(Math.floor(room / 3), room - displayWidth(marked + after));
  const head = cutStart(before, left);
  const rest = cutToWidth(marked + after, room - displayWidth(head));
  const width = Math.min(displayWidth(marked), displayWidth(rest));
  return { code: head + rest, carets: ' '.repeat(displayWidth(head)) + '^'.repeat(Math.max(1, width)) };
}

function shownText(code: string): string {
  return safeText(code.replaceAll('\t', '    '), Number.POSITIVE_INFINITY);
}

function failureView({ code, message, hint }: Failure, paste: Paste): Document {
  return [line([bad('error'), ` ${code} ${message}`], adviceView(hint, paste))];
}

export function failureText(
  failure: Failure,
  { style, paste, most, width }: { style: Style; paste: Paste; most?: number; width?: number | undefined },
): string {
  const { diagnostics = [], sources = new Map() } = 'diagnostics' in failure ? failure : {};
  return diagnostics.length > 0
    ? diagnosticsText(diagnostics, sources, { style, ...defined({ most, width }) })
    : terminalText(failureView(failure, paste), { style, width });
}

/** Returns the document of `schemas/failure.schema.json`. */
export function failureJson(failure: Failure, paste: Paste): Json {
  const { code, message, hint, ...facts } = failure;
  const { sources: _sources, diagnostics, ...plain } = { diagnostics: undefined, sources: undefined, ...facts };
  const { exit, paid } = { paid: undefined, ...failures[code] };
  return jsonOf('failure', {
    code,
    exit,
    ...answersOfExit(exit),
    ...defined({ paid }),
    message,
    ...(hint !== undefined && { hint: adviceText(hint, paste) }),
    ...plain,
    ...(diagnostics !== undefined && { diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson) }),
  });
}

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

function diagnosticJson(diagnostic: Diagnostic): Json {
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
 * Returns workflow commands such as `::error file=…::message`. GitHub Actions shows each message next to the line that
 * its command contains.
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

/** Returns the last line of a range. A range that ends in column 1 ends on the line before. */
function lastLine({ start, end }: Place): number {
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
