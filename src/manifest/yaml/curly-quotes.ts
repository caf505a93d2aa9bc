const curly = /[“”„‟‘’‚‛«»]/;

/** Recognizes the typographic quotes of a text processor around a value, which YAML takes for letters. */
export function hasCurlyQuotes(text: string): boolean {
  return curly.test(text.charAt(0)) || curly.test(text.charAt(text.length - 1));
}

export const curlyHint = 'curly quotes are letters of the text: write straight ones, "…"';
