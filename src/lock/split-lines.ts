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

/**
 * Recognizes what may follow the last complete line of a file. Our appends write one object without white space between
 * its parts; cut off anywhere, it is the beginning of such an object. Anything else was written by another program, and
 * is for a person to repair.
 */

/** States that a purchase has only once its job, or the job's id, is known: neither is written before the intent. */
const tellsOfJob = /"jobId":|"state":"(?:running|lost|failed|done)"/;

/**
 * Tells whether an append of ours can have left these bytes: the beginning of a line that can follow the lines before
 * it. A line with a job follows the one that announced its purchase; uploads cost nothing and are recorded when done.
 */
function isBegunLine(last: Uint8Array, before: Uint8Array): boolean {
  const text = decodeStart(last);
  if (text === undefined || !isStartOfObject(text)) return false;
  if (!tellsOfJob.test(text) || text.includes('"kind":"upload"')) return true;
  const fingerprint = /"fingerprint":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return (
    fingerprint !== undefined && Buffer.from(before.buffer, before.byteOffset, before.length).includes(fingerprint)
  );
}

/**
 * Recovers the complete fields of a line whose end something else cut off – a bad merge, a full disk, an editor – if
 * they include its job id. Then nothing is bought again for want of the rest, which exists only in a copy of the file.
 */
function mendLine(last: Uint8Array): string | undefined {
  const text = decodeStart(last);
  if (text === undefined || !isStartOfObject(text)) return undefined;
  const { fieldEnd, itemEnd } = scan(text);
  const mended = itemEnd > fieldEnd ? `${text.slice(0, itemEnd)}]}` : `${text.slice(0, fieldEnd)}}`;
  return /"jobId":"/.test(mended) ? mended : undefined;
}

/** Tells whether an unreadable line was cut off between the state of a job and the end of its id. */
export function tellsOfLostJob(line: string): boolean {
  return tellsOfJob.test(line) && isStartOfObject(line) && mendLine(new TextEncoder().encode(line)) === undefined;
}

/** Decodes the bytes, dropping a character that is cut in two at the end. */
function decodeStart(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** Continuations of a truncated text: at least one makes it complete, up to the open brackets. */
const completions = [
  ...['', ':0', '0', '"":0', 'rue', 'ue', 'e', 'alse', 'lse', 'se', 'ull', 'll', 'l'],
  ...['', '\\', 'u0000', '0000', '000', '00', '0'].flatMap((rest) => [`${rest}"`, `${rest}":0`]),
];

function isStartOfObject(text: string): boolean {
  if (!/^\{(?:"|$)/.test(text)) return false;
  const { open, isSpaced } = scan(text);
  if (isSpaced || open === '') return false;
  return completions.some((completion) => parses(text + completion + open));
}

/** Scans a text that may be the beginning of an object. Linear, because a line may be as long as a file. */
function scan(text: string): { open: string; isSpaced: boolean; fieldEnd: number; itemEnd: number } {
  const closers: string[] = [];
  let inText = false;
  let isSpaced = false;
  let isBroken = false;
  /** Ends of the last complete field of the object, and of the last complete purchase in a list of them. */
  let fieldEnd = 1;
  let itemEnd = 0;
  for (let at = 0; at < text.length && !isBroken; at++) {
    const character = text[at] ?? '';
    if (inText) {
      if (character === '\\') at++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{') closers.push('}');
    else if (character === '[') closers.push(']');
    else if (character === '}' || character === ']') {
      isBroken = closers.pop() !== character || closers.length === 0;
      if (closers.length === 2 && text.startsWith(',"earlier":[', fieldEnd)) itemEnd = at + 1;
    } else if (character === ',' && closers.length === 1) fieldEnd = at;
    else if (/\s/.test(character)) isSpaced = true;
  }
  return { open: isBroken ? '' : closers.reverse().join(''), isSpaced, fieldEnd, itemEnd };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Lines that a run appends begin with their kind, those of a finished file with their address: so the beginning of a
 * line tells whether an append was cut off, or a file that was complete.
 */
export function asRunLine(line: string): string {
  return line.replace(/^\{("address":"(?:[^"\\]|\\.)*"),("kind":"[^"]*"),/, '{$2,$1,');
}

/** Throws unless a text is one whole line: more, or less, could not be told from a torn one. */
export function requireOneLine(line: string): string {
  if (line.indexOf('\n') !== line.length - 1) throw new Error('internal error: not one line of the lock');
  return line;
}

/** Tells whether the rest of a last line is of a record that was complete: no append begins like that. */
export function isOfRecord(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 3)).toString('latin1') === '{"a';
}

/** Tells whether a whole line was appended by a run. */
export function isRunLine(text: string): boolean {
  return text.startsWith('{"kind"');
}
