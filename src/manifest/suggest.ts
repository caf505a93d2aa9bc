import { distance } from 'fastest-levenshtein';

/** Finds the known name that the author of a manifest probably meant, if letters, case or separators differ. */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  if (written.length > 100) return undefined;
  const plain = plainForm(written);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const name of known) {
    // The lengths of the two names differ too much for a typo.
    if (name.length > 2 * written.length + 10) continue;
    const steps = stepsBetween(plain, plainForm(name));
    if (steps < bestDistance && steps < Math.max(plain.length, plainForm(name).length, 1)) {
      best = name;
      bestDistance = steps;
    }
  }
  return best;
}

export function suggestName(
  written: string,
  known: readonly string[],
  options: { what: string; prefix?: string },
): string {
  const nearest = nearestName(written, known);
  const list = `${options.what}: ${known.length === 0 ? 'none' : listNames(known)}`;
  if (nearest === undefined) return list;
  const isPath = options.prefix?.endsWith('.') === true;
  const meant = `${options.prefix ?? ''}${isPath ? pathPart(nearest) : nearest}`;
  return `did you mean \`${meant}\`? ${differenceOf(written, nearest)}${list}`;
}

export function pathPart(name: string): string {
  // Handlebars reads a number, or one of these words, as a literal.
  return /^(?!(?:-?\d+|true|false|null|undefined|this)$)[\p{L}\p{N}_$-]+$/u.test(name) ? name : `[${name}]`;
}

function differenceOf(written: string, name: string): string {
  const visible = (text: string) =>
    text
      .normalize('NFKC')
      .replaceAll(/\p{Cf}/gu, '')
      .replaceAll(/\s/gu, ' ')
      .trim();
  if (visible(written) !== visible(name)) return '';
  const [mine, theirs] = [[...written], [...name]];
  const at = theirs.findIndex((character, index) => character !== mine[index]);
  const code = (character: string | undefined) =>
    character === undefined
      ? 'nothing'
      : `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const index = at === -1 ? theirs.length : at;
  return `The names look the same: character ${index + 1} is ${code(theirs[index])}, not ${code(mine[index])}. `;
}

export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}

function stepsBetween(a: string, b: string): number {
  const steps = distance(a, b);
  return steps === 2 && [...a].sort().join('') === [...b].sort().join('') ? 1 : steps;
}

function plainForm(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[-_.\s\p{Cf}]/gu, '');
}

const curly = /[“”„‟‘’‚‛«»]/;

/**
 * Returns whether a text starts or ends with typographic quotes. Word processors insert them, and YAML treats them as
 * letters.
 */
export function hasCurlyQuotes(text: string): boolean {
  return curly.test(text.charAt(0)) || curly.test(text.charAt(text.length - 1));
}

export const curlyHint = 'curly quotes are letters of the text: write straight ones, "…"';
