import type { JudgeAnswer, ReviewCommands, WantedVerdict } from '../contract/review.ts';
import { call } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import { adviceText, type Paste } from '../report/advice-text.ts';

/** Commands for the page that apply to the same lock as the running one. */
export function reviewCommands(paste: Paste): ReviewCommands {
  return { pick: paste(call('pick')), redo: paste(call('apply', '--redo')) };
}

/** Adds the name of the user, except to a verdict of another person that an undo restores. */
export function givenBy(by: string | undefined, verdicts: readonly WantedVerdict[]): WantedVerdict[] {
  return verdicts.map((verdict) => ({ ...defined({ by }), ...verdict }));
}

const nouns = { image: 'picture', audio: 'sound', video: 'film', none: undefined } as const;

export function nounOf(kind: string): string | undefined {
  return nouns[kinds[kind]?.media ?? 'none'];
}

type Refusal = Extract<JudgeAnswer, { is: 'recorded' }>['refused'][number];

export function refusalsOf(rulings: readonly Ruling[], paste: Paste): Refusal[] {
  return rulings.flatMap((ruling) => {
    if (ruling.is !== 'refused') return [];
    const { address, text, hint } = ruling;
    return [{ address, text, hint: adviceText(hint, paste) }];
  });
}
