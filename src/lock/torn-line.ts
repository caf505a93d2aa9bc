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
export function isBegunLine(last: Uint8Array, before: Uint8Array): boolean {
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
export function mendLine(last: Uint8Array): string | undefined {
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
  return completions.some((completion) => isJson(text + completion + open));
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
