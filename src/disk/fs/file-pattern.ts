import { foldPath } from '../../graph/check/check-saves.ts';

/**
 * Compiles a pattern to a case-insensitive path test in linear time, because a pattern with many `*` could match a name
 * in many ways. Throws `PatternProblem` for syntax that is not supported.
 */
export async function compileFilePattern(given: string): Promise<(path: string) => boolean> {
  const pattern = given.replace(/^(?:\.\/)+/, '');
  const { compileLinearPattern, PatternProblem } = await import('../../manifest/check/linear-pattern.ts');
  if (pattern.includes('(') || /\{[^{}]*\.\.[^{}]*\}/.test(pattern)) {
    throw new PatternProblem('has parentheses or a range in it; use `*`, `?`, `[…]` and `{…,…}`');
  }
  const { test } = compileLinearPattern(`^${toExpression(foldPath(pattern))}$`);
  return (path) => test(foldPath(path));
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
