import { countedPurchases } from '../../lock/decisions.ts';
import type { Purchase } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import type { Match } from './find-purchases.ts';
import type { Situation } from './situation.ts';

/**
 * State of the purchase of a step's current request. `changed`: only an earlier request was bought. `not-bought`
 * includes refusals. `unneeded`: a part that the step uses does not exist, or an input was rejected. `failed` includes
 * outputs that do not fit `expect`, if the files were examined.
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

function stateOfPost({ step, record, purchase }: Match): 'done' | 'changed' | 'unresolved' | undefined {
  if (record === undefined || !isPost(step.kind)) return undefined;
  const sends = sendsOf(record);
  if (sends.some(isOpenSend)) return 'unresolved';
  const [posted] = sends;
  if (posted === undefined || purchase?.jobId !== undefined) return undefined;
  return posted.fingerprint === step.fingerprint ? 'done' : 'changed';
}
