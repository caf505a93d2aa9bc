import { isBegunLine, mendLine } from './torn-line.ts';

/** One line of a file, without its line end. */
export interface FileLine {
  /** `undefined` when its bytes are not UTF-8. */
  text: string | undefined;
  /** Byte offset of its first byte. */
  start: number;
  /** Counts from 1. */
  number: number;
}

export interface SplitLines {
  /** Decoded lazily: the texts of all lines together are as large as the file. */
  lines: Iterable<FileLine>;
  /** The rest after the last complete line: an append of ours that was cut off. Not among `lines`. */
  torn?: { start: number; number: number };
  /** The rest of the last line after something else cut off its end; it is among `lines` as a line of its own. */
  mended?: FileLine;
}

/**
 * Splits a file that grows by complete lines. A line ends with LF, CR LF or, after some editors, CR; our lines contain
 * neither character. An unterminated last line may only be removed if an append of ours can have left it: the beginning
 * of a line, and zero bytes, which some file systems leave after a crash. A truncated object is never valid JSON, so a
 * complete last line is kept, whatever it says; anything else is damage, for the reader to refuse.
 */
export function splitLines(bytes: Uint8Array): SplitLines {
  const start = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1; // I12 (CR)
  let end = bytes.length;
  while (end > start && bytes[end - 1] === 0) end--;
  const last = bytes.subarray(start, end);
  const text = decodeUtf8(last);
  const isWhole = text !== undefined && (text.trim() === '' || isJson(text) || isConflictMarker(text)); // I12 (JSON)
  const before = bytes.subarray(0, start);
  // I12 (cut)
  if (isWhole || isBegunLine(last, before)) {
    const whole = isWhole ? end : start;
    const lines = linesOf(bytes.subarray(0, whole));
    return whole === bytes.length ? { lines } : { lines, torn: { start: whole, number: countLines(before) + 1 } };
  }
  const left = mendLine(last);
  if (left === undefined) return { lines: linesOf(bytes) };
  const mended = { text: left, start, number: countLines(before) + 1 };
  return { lines: withLast(linesOf(before), mended), mended };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function* linesOf(bytes: Uint8Array): Generator<FileLine> {
  let start = 0;
  for (const { line, number, next } of endsOf(bytes)) {
    yield { text: decodeUtf8(bytes.subarray(start, line)), start, number };
    start = next;
  }
}

function* withLast(lines: Iterable<FileLine>, last: FileLine): Generator<FileLine> {
  yield* lines;
  yield last;
}

/** Yields the end of each line and the start of the next. Anything after the last line end is a line, too. */
function* endsOf(bytes: Uint8Array): Generator<{ line: number; number: number; next: number }> {
  let start = 0;
  let nextReturn = bytes.indexOf(carriageReturn);
  for (let number = 1; start < bytes.length; number++) {
    const feed = bytes.indexOf(lineFeed, start);
    if (nextReturn !== -1 && nextReturn < start) nextReturn = bytes.indexOf(carriageReturn, start);
    const isReturn = nextReturn !== -1 && (feed === -1 || nextReturn < feed);
    const line = isReturn ? nextReturn : feed === -1 ? bytes.length : feed;
    const isPair = isReturn && bytes[line + 1] === lineFeed;
    const next = line + (isPair ? 2 : 1);
    yield { line, number, next };
    start = next;
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (const _end of endsOf(bytes)) count++;
  return count;
}

/** Recognizes the lines that git puts around the two sides of a conflict. No record begins like one. */
export function isConflictMarker(text: string): boolean {
  return /^(<{7}|\|{7}|={7}|>{7})(\s|$)/.test(text);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}
