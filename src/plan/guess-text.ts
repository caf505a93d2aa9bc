const mostShown = 3;

/** Words on what is held for charges that nobody tells and nothing prices, and the way on. */
export function guessText(guesses: readonly { address: string; class: string }[], each: number): string {
  const addresses = guesses.slice(0, mostShown).map(({ address }) => address);
  const hidden = guesses.length - addresses.length;
  const names = `${addresses.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
  const classes = [...new Set(guesses.map((guess) => guess.class))];
  const more = classes.length > 1 ? ', …' : '';
  return `${each} credits are held for ${guesses.length > 1 ? `each of ${names}` : names}, a guess: nobody told the charge, and nothing names a price of ${classes[0]}${more}; \`prices:\` in the manifest can`;
}
