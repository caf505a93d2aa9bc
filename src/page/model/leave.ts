import type { WantedVerdict } from '../../contract/review.ts';

/** The file that `pick --from` reads. Verdicts that were taken back are no part of it: it says what a person chose. */
export function picksFile(by: string, verdicts: readonly WantedVerdict[]): string {
  const told = verdicts.filter(({ is }) => is !== 'undecided');
  const lines = told.map(({ address, is, note, job }) => ({ address, is, ...(note ? { note } : {}), job }));
  return `${JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts: lines }, undefined, 2)}\n`;
}

/** Commands for a POSIX shell that record the same, one for each verdict and note, in their order. */
export function picksCommand(file: string, verdicts: readonly WantedVerdict[]): string {
  const commands = { picked: 'pick', rejected: 'reject', undecided: 'unpick' };
  const lines = new Map<string, string[]>();
  for (const { address, is, note } of verdicts) {
    const noted = note && is !== 'undecided' ? ` --note ${shellWord(note)}` : '';
    const start = `mediabatch ${commands[is]} ${shellWord(file)}`;
    lines.set(`${start}\n${noted}`, [...(lines.get(`${start}\n${noted}`) ?? []), shellWord(address)]);
  }
  return [...lines]
    .map(([command, addresses]) => {
      const [start, noted] = command.split('\n');
      return `${start} ${addresses.join(' ')}${noted}`;
    })
    .join(' &&\n');
}

/** A text as one word of a POSIX shell. Lines and other controls, which no address has, become spaces. */
export function shellWord(text: string): string {
  const shown = text.replace(/\p{Cc}/gu, ' ');
  return /^[\p{L}\p{N}_@%+:,./-]+$/u.test(shown) && !shown.startsWith('-')
    ? shown
    : `'${shown.replaceAll("'", `'\\''`)}'`;
}
