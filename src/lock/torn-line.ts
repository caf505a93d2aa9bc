/**
 * What may stand at the end of a file whose last line was not written to its end. An append of ours writes one object
 * without white space between its parts; cut off anywhere, it is the start of such an object. Whatever else stands there,
 * somebody else wrote, and it is for a person to repair.
 */

/** A state that a purchase has only when its job is known, or its id: neither is written before its intent is. */
const tellsOfJob = /"jobId":|"state":"(?:running|lost|failed|done)"/;

/**
 * Whether an append of ours can have left these bytes behind: the start of a line, and of one that follows from what stands
 * before. A line that tells of a job comes after the one that said that it would be bought; uploads cost nothing, and are
 * told when they are done.
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
 * What is left of a line whose end something else cut off – a bad merge, a full disk, an editor: its complete fields, if the
 * id of its job is among them. Then nothing is bought again for want of the rest, which only a copy of the file has.
 */
export function mendLine(last: Uint8Array): string | undefined {
  const text = decodeStart(last);
  if (text === undefined || !isStartOfObject(text)) return undefined;
  const { fieldEnd, itemEnd } = scan(text);
  const mended = itemEnd > fieldEnd ? `${text.slice(0, itemEnd)}]}` : `${text.slice(0, fieldEnd)}}`;
  return /"jobId":"/.test(mended) ? mended : undefined;
}

/** Whether a line that cannot be read is one that was cut off between the state of a job and the end of its id. */
export function tellsOfLostJob(line: string): boolean {
  return tellsOfJob.test(line) && isStartOfObject(line) && mendLine(new TextEncoder().encode(line)) === undefined;
}

/** A character that is cut in two at the end is left out. */
function decodeStart(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** How what was begun may go on: at least one of these makes it whole, up to the brackets that are open. */
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

/** One walk over a text that may be the start of an object: linear, for a line may be as long as a file. */
function scan(text: string): { open: string; isSpaced: boolean; fieldEnd: number; itemEnd: number } {
  const closers: string[] = [];
  let inText = false;
  let isSpaced = false;
  let isBroken = false;
  /** Behind the last complete field of the object, and the last complete purchase in a list of them. */
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
