import { prices } from '../rig/booking-kinds.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Copy } from './working-copy.ts';

export type Side = 'ours' | 'theirs';

/** What happens on which branch first, and into which of them the other is merged. */
export interface Order {
  first: Side;
  into: Side;
}

export const orders: readonly Order[] = [
  { first: 'ours', into: 'theirs' },
  { first: 'theirs', into: 'ours' },
];

export function priceOf(kind: string): number {
  return prices[kind] ?? 0;
}

/** A campaign with one step, and two branches of it; the copy stands on `ours`. */
export async function makeBranches(kind: string): Promise<{ studio: Studio; copy: Copy; subject: string }> {
  const studio = await makeStudio();
  const copy = studio.copy();
  copy.tasks({ hero: { kind, says: 'a lamp' } });
  copy.commit('campaign');
  copy.git('branch', 'theirs');
  copy.branch('ours');
  return { studio, copy, subject: `${kind} a lamp` };
}

/** Does what happened on each of two branches, and merges one into the other. */
export async function bringTogether(
  copy: Copy,
  branches: { [side in Side]: () => Promise<unknown> },
  { first, into }: Order,
): Promise<void> {
  for (const side of first === 'ours' ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)) {
    copy.git('checkout', '--quiet', side);
    await branches[side]();
    copy.commit(`what happened on ${side}`);
  }
  copy.git('checkout', '--quiet', into);
  copy.merge(into === 'ours' ? 'theirs' : 'ours');
}
