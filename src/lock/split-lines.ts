/** One line of a file, without its LF. */
export interface FileLine {
  /** Undefined when its bytes are not UTF-8. */
  text: string | undefined;
  /** Byte offset of its first byte. */
  start: number;
  /** From 1. */
  number: number;
}

export interface SplitLines {
  /** Read as they are asked for: the texts of all lines together are as large as the file. */
  lines: Iterable<FileLine>;
  /** What follows the last whole line: it was written only in part, and is not among `lines`. */
  torn?: { start: number; number: number };
}

/**
 * The lines of a file that grows by whole lines. A last line without LF that is not complete JSON was torn by a crash;
 * zero bytes at the end are what some file systems leave behind one. A part of an object is never JSON itself, so a
 * complete last line is kept, whatever it says.
 */
export function splitLines(bytes: Uint8Array): SplitLines {
  const start = bytes.lastIndexOf(0x0a) + 1;
  let end = bytes.length;
  while (end > start && bytes[end - 1] === 0) end--;
  const text = decodeUtf8(bytes.subarray(start, end));
  const isWhole = text !== undefined && (text.trim() === '' || isJson(text) || isConflictMarker(text));
  const whole = isWhole ? end : start;
  const lines = linesOf(bytes.subarray(0, whole));
  if (whole === bytes.length) return { lines };
  return { lines, torn: { start: whole, number: countLines(bytes.subarray(0, start)) + 1 } };
}

function* linesOf(bytes: Uint8Array): Generator<FileLine> {
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    const lineFeed = bytes.indexOf(0x0a, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    yield { text: decodeUtf8(bytes.subarray(start, end)), start, number };
    start = end + 1;
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count++;
  return count;
}

/** The lines that git puts around the two sides of a conflict. No record begins like one. */
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
