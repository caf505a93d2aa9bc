interface FilePattern {
  listed: string;
  /** Depth in folders. Defaults to unlimited. */
  depth?: number;
  /** Filter for listed paths. Defaults to all. */
  matches?: (path: string) => boolean;
}

/**
 * Most `*` in a name: the library tries every way in which several `*` can match a name, which may take unbounded time.
 */
const mostStars = 2;
const special = /[*?[\]{}()!+@\\]/;

/**
 * Reads a file pattern so that matching takes bounded time: for a pattern with many `*`, the library only lists the
 * folders, and a non-backtracking engine matches the paths. Throws `PatternProblem` for syntax that this engine does
 * not support.
 */
export async function readFilePattern(given: string): Promise<FilePattern> {
  const pattern = given.replace(/^(?:\.\/)+/, '');
  const names = pattern.split('/');
  const globstars = names.filter((name) => name === '**').length;
  const isEasy = names.every((name) => name === '**' || name.split('*').length - 1 <= mostStars);
  if (isEasy && globstars <= mostStars && !pattern.includes('(')) return { listed: pattern };
  const matches = await compileFilePattern(pattern);
  const plain = names.slice(
    0,
    names.findIndex((name) => special.test(name)),
  );
  const isFlat = globstars === 0 && !/\{[^}]*\//.test(pattern);
  return { listed: [...plain, '**'].join('/'), ...(isFlat && { depth: names.length - 1 }), matches };
}

/** Compiles a pattern to a case-insensitive path test in linear time. Throws like `readFilePattern`. */
export async function compileFilePattern(given: string): Promise<(path: string) => boolean> {
  const pattern = given.replace(/^(?:\.\/)+/, '');
  const { compileLinearPattern, PatternProblem } = await import('../../manifest/check/linear-pattern.ts');
  if (pattern.includes('(') || /\{[^{}]*\.\.[^{}]*\}/.test(pattern)) {
    throw new PatternProblem('has parentheses or a range in it; use `*`, `?`, `[…]` and `{…,…}`');
  }
  const { test } = compileLinearPattern(`^${toExpression(pattern.toLowerCase())}$`);
  return (path) => test(path.toLowerCase());
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
