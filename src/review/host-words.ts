import type { JudgeAnswer, ReviewCommands, WantedVerdict } from '../contract/review.ts';
import { call } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import { adviceText, type Paste } from '../report/advice-text.ts';

/** Commands for the page that apply to the same lock as the running one. */
export function reviewCommands(paste: Paste): ReviewCommands {
  return { pick: paste(call('pick')), redo: paste(call('apply', '--redo')) };
}

export function givenBy(by: string | undefined, verdicts: readonly WantedVerdict[]): WantedVerdict[] {
  return verdicts.map((verdict) => ({ ...verdict, ...defined({ by }) }));
}

type Refusal = Extract<JudgeAnswer, { is: 'recorded' }>['refused'][number];

export function refusalsOf(rulings: readonly Ruling[], paste: Paste): Refusal[] {
  return rulings.flatMap((ruling) => {
    if (ruling.is !== 'refused') return [];
    const { address, text, hint } = ruling;
    return [{ address, text, hint: adviceText(hint, paste) }];
  });
}
