import { Lexer } from 'yaml';

const openings: { readonly [closing: string]: string } = { '}': '{', ']': '[' };
/** Marks of the lexer that are not part of the text: document start, plain or block text, early end of brackets. */
const documentMark = '\u0002';
const textMark = '\u001f';
const bracketsEndMark = '\u0018';

/** Finds the first unclosed quote or bracket, by its offset in a text that is not valid YAML. */
export function findUnclosed(text: string): { what: 'quote' | 'bracket'; start: number } | undefined {
  const open: { bracket: string; start: number }[] = [];
  let offset = 0;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    if (token === documentMark) continue;
    if (token === textMark) {
      isText = true;
      continue;
    }
    const innermost = open.at(-1);
    if (token === bracketsEndMark) {
      if (innermost !== undefined) return { what: 'bracket', start: innermost.start };
      continue;
    }
    if (!isText) {
      if (/^["']/.test(token) && !isClosed(token)) return { what: 'quote', start: offset };
      if (token === '{' || token === '[') open.push({ bracket: token, start: offset });
      const opening = openings[token];
      if (opening !== undefined && innermost !== undefined) {
        if (innermost.bracket !== opening) return { what: 'bracket', start: innermost.start };
        open.pop();
      }
    }
    isText = false;
    offset += token.length;
  }
  const last = open.at(-1);
  return last === undefined ? undefined : { what: 'bracket', start: last.start };
}

/** A backslash escapes a double quote; a single quote escapes itself. */
function isClosed(token: string): boolean {
  const quote = token.charAt(0);
  const inside = token.slice(1);
  if (!inside.endsWith(quote)) return false;
  if (quote === '"') return trailing(inside.slice(0, -1), '\\') % 2 === 0;
  return trailing(inside, "'") % 2 === 1;
}

function trailing(text: string, character: string): number {
  let count = 0;
  while (text[text.length - 1 - count] === character) count += 1;
  return count;
}
