import type { ReviewData, WantedVerdict } from '../../contract/review.ts';
import type { ShownGroup } from './shown.ts';

export function picksFile(by: string, verdicts: readonly WantedVerdict[]): string {
  const decided = verdicts.filter(({ is }) => is !== 'undecided');
  const lines = decided.map(({ address, is, note, reason, job }) => ({
    ...{ address, is },
    ...(note ? { note } : {}),
    ...(reason ? { reason } : {}),
    job,
  }));
  return `${JSON.stringify({ mediabatch: 'picks', version: 1, by, verdicts: lines }, undefined, 2)}\n`;
}

export function redoCommand({ commands, file }: Pick<ReviewData, 'file' | 'commands'>, { group, assets }: ShownGroup) {
  const start = commands?.redo ?? `mediabatch apply ${shellWord(file)} --redo`;
  return `${start} ${shellWord((group.gate?.is === 'canary' ? assets[0]?.address : undefined) ?? group.name)}`;
}

/** Quotes a text as one word of a POSIX shell. Replaces control characters with spaces. */
export function shellWord(text: string): string {
  const shown = text.replace(/\p{Cc}/gu, ' ');
  return /^[\p{L}\p{N}_@%+:,./-]+$/u.test(shown) && !shown.startsWith('-')
    ? shown
    : `'${shown.replaceAll("'", `'\\''`)}'`;
}
