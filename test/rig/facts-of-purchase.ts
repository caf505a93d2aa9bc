import type { MayHaveUnknown, Purchase } from '../../src/lock/record.ts';

/** Facts of purchases of any kind, as a table of cases overrides them. */
export type AnyFacts = MayHaveUnknown & {
  [field in Exclude<keyof Purchase, keyof MayHaveUnknown>]?: Exclude<Purchase[field], undefined>;
};

/** The id of the send, for purchases that have one by their state. */
export function sendBy(state: Purchase['state'], send: string): { send?: string } {
  return state === 'intent' || state === 'unresolved' ? { send } : {};
}
