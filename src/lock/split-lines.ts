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
  lines: FileLine[];
  /** What follows the last whole line: it was written only in part, and is not among `lines`. */
  torn?: { start: number; number: number };
}

/**
 * The lines of a file that grows by whole lines. A last line without LF that is not complete JSON was torn by a crash;
 * zero bytes at the end are what some file systems leave behind one. A part of an object is never JSON itself, so a
 * complete last line is kept, whatever it says.
 */
export function splitLines(bytes: Uint8Array): SplitLines {
  const lines: FileLine[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    lines.push({ text: decodeUtf8(bytes.subarray(start, end)), start, number: lines.length + 1 });
    start = end + 1;
  }
  let end = bytes.length;
  while (end > start && bytes[end - 1] === 0) end--;
  const number = lines.length + 1;
  const text = decodeUtf8(bytes.subarray(start, end));
  if (text === undefined || !(text.trim() === '' || isJson(text) || isConflictMarker(text))) {
    return { lines, torn: { start, number } };
  }
  if (end > start) lines.push({ text, start, number });
  return end === bytes.length ? { lines } : { lines, torn: { start: end, number } };
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
