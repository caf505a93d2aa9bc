import { writeName } from './names.ts';
import { parseSelection, type Vocabulary } from './parse-selection.ts';

/**
 * Adds the needs of its steps to a selection; `undefined` when that cannot be written: conditions that must all hold
 * are one step, and each `+` stands for one of them.
 */
export function withNeeds(text: string, vocabulary: Vocabulary): string | undefined {
  const selection = parseSelection(text, vocabulary);
  if ('problem' in selection) return undefined;
  const [only, ...others] = selection.terms.flat();
  if (only?.is === 'name' && only.literal && others.length === 0)
    return `+${writeName(only.text)}${only.users ? '+' : ''}`;
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (text.includes('"') || words.length !== selection.terms.length) return undefined;
  if (selection.terms.some(({ length }) => length > 1)) return undefined;
  return words.map((word) => (word.startsWith('+') ? word : `+${word}`)).join(' ');
}
