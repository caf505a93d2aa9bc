import { expect } from 'vitest';
import type { BookingService } from '../../rig/booking-service.ts';
import type { Copy, PlanRow } from './working-copy.ts';

/** Rows that say of a create that nobody knows what became of it. Their words may change. */
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
  const again = await copy.apply();
  expect(again.code, again.err).toBe(0);
  expect(service.ledger).toHaveLength(Object.values(booked).reduce((sum, count) => sum + count, 0));
}
