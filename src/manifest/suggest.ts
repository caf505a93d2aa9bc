import { distance } from 'fastest-levenshtein';

/** Finds the known name that was most likely meant: a few letters apart, other case, or with other separators. */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  if (written.length > 100) return undefined;
  const plain = plainForm(written);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const name of known) {
    // The lengths differ so much that no few edits can bridge them.
    if (name.length > 2 * written.length + 10) continue;
    const steps = stepsBetween(plain, plainForm(name));
    if (steps < bestDistance && steps < Math.max(plain.length, plainForm(name).length, 1)) {
      best = name;
      bestDistance = steps;
    }
  }
  return best;
}

/** Makes the sentence that follows every unknown name: `did you mean …? Known: …`. */
export function suggestName(
  written: string,
  known: readonly string[],
  options: { what: string; prefix?: string },
): string {
  const nearest = nearestName(written, known);
  const list = `${options.what}: ${known.length === 0 ? 'none' : listNames(known)}`;
  return nearest === undefined ? list : `did you mean \`${options.prefix ?? ''}${nearest}\`? ${list}`;
}

/** Lists names as `a, b, c`, at most twenty. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}

/** Edit distance in which swapped letters are one mistake, as in `nmae`. */
function stepsBetween(a: string, b: string): number {
  const steps = distance(a, b);
  return steps === 2 && [...a].sort().join('') === [...b].sort().join('') ? 1 : steps;
}

function plainForm(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ .]/g, '');
}

const curly = /[“”„‟‘’‚‛«»]/;

/** Recognizes the typographic quotes of a text processor around a value, which YAML takes for letters. */
export function hasCurlyQuotes(text: string): boolean {
  return curly.test(text.charAt(0)) || curly.test(text.charAt(text.length - 1));
}

export const curlyHint = 'curly quotes are letters of the text: write straight ones, "…"';
