import { parseJson } from '../ground/json.ts';

export interface FileLine {
  /** Text of the line, `undefined` if its bytes are not UTF-8. */
  text: string | undefined;
  start: number;
  number: number;
}

interface SplitLines {
  /** Lines of the file, decoded one by one, because the text of all lines would be as large as the file. */
  lines: Iterable<FileLine>;
  /** Incomplete line of an interrupted append after the last line. `lines` excludes it. */
  torn?: { start: number; number: number };
}

/**
 * Splits a lock file, to which runs append complete lines. A line ends with LF, CR LF or CR. A last line without a line
 * end stays in `lines` if it is valid JSON. A last line from an interrupted append, or of zero bytes after a crash,
 * becomes `torn`. Any other last line is damaged and stays in `lines`.
 */
export function splitLines(bytes: Uint8Array): SplitLines {
  const start = Math.max(bytes.lastIndexOf(lineFeed), bytes.lastIndexOf(carriageReturn)) + 1; // I12 (CR)
  let end = bytes.length;
  while (end > start && bytes[end - 1] === 0) end--;
  const last = bytes.subarray(start, end);
  const text = decodeUtf8(last);
  const isJson = text !== undefined && parseJson(text.replace(/^\ufeff/, '')) !== undefined;
  const isWhole = text !== undefined && (text.trim() === '' || isJson || isConflictMarker(text)); // I12 (JSON)
  const before = bytes.subarray(0, start);
  // I12 (cut)
  if (!isWhole && !isBegunLine(last, before)) return { lines: linesOf(bytes) };
  const whole = isWhole ? end : start;
  const lines = linesOf(bytes.subarray(0, whole));
  return whole === bytes.length ? { lines } : { lines, torn: { start: whole, number: countLines(before) + 1 } };
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

/** Fields and states of a line about a job. A run writes such a line only after the line about its create request. */
const containsJob = /"jobId":|"state":"(?:running|lost|failed|done)"/;

/**
 * Returns whether these bytes may come from an interrupted append: they are the start of a line that may follow the
 * earlier lines. A line about a job must follow the line about its create request. Uploads have no create request.
 */
function isBegunLine(last: Uint8Array, before: Uint8Array): boolean {
  const text = decodeStart(last);
  if (text === undefined || !isOpenObject(text)) return false;
  if (!containsJob.test(text) || text.includes('"kind":"upload"')) return true;
  const fingerprint = /"fingerprint":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return (
    fingerprint !== undefined && Buffer.from(before.buffer, before.byteOffset, before.length).includes(fingerprint)
  );
}

function decodeStart(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

function isOpenObject(text: string): boolean {
  if (!/^\{(?:"|$)/.test(text)) return false;
  let depth = 1;
  let inText = false;
  for (let at = 1; at < text.length && depth > 0; at++) {
    const character = text[at] ?? '';
    if (character === '"') {
      if (!inText && !'{[,:'.includes(text[at - 1] ?? '')) return false;
      inText = !inText;
    } else if (inText) {
      if (character === '\\') at++;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (/\s/.test(character)) return false;
  }
  return depth > 0;
}

/**
 * Moves `kind` to the front of a line. A line that a run appends begins with `kind`, and a line of a finished file with
 * `address`. The start of an incomplete line therefore shows whether an append was interrupted or a finished file cut
 * off.
 */
export function asRunLine(line: string): string {
  return line.replace(/^\{("address":"(?:[^"\\]|\\.)*"),("kind":"[^"]*"),/, '{$2,$1,');
}

/** Throws unless a text is exactly one line. Several lines would look like an interrupted append. */
export function requireOneLine(line: string): string {
  if (line.indexOf('\n') !== line.length - 1) throw new Error('internal error: the text is not exactly one lock line');
  return line;
}

export function isOfRecord(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 3)).toString('latin1') === '{"a';
}

export function isRunLine(text: string): boolean {
  return text.startsWith('{"kind"');
}
