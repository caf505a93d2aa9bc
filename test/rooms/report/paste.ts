import type { Paste } from '../../../src/report/advice-text.ts';
import { shellWord } from '../../../src/report/advice-text.ts';

/** Commands about this manifest, as they are written after a call without options. */
export function pasteFor(file: string): Paste {
  return ({ call, words }) => ['mediabatch', call, ...[file, ...words].map((word) => shellWord(word))].join(' ');
}

export const paste = pasteFor('campaign.yaml');
