import { listPaths, prices } from '../../rig/booking-kinds.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Copy, Tasks } from './working-copy.ts';

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

/** A campaign with one step that is not bought yet. */
export interface Campaign {
  studio: Studio;
  copy: Copy;
  /** What its step `hero` is for, as the service's books say it. */
  subject: string;
  /** Tasks that were bought before, and what they are for. */
  known: Tasks;
  /** What is booked altogether when `hero` is paid for so often. */
  booked(times: number): { [subject: string]: number };
}

/** Of a kind with a list a first job is bought: it shows that the list gives back what was asked for. */
export async function makeCampaign(kind: string, more: Tasks = {}): Promise<Campaign> {
  const studio = await makeStudio();
  const copy = studio.copy();
  const known: Tasks = isListed(kind) ? { first: { kind, says: 'first words' } } : {};
  copy.tasks(known);
  if (isListed(kind)) await copy.apply();
  copy.tasks({ ...known, hero: { kind, says: 'a lamp' }, ...more });
  copy.commit('campaign');
  const subject = `${kind} a lamp`;
  const before = Object.fromEntries(Object.values(known).map(({ says }) => [`${kind} ${says}`, 1]));
  return { studio, copy, subject, known, booked: (times) => ({ ...before, ...(times > 0 && { [subject]: times }) }) };
}

function isListed(kind: string): boolean {
  return Object.values(listPaths).includes(kind);
}

/** The same with two branches; the copy stands on `ours`. */
export async function makeBranches(kind: string, more: Tasks = {}): Promise<Campaign> {
  const campaign = await makeCampaign(kind, more);
  campaign.copy.git('branch', 'theirs');
  campaign.copy.branch('ours');
  return campaign;
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
