import { RE2JS } from 're2js';
import { messageOf, shorten } from '../../ground/values.ts';

/** Reason why a pattern is refused, for example "repeats too much". */
export class PatternProblem extends Error {}

const mostSize = 200_000;

const longestPattern = 10_000;
const largestSize = 20_000;

/** White space as in JavaScript. In RE2, `\s` means only ASCII. */
const spaces = '\\s\\x0b\\x{feff}\\p{Z}';
const anyOnLine = '[^\\n\\r\\x{2028}\\x{2029}]';

interface Matcher {
  test(text: string): boolean;
  toString?(): string;
}

/**
 * Returns the pattern compiler of a validator. `regExp` throws for a pattern whose matching time is not bounded. With
 * `skipsHard`, such a pattern matches every text instead.
 */
export function makeMatcher(skipsHard: boolean): {
  regExp: ((pattern: string) => Matcher) & { code: string };
  sizeOfPatterns(): number;
} {
  const known = new Map<string, Matcher>();
  let sum = 0;
  const read = (pattern: string): Matcher => {
    // The validator identifies a pattern by the result of `toString`.
    const named = { toString: () => pattern };
    try {
      const { test, size } = compileLinearPattern(pattern);
      sum += size;
      if (sum > mostSize) throw new Error('its patterns are too large');
      return { test, ...named };
    } catch (error) {
      if (!(error instanceof PatternProblem)) throw error;
      if (skipsHard && isExpression(pattern)) return { test: () => true, ...named };
      throw new Error(`the pattern ${shorten(pattern)} ${error.message}`);
    }
  };
  const regExp = (pattern: string) => {
    const matcher = known.get(pattern) ?? read(pattern);
    known.set(pattern, matcher);
    return matcher;
  };
  return { regExp: Object.assign(regExp, { code: 'linear' }), sizeOfPatterns: () => sum };
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    return false;
  }
}

/**
 * Translates a JavaScript pattern to RE2, which matches in linear time. Throws `PatternProblem` for a pattern that
 * needs backtracking. `size`: maximum number of simultaneous states of a match.
 */
export function compileLinearPattern(pattern: string): Matcher & { size: number } {
  if (pattern.length > longestPattern) throw new PatternProblem(`is longer than ${longestPattern} characters`);
  try {
    const { text, size } = translate(RE2JS.translateRegExp(pattern));
    if (size > largestSize) throw new PatternProblem('repeats too much');
    const compiled = RE2JS.compile(text);
    return { test: (given) => compiled.test(given), size: compiled.programSize() };
  } catch (error) {
    if (error instanceof PatternProblem) throw error;
    throw new PatternProblem(`cannot be used: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  const message = messageOf(error);
  const [, what] = /`(\(\?<?[=!])/.exec(message) ?? [];
  if (what !== undefined) return `${what}…) looks ahead or back, so a match may take forever`;
  if (/invalid escape sequence: `\\[1-9k]/.test(message))
    return 'it refers back to a group, so a match may take forever';
  if (/repeat count/.test(message))
    return 'it repeats something more than 1000 times; for limits of length, use `minLength` and `maxLength`';
  return message.replace('error parsing regexp: ', '').slice(0, 100);
}

function translate(pattern: string): { text: string; size: number } {
  let text = '';
  const groups = [{ size: 0, last: 0 }];
  const add = (piece: string, size: number) => {
    const group = groups.at(-1);
    text += piece;
    if (group === undefined) throw new PatternProblem('closes a group that is not open');
    group.size += size;
    group.last = size;
  };
  const next =
    /\\[pPx]\{[^}]*\}|\\[\s\S]|\[\^?(?:\\[pPx]\{[^}]*\}|\\[\s\S]|\[:\^?[a-z]+:\]|[^\]\\])+\]|\{\d+(?:,\d*)?\}|[\s\S]/gu;
  for (const [piece] of pattern.matchAll(next)) {
    if (piece === '(') {
      text += piece;
      groups.push({ size: 1, last: 0 });
    } else if (piece === ')') {
      const closed = groups.pop();
      add(piece, closed?.size ?? 0);
    } else if (/^\{\d/.test(piece)) {
      const counts = piece.match(/\d+/g)?.map(Number) ?? [];
      const group = groups.at(-1);
      if (group !== undefined) group.size += group.last * Math.max(0, ...counts.map((count) => count - 1));
      text += piece;
    } else if (piece.length > 1 && piece.startsWith('[')) {
      add(
        piece.replace(/\\([\s\S])/gu, (whole, name) => (name === 's' ? spaces : whole)),
        1,
      );
    } else if (piece === '[' || piece === '\\Q') {
      throw new PatternProblem(`has ${piece} where it cannot match anything`);
    } else {
      add(plain(piece), 1);
    }
  }
  return { text, size: groups.reduce((sum, { size }) => sum + size, 0) };
}

function plain(piece: string): string {
  switch (piece) {
    case '.':
      return anyOnLine;
    case '\\s':
      return `[${spaces}]`;
    case '\\S':
      return `[^${spaces}]`;
    default:
      return piece;
  }
}
