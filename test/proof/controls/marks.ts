import type { Switch } from '../invariants/register.ts';

/**
 * A line of a source that an invariant depends on. Its mark stands at its end, or alone in the line before it; one comment
 * may hold several: `// I5, I20`. In a statement of SQL it stands after `--`.
 */
export interface Mark {
  /** An invariant, and a word where a file has several marks of it: `I2`, `I9 (rename)`. */
  name: string;
  /** Index of the line that is protected. */
  line: number;
}

const comment = /^(.*?)\s*(?:\/\/|--) (I\d+(?: \([^)]+\))?(?:, I\d+(?: \([^)]+\))?)*)$/;

export function findMarks(source: string): Mark[] {
  return source.split('\n').flatMap((text, index) => {
    const [, code = '', names] = comment.exec(text) ?? [];
    if (names === undefined) return [];
    return names.split(', ').map((name) => ({ name, line: code.trim() === '' ? index + 1 : index }));
  });
}

/** The source without what the mark protects. Throws where there is nothing to switch off. */
export function switchOff(source: string, mark: string, change: Switch): string {
  const found = findMarks(source).filter(({ name }) => name === mark);
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`the mark ${mark} stands ${found.length} times, not once`);
  const lines = source.split('\n');
  const text = lines[only.line] ?? '';
  lines[only.line] = 'line' in change ? change.line : replaceOnce(text, change.part, change.by);
  return lines.join('\n');
}

function replaceOnce(text: string, part: string, by: string): string {
  const parts = text.split(part);
  if (parts.length !== 2) throw new Error(`“${part}” stands ${parts.length - 1} times, not once, in: ${text.trim()}`);
  return parts.join(by);
}
