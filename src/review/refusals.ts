import type { JudgeAnswer } from '../contract/review.ts';
import type { Ruling } from '../plan/ruling.ts';
import { adviceText, type Paste } from '../report/advice-text.ts';

type Refusal = Extract<JudgeAnswer, { is: 'recorded' }>['refused'][number];

/** Lists what of a batch could not be recorded, as the page tells it. */
export function refusalsOf(rulings: readonly Ruling[], paste: Paste): Refusal[] {
  return rulings.flatMap((ruling) => {
    if (ruling.is !== 'refused') return [];
    const { address, text, hint } = ruling;
    return [{ address, text, hint: adviceText(hint, paste) }];
  });
}
