/** What is looked through, and which of the paths found there are meant. */
export interface FilePattern {
  /** For the library that lists files. */
  listed: string;
  /** How many folders deep; absent: as deep as they go. */
  depth?: number;
  /** Absent: all that are listed. */
  matches?: (path: string) => boolean;
}

/** The library tries every way in which several `*` can share a name, which takes for ever for a name that is made for it. */
const mostStars = 2;
const special = /[*?[\]{}()!+@\\]/;

/**
 * A pattern of files that takes a time that is known, whoever wrote it: one with many `*` is only told where to look, and
 * the paths are matched by an engine that never goes back. Throws `PatternProblem` for what that engine does not know.
 */
export async function readFilePattern(given: string): Promise<FilePattern> {
  const pattern = given.replace(/^(?:\.\/)+/, '');
  const names = pattern.split('/');
  const globstars = names.filter((name) => name === '**').length;
  const isEasy = names.every((name) => name === '**' || name.split('*').length - 1 <= mostStars);
  if (isEasy && globstars <= mostStars && !pattern.includes('(')) return { listed: pattern };
  const { compileLinearPattern, PatternProblem } = await import('../../manifest/check/linear-pattern.ts');
  if (pattern.includes('(') || /\{[^{}]*\.\.[^{}]*\}/.test(pattern)) {
    throw new PatternProblem('has parentheses or a range in it; use `*`, `?`, `[…]` and `{…,…}`');
  }
  const { test } = compileLinearPattern(`^${toExpression(pattern)}$`);
  const plain = names.slice(
    0,
    names.findIndex((name) => special.test(name)),
  );
  const isFlat = globstars === 0 && !/\{[^}]*\//.test(pattern);
  return { listed: [...plain, '**'].join('/'), ...(isFlat && { depth: names.length - 1 }), matches: test };
}

function toExpression(pattern: string): string {
  let depth = 0;
  return pattern.replace(/\*\*\/|\*+|\?|\[!?\]?[^\]/]*\]|\\.|[\s\S]/gu, (piece) => {
    switch (piece) {
      case '**/':
        return '(?:[^/]+/)*';
      case '?':
        return '[^/]';
      case '{':
        depth += 1;
        return '(?:';
      case '}':
        depth -= 1;
        return depth < 0 ? '\\}' : ')';
      case ',':
        return depth > 0 ? '|' : ',';
      default:
    }
    if (piece.startsWith('*')) return piece === '**' ? '.*' : '[^/]*';
    if (/^\[.+\]$/su.test(piece)) return piece.replace(/^\[!/, '[^').replace(/\\/g, '\\\\');
    return piece.replace(/^\\/, '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  });
}
