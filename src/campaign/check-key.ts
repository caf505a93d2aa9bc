/**
 * Why a credential cannot be the one that was meant, in words that follow its name and never hold it; undefined when it may
 * be right. It would be refused by the service, but only after it has been sent; and what no header can hold is not sent at all.
 */
export function whyNotKey(token: string): { problem: string; hint: string } | undefined {
  const quote = /^\\?["'`“”„‘’«»]|\\?["'`“”„‘’«»]$/.exec(token)?.[0];
  if (quote !== undefined) {
    const where = token.startsWith(quote) ? 'begins' : 'ends';
    return {
      problem: `stands in quotes: it ${where} with ${quote}`,
      hint: 'leave one pair of quotes out: those that remain are taken for a part of the key',
    };
  }
  const word = /^(?:authorization\s*:|(?:bearer|basic|token)(?=[\s:=,+]|%20|$))/i.exec(token)?.[0];
  if (word !== undefined) {
    const hint = 'leave that out: the key alone belongs there, and the header is made from it';
    return { problem: `begins with "${word}"`, hint };
  }
  const name = /^(?:export\s+)?[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\s*=/.exec(token)?.[0];
  if (name !== undefined)
    return { problem: `begins with "${name}"`, hint: 'leave that out: only what follows is the key' };
  if (/^[<$%{[(]|[>})\]]$/.test(token)) {
    const hint = 'put the key in its place; $NAME and $(…) are replaced by a shell only, and not in single quotes';
    return { problem: 'is not a key but a place for one: it has brackets, $ or % around it', hint };
  }
  const odd = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (odd !== undefined) {
    const hint = 'copy the key again from the dashboard, alone and in one line';
    return { problem: `holds ${nameOf(odd)}, which no key has`, hint };
  }
  if (/[,;]$/.test(token)) return { problem: `ends with ${token.at(-1)}`, hint: 'leave that out' };
  return undefined;
}

function nameOf(character: string): string {
  if (/[\r\n]/.test(character)) return 'a line end';
  if (character === ' ') return 'a space';
  if (character === '\t') return 'a tab';
  return `the character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
