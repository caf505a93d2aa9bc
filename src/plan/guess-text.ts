const mostShown = 3;

/** Words on what is held for charges that nobody tells and nothing prices, and the way on. */
export function guessText(guesses: readonly { address: string; class: string }[], each: number): string {
  const addresses = guesses.slice(0, mostShown).map(({ address }) => address);
  const hidden = guesses.length - addresses.length;
  const names = `${addresses.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
  const kinds = [...new Set(guesses.map((guess) => guess.class.split('/')[0]))];
  const which = guesses.length > 1 ? `each of ${names}` : names;
  const written = `\`prices: { ${kinds[0]}: … }\` in the manifest`;
  return `${each} credits are held for ${which}, a guess: nobody told the charge, and nothing names a price of ${kinds.join(' or ')}; ${written} would`;
}
