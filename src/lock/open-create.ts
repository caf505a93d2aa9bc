import type { Purchase } from './record.ts';

/** A create that may have been sent and has no known answer: it may have been paid for. */
export function isOpenCreate({ state }: Pick<Purchase, 'state'>): boolean {
  return state === 'intent' || state === 'unresolved';
}
