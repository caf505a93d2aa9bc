import type { Json } from '../../ground/json.ts';
import { shorten, unknownValue } from '../../ground/values.ts';

/** Reason why a value cannot be sent. Messages show `problem` after the name of the value, or after `written`. */
export interface Unsendable {
  written?: string;
  problem: string;
  hint: string;
  /** Defaults to an error. */
  severity?: 'warning';
}

/** Characters that no request can contain: NUL, U+FFFD (a conversion lost a character), half of a surrogate pair. */
const oddCharacter = /[\0\ufffd]|\p{Surrogate}/u;

/** Explains why the service would receive a changed string. Returns `undefined` for any other string. */
export function whyTextIsUnsendable(text: string): Unsendable | undefined {
  const odd = oddCharacter.exec(text)?.[0];
  if (odd === undefined) return undefined;
  if (odd === '\0') return { problem: 'contains U+0000 (NUL), which cannot be sent', hint: 'remove it' };
  if (odd === '\ufffd') {
    const hint = 'write the character itself, and save or set the text as UTF-8';
    return { problem: 'contains U+FFFD: a character was lost in a conversion to UTF-8', hint };
  }
  const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return {
    problem: `contains U+${code}, one half of a character, which cannot be sent`,
    hint: 'write the character itself, or both of its halves, as in \\ud83d\\ude00',
  };
}

/**
 * Explains why the service would receive a changed number. Integers beyond 2^53 are rounded, and a rounded seed gives a
 * different picture.
 */
export function whyNumberIsUnsendable(value: number, written: string): Unsendable | undefined {
  const shown = shorten(written, 40);
  const hint = `write a number nearer to 0, or quote the value to send a string: "${shown}"`;
  if (!Number.isFinite(value)) return { written: shown, problem: 'is too large for a number', hint };
  if (value === 0 && /^[-+]?[0-9.]*[1-9]/.test(written)) {
    return {
      written: shown,
      problem: 'is so near to 0 that it would be sent as 0',
      hint: 'write 0, or a larger number',
    };
  }
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  const sent = JSON.stringify(value);
  const instead = sent === written ? 'cannot be distinguished from the next whole numbers' : `would be sent as ${sent}`;
  const most = value < 0 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
  return { written: shown, problem: `${instead}: whole numbers are exact only up to ${most}`, hint };
}

export const nulWords = {
  message: 'the file holds a NUL byte',
  hint: 'remove the NUL byte; if the file was saved as UTF-16, save it as UTF-8 (Excel: “CSV UTF-8”)',
};

export function findUnsendable(value: Json): Unsendable | undefined {
  if (typeof value === 'string') return whyTextIsUnsendable(value);
  if (typeof value === 'number') return whyNumberIsUnsendable(value, String(value));
  if (value === null || typeof value !== 'object' || value === unknownValue) return undefined;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value) as [string, Json][]) {
    const found = (isList ? undefined : whyTextIsUnsendable(key)) ?? findUnsendable(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function* findUnsendableInJson(text: string): Generator<Unsendable & { start: number; end: number }> {
  if (!/\\u(?:0000|[dD][89a-fA-F])|\d{16}|[\d.][eE]|\.\d*[1-9]0/.test(text)) return;
  const number = /-?\d[\d.eE+-]*/y;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === 0x22) {
      const end = endOfText(text, at);
      const written = text.slice(at, end);
      const found = written.includes('\\u') ? whyTextIsUnsendable(JSON.parse(written) as string) : undefined;
      if (found !== undefined) yield { ...found, start: at, end };
      at = end - 1;
    } else if (character === 0x2d || (character >= 0x30 && character <= 0x39)) {
      number.lastIndex = at;
      const written = number.exec(text)?.[0] ?? '-';
      const found = whyNumberIsUnsendable(Number(written), written) ?? whyShortened(written);
      if (found !== undefined) yield { ...found, start: at, end: at + written.length };
      at += written.length - 1;
    }
  }
}

/** Explains why a number, such as a price, would be printed with fewer digits than are written. */
function whyShortened(written: string): Unsendable | undefined {
  if (!/\.\d*[1-9]0+$/.test(written)) return undefined;
  const hint = `quote it to keep it as it is written: "${shorten(written)}"`;
  return { severity: 'warning', written: shorten(written), problem: `is read as the number ${Number(written)}`, hint };
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
