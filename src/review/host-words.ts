import type { JudgeAnswer, ReviewCommands, WantedVerdict } from '../contract/review.ts';
import { call } from '../ground/advice.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import { adviceText, type Paste } from '../report/advice-text.ts';

/** Commands that concern the same lock as the running one. */
export function reviewCommands(paste: Paste): ReviewCommands {
  return {
    ...{ pick: paste(call('pick')), reject: paste(call('reject')), unpick: paste(call('pick', '--undo')) },
    ...{ redo: paste(call('apply', '--redo')), explain: paste(call('explain')) },
  };
}

/** The verdicts of a page, with the name of who looks at it. */
export function givenBy(by: string | undefined, verdicts: readonly WantedVerdict[]): WantedVerdict[] {
  return verdicts.map((verdict) => ({ ...verdict, ...(by !== undefined && { by }) }));
}

type Refusal = Extract<JudgeAnswer, { is: 'recorded' }>['refused'][number];

/** Lists what of a batch could not be recorded, as the page tells it. */
export function refusalsOf(rulings: readonly Ruling[], paste: Paste): Refusal[] {
  return rulings.flatMap((ruling) => {
    if (ruling.is !== 'refused') return [];
    const { address, text, hint } = ruling;
    return [{ address, text, hint: adviceText(hint, paste) }];
  });
}
