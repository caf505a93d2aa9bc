import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import {
  bringTogether,
  expectOpen,
  expectSettled,
  makeBranches,
  type Order,
  openRows,
  orders,
  priceOf,
  recordJob,
} from './branches.ts';
import { makeStudio } from './studio.ts';

const hour = 3_600_000;

/** `ours`: a create was booked and its answer lost. `theirs`: another create of the same was lost as well, and a person has decided. */
async function decideOnOneBranch(
  kind: string,
  order: Order,
  { isBooked, decide, hoursApart = 0 }: { isBooked: boolean; decide(id: string): string[]; hoursApart?: number },
) {
  const campaign = await makeBranches(kind);
  const { studio, copy, subject } = campaign;
  const { service, time } = studio;
  const theirs = async () => {
    const before = service.idsOf(subject).length;
    if (isBooked) {
      expect(await copy.applyUnanswered(subject)).toBe(true);
    } else {
      service.fate = () => 'drop';
      await copy.apply();
      service.fate = () => 'book';
    }
    expect(service.idsOf(subject)).toHaveLength(before + (isBooked ? 1 : 0));
    // Nobody can be asked any more, so a person may decide.
    time.pass(hoursApart === 0 ? 0 : 30 * hour);
    const { code, err } = await copy.resolve('hero', ...decide(service.idsOf(subject)[before] ?? ''));
    expect(code, err).toBe(0);
  };
  const ours = async () => {
    expect(await copy.applyUnanswered(subject)).toBe(true);
  };
  const apart = (act: () => Promise<void>, isSecond: boolean) => async () => {
    if (isSecond) time.pass(hoursApart * hour);
    await act();
  };
  await bringTogether(
    copy,
    { ours: apart(ours, order.first === 'theirs'), theirs: apart(theirs, order.first === 'ours') },
    order,
  );
  return campaign;
}

describe('a decision about one create request does not settle another that a merge adds', () => {
  test.each(orders)('--not-spent for the first request; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('influencer', order, { isBooked: false, decide: () => ['--not-spent'] });
    const { studio, copy, booked } = campaign;
    await expectOpen(copy, studio.service, 8);
    await recordJob(campaign);
    await expectSettled(copy, studio.service, booked(1));
  });

  test.each(orders)('--job for the first request; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('influencer', order, {
      isBooked: true,
      decide: (id) => ['--job', id, '--credits', '8'],
    });
    const { studio, copy, subject, booked } = campaign;
    const { service } = studio;
    await expectOpen(copy, service, 8);
    await recordJob(
      campaign,
      service.idsOf(subject).find((id) => !copy.lock.includes(`"${id}"`)),
    );
    await expectSettled(copy, service, booked(2));
  });

  test.each(orders)('--spend-again; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('influencer', order, { isBooked: true, decide: () => ['--spend-again'] });
    const { studio, copy, subject } = campaign;
    const { service } = studio;
    // Both stay in doubt; what was asked for is bought, once.
    await expectExit(6, copy.apply());
    expect(service.idsOf(subject).length).toBeLessThanOrEqual(3);
    const { spent, held } = await copy.credits();
    expect(spent + held).toBeGreaterThanOrEqual(8 * service.idsOf(subject).length);
    const bookedThen = service.ledger.length;
    await expectExit(6, copy.apply());
    expect(service.ledger).toHaveLength(bookedThen);
  });

  test.each(orders)('an image whose key was sent on two days; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('image', order, {
      isBooked: false,
      decide: () => ['--not-spent'],
      hoursApart: 48,
    });
    const { studio, copy, subject } = campaign;
    const { service } = studio;
    expect((await copy.credits()).held).toBeGreaterThanOrEqual(priceOf('image'));
    expect(openRows(await copy.plan())).not.toEqual([]);
    const { code, err } = await copy.apply();
    expect(service.idsOf(subject), err).toHaveLength(1);
    expect([0, 6]).toContain(code);
    if (code === 0) expect(copy.lock).toContain(`"${service.idsOf(subject)[0]}"`);
  });
});

test.each(['main', 'old'])('a decision survives a merge of the state before it (into %s)', async (into) => {
  const campaign = await makeBranches('influencer');
  const { studio, copy, subject, booked } = campaign;
  const { service } = studio;
  copy.git('checkout', '--quiet', 'main');
  expect(await copy.applyUnanswered(subject)).toBe(true);
  copy.commit('lost');
  copy.git('branch', 'old');
  await recordJob(campaign);
  copy.commit('decided');
  copy.git('checkout', '--quiet', 'old');
  copy.tasks({ hero: { kind: 'influencer', says: 'a lamp' }, other: { kind: 'image', says: 'a rug' } });
  await copy.apply();
  copy.commit('something else');
  copy.git('checkout', '--quiet', into);
  copy.merge(into === 'main' ? 'old' : 'main');
  copy.tasks({ hero: { kind: 'influencer', says: 'a lamp' }, other: { kind: 'image', says: 'a rug' } });
  await expectSettled(copy, service, { ...booked(1), 'image a rug': 1 });
});

test('a merge keeps two jobs of different kinds with the same id, and both charges', async () => {
  const studio = await makeStudio();
  const { service } = studio;
  const copy = studio.copy();
  service.idOf = (_, nth) => String(nth);
  copy.tasks({ hero: { kind: 'image', says: 'a lamp' } });
  copy.commit();
  copy.branch('theirs');
  await copy.apply();
  copy.commit();
  copy.git('checkout', '--quiet', 'main');
  copy.tasks({ hero: { kind: 'video', says: 'a lamp' } });
  await copy.apply();
  copy.commit();
  copy.merge('theirs');
  copy.tasks({ hero: { kind: 'video', says: 'a lamp' } });
  await expectSettled(copy, service, { 'image a lamp': 1, 'video a lamp': 1 });
});
