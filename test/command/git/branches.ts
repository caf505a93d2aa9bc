import { expect } from 'vitest';
import { type BookingService, listPaths, prices } from '../../rig/booking-service.ts';
import { expectExit } from '../../rig/command.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Copy, PlanRow, Tasks } from './working-copy.ts';

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

/** Rows that say of a create request that nobody knows what became of it. Their words may change. */
export function openRows(rows: readonly PlanRow[]): PlanRow[] {
  return rows.filter(
    ({ action, reason }) =>
      action === 'unresolved' || /answer|unresolved|lost|outcome|not known|nobody knows|in doubt/i.test(reason.text),
  );
}

/** Ids of booked jobs that this copy has no record of. */
export function idsMissing(copy: Copy, service: BookingService): string[] {
  return service.ledger.map(({ id }) => id).filter((id) => !copy.lock.includes(`"${id}"`));
}

/** How often each of these was paid for. */
export function paidTimes(service: BookingService, ...subjects: string[]): { [subject: string]: number } {
  return Object.fromEntries(subjects.map((subject) => [subject, service.idsOf(subject).length]));
}

/**
 * A create is open here: the plan has a row of it, its price is held, and a run that can ask nobody pays for nothing and
 * does not end as if all were well.
 */
export async function expectOpen(
  copy: Copy,
  service: BookingService,
  credits: number,
  given: readonly string[] = [],
): Promise<void> {
  const rows = await copy.plan(...given);
  expect(openRows(rows), JSON.stringify(rows)).not.toEqual([]);
  expect((await copy.credits()).held).toBeGreaterThanOrEqual(credits);
  const before = service.ledger.length;
  service.isDown = true;
  const { code, err } = await copy.apply(...given);
  service.isDown = false;
  expect(service.ledger).toHaveLength(before);
  expect([6, 69], err).toContain(code);
}

/**
 * One more run, and nothing is left: every job that the service has booked is on record with its charge, nothing is held,
 * and the run after it pays for nothing. `booked`: what the service has charged altogether, by what it is for.
 */
export async function expectSettled(
  copy: Copy,
  service: BookingService,
  booked: { [subject: string]: number },
): Promise<void> {
  const { code, err } = await copy.apply();
  expect(paidTimes(service, ...new Set(service.ledger.map(({ subject }) => subject))), err).toEqual(booked);
  expect(code, err).toBe(0);
  expect(idsMissing(copy, service)).toEqual([]);
  expect(service.violations).toEqual([]);
  const spent = service.ledger.reduce((sum, { credits }) => sum + credits, 0);
  expect(await copy.credits()).toMatchObject({ spent, held: 0 });
  expect(openRows(await copy.plan())).toEqual([]);
  await expectExit(0, copy.apply());
  expect(service.ledger).toHaveLength(Object.values(booked).reduce((sum, count) => sum + count, 0));
}

/** Somebody who has looked up the job of a lost create puts it on record. */
export async function recordJob(
  { studio, copy, subject }: Pick<Campaign, 'studio' | 'copy' | 'subject'>,
  id = studio.service.idsOf(subject)[0] ?? '',
): Promise<void> {
  const [kind = ''] = subject.split(' ');
  await expectExit(0, copy.resolve('hero', '--job', id, '--credits', String(priceOf(kind))));
}
