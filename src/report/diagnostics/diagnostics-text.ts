import { countDiagnostics, type Diagnostic, nameCell, type Place, sortDiagnostics } from '../../ground/diagnostic.ts';
import { groupBy } from '../../ground/values.ts';
import { shellView } from '../advice-text.ts';
import { bad, strong, type Text, warning } from '../document.ts';
import { countOf } from '../numbers.ts';
import { blockLines, indented, wrapped } from '../render/terminal-text.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { displayWidth, splitGraphemes } from '../text-width.ts';

interface DiagnosticsTextOptions {
  style: Style;
  /** Absolute paths below this folder are shown relative to it. */
  cwd?: string;
  /** Width in columns. Omitted for a file or a pipe, where only source lines are cut, at 100 columns. */
  width?: number;
  /** Maximum number of diagnostics shown; the others are counted. Defaults to all. */
  most?: number;
}

/**
 * Diagnostics for users: position, code, message, the source line with carets, other positions, the expansion trail,
 * the fix; at the end the counts. Empty for no diagnostics, else with a line feed at the end.
 *
 * @param sources file texts by the name that diagnostics use; without a text there is no excerpt
 */
export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  sources: ReadonlyMap<string, string>,
  options: DiagnosticsTextOptions,
): string {
  if (diagnostics.length === 0) return '';
  const groups = [...groupBy(sortDiagnostics(diagnostics), mistakeOf).values()];
  const shown = groups.slice(0, options.most);
  const hints = new Set<unknown>();
  const blocks = shown.map(([first, ...others]) => {
    const hint = first?.hint;
    const isRepeated = hints.has(hint) && typeof hint === 'string' && hint.length > longestRepeated;
    hints.add(hint);
    const group = first && [isRepeated ? { ...first, hint: 'as above' } : first, ...others];
    return blockOf(group ?? [], sources, options).join('\n');
  });
  const more = shown.length === groups.length ? '' : `, the first ${shown.flat().length} of them above`;
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
/** A longer hint, such as the list of all voices, is shown once. */
const longestRepeated = 300;
const indent = 2;
const mostPlaces = 5;

/** Diagnostics with an equal text are one block, which lists their positions. */
function mistakeOf(diagnostic: Diagnostic): unknown {
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
    ...(place ? [strong(placeText(place, options.cwd)), ' '] : []),
    word,
    ` ${code} ${safeText(message, messageLength)}`,
  ];
  const lines = [...wrapped(head, screen, indent), ...excerptOf(place, sources, options)];
  for (const other of diagnostic.related ?? []) {
    const where = placeText(other.place, options.cwd);
    // The place of a cell names its row, and the trail below does.
    const isNamed = other.place.sheet !== undefined && diagnostic.trail?.includes(other.message) === true;
    lines.push(...below(isNamed ? where : `${where} ${safeText(other.message, messageLength)}`));
    lines.push(...excerptOf(other.place, sources, options));
  }
  if (others.length > 0) {
    const places = others.slice(0, mostPlaces).map((other) => other.place && placeText(other.place, options.cwd));
    const left = others.length > mostPlaces ? ` and ${others.length - mostPlaces} more` : '';
    lines.push(...below(`the same in ${places.join(', ')}${left}`));
  }
  const trail = (diagnostic.trail ?? []).map((part) => safeText(part, 120));
  if (trail.length > 0) lines.push(...below(`in ${trail.join(' › ')}`));
  const advice = shellView(hint, 'hint:').flatMap((block) => blockLines(block, inner));
  return [...lines, ...indented(advice, indent)];
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
  const { start, sheet } = place;
  if (sheet !== undefined) return `${safeText(file)}, sheet ${safeText(sheet)}, ${nameCell(start.line, start.column)}`;
  return `${safeText(file)}:${start.line}:${start.column}`;
}

/** A displayed character of a source line, with its UTF-16 units and its columns. */
interface Cell {
  start: number;
  end: number;
  text: string;
  width: number;
}

const tabStop = 4;
const maxLines = 3;

/**
 * The lines of a place, each with its number in a gutter and a run of carets below the part concerned. Tabs are
 * expanded, unsafe characters shown as escapes, and a long line is cut on both sides around the carets.
 *
 * @param width columns for a whole line of output, gutter included
 * @returns no lines when the text does not have that line
 */
export function excerptLines(text: string, place: Place, options: { style: Style; width: number }): string[] {
  const { style } = options;
  const lines = linesOf(text, place);
  if (lines.length === 0) return [];
  const gutterWidth = String(place.start.line + lines.length - 1).length + 1;
  const room = Math.max(20, options.width - gutterWidth - 3);
  const shown: string[] = [];
  lines.forEach((line, index) => {
    const { code, carets } = excerptLine(line, caretRange(line, place, index), room);
    shown.push(`${style.dim(`${String(place.start.line + index).padStart(gutterWidth)} |`)} ${code}`.trimEnd());
    shown.push(`${style.dim(`${' '.repeat(gutterWidth)} |`)} ${style.red(carets)}`);
  });
  const hidden = lastLine(place) - place.start.line + 1 - lines.length;
  if (hidden > 0) shown.push(style.dim(`${' '.repeat(gutterWidth)} | … and ${countOf(hidden, 'more line')}`));
  return shown;
}

function linesOf(text: string, place: Place): string[] {
  const first = place.start.line - 1;
  const count = Math.min(maxLines, lastLine(place) - first);
  let start = 0;
  for (let line = 0; line < first; line += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) return [];
    start = end + 1;
  }
  const lines: string[] = [];
  while (lines.length < count) {
    const end = text.indexOf('\n', start);
    lines.push((end === -1 ? text.slice(start) : text.slice(start, end)).replace(/\r$/, ''));
    if (end === -1) break;
    start = end + 1;
  }
  return lines;
}

/** Last line of a place. A place that ends before the first column of a line does not include that line. */
function lastLine(place: Place): number {
  const { start, end } = place;
  return Math.max(start.line, end.column <= 1 ? end.line - 1 : end.line);
}

/** Returns a range of units to mark with carets; at least one column, which may be just past the end of the line. */
function caretRange(line: string, place: Place, index: number): { start: number; end: number } {
  const isFirst = index === 0;
  const isLast = place.start.line + index === place.end.line;
  const indentation = line.length - line.trimStart().length;
  const start = isFirst ? Math.min(Math.max(0, place.start.column - 1), line.length) : indentation;
  const end = isLast ? Math.min(place.end.column - 1, line.length) : line.length;
  return { start, end: Math.max(end, start + 1) };
}

function excerptLine(
  line: string,
  range: { start: number; end: number },
  room: number,
): { code: string; carets: string } {
  const cells = cellsOf(line, range, room);
  const marked = cells.filter((cell) => cell.end > range.start && cell.start < range.end);
  const { shown, before, after } = cutAround(cells, marked[0] ?? { start: range.start, end: range.end }, room);
  const isMarked = (cell: Cell) => cell.end > range.start && cell.start < range.end;
  const lead = before ? 1 : 0;
  const firstMarked = shown.findIndex(isMarked);
  const left = firstMarked === -1 ? shown : shown.slice(0, firstMarked);
  const caretWidth = Math.max(1, widthOf(shown.filter(isMarked)));
  return {
    code: `${before ? '…' : ''}${shown.map(({ text }) => text).join('')}${after ? '…' : ''}`,
    carets: `${' '.repeat(lead + widthOf(left))}${'^'.repeat(caretWidth)}`,
  };
}

/** Returns the cells around the carets. The rest of the line is not examined, because a line may be megabytes long. */
function cellsOf(line: string, range: { start: number; end: number }, room: number): Cell[] {
  const from = line.length <= 8 * room ? 0 : Math.max(0, range.start - 4 * room);
  const cells: Cell[] = [];
  let start = from;
  let column = 0;
  for (const grapheme of splitGraphemes(line.slice(from, Math.max(range.start, from) + 8 * room))) {
    const text = grapheme === '\t' ? ' '.repeat(tabStop - (column % tabStop)) : safeText(grapheme);
    const width = displayWidth(text);
    cells.push({ start, end: start + grapheme.length, text, width });
    start += grapheme.length;
    column += width;
  }
  return cells;
}

function cutAround(
  cells: Cell[],
  caret: { start: number; end: number },
  room: number,
): { shown: Cell[]; before: boolean; after: boolean } {
  if (widthOf(cells) <= room && (cells[0]?.start ?? 0) === 0) return { shown: cells, before: false, after: false };
  const at = cells.findIndex((cell) => cell.start >= caret.start);
  let first = at === -1 ? cells.length : at;
  for (let used = 0; first > 0; first -= 1) {
    used += cells[first - 1]?.width ?? 0;
    if (used > room / 3) break;
  }
  const whole = widthOf(cells.slice(first));
  for (let used = whole; first > 0; first -= 1) {
    used += cells[first - 1]?.width ?? 0;
    if (used > room - 2) break;
  }
  const shown: Cell[] = [];
  let used = 0;
  for (const cell of cells.slice(first)) {
    used += cell.width;
    if (used > room - 2) break;
    shown.push(cell);
  }
  return { shown, before: first > 0 || (cells[0]?.start ?? 0) > 0, after: first + shown.length < cells.length };
}

function widthOf(cells: Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}
