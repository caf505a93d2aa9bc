import { countedPurchases } from '../../lock/decisions.ts';
import type { Purchase } from '../../lock/record.ts';
import { stateOfPost } from '../posts/posts.ts';
import type { Match } from './find-purchases.ts';
import type { Situation } from './situation.ts';

/**
 * The progress of the purchase of a step's present request. `changed`: something was bought for it, but not what the
 * manifest asks for now; `not-bought` includes what was refused; `unneeded`: a part that it is made of is not there.
 * `failed` includes what was made and does not fit `expect`, as far as somebody has looked at the files.
 */
export type StepState = 'done' | 'running' | 'failed' | 'lost' | 'unresolved' | 'changed' | 'not-bought' | 'unneeded';

export const stepStates: readonly StepState[] = [
  'done',
  'running',
  'failed',
  'lost',
  'unresolved',
  'changed',
  'not-bought',
  'unneeded',
];

/** Returns the state of a step; one that shares another step's job has the state of that job. */
export function stateOfStep(
  match: Match | undefined,
  { byAddress, unneeded, unfit }: Pick<Situation, 'byAddress' | 'unneeded' | 'unfit'>,
): StepState {
  if (match === undefined) return 'not-bought';
  if (unneeded.has(match.step.address)) return 'unneeded';
  if (unfit?.has(match.step.address)) return 'failed';
  const post = stateOfPost(match);
  if (post !== undefined) return post;
  const owner = match.sharesJobOf === undefined ? undefined : byAddress.get(match.sharesJobOf);
  const purchase = match.purchase ?? owner?.purchase;
  if (purchase !== undefined) return stateOfPurchase(purchase);
  const counted = match.record === undefined ? [] : countedPurchases(match.record);
  return counted.some(({ jobId }) => jobId !== undefined) ? 'changed' : 'not-bought';
}

function stateOfPurchase({ state }: Purchase): StepState {
  switch (state) {
    case 'intent':
      return 'unresolved';
    case 'refused':
      return 'not-bought';
    default:
      return state;
  }
}
