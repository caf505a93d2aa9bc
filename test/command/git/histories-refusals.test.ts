import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import {
  bringTogether,
  expectOpen,
  expectSettled,
  idsMissing,
  makeBranches,
  type Order,
  orders,
  priceOf,
  recordJob,
} from './branches.ts';
import type { Studio } from './studio.ts';
import type { Copy } from './working-copy.ts';

/** A run in which every create is refused. */
async function applyRefused(studio: Studio, copy: Copy, status: 400 | 402): Promise<void> {
  const { fate } = studio.service;
  studio.service.fate = () => status;
  // Each branch has a lock of its own, and this machine knows of what was bought for the other.
  await copy.apply('--new');
  studio.service.fate = fate;
}

describe.each(['image', 'video'])('a lost answer on one branch, a refusal on the other: %s', (kind) => {
  test.each(orders)('a service that forgets its refusals; $first first, merged into $into', async (order) => {
    const { studio, copy, subject, booked } = await makeBranches(kind);
    const { service } = studio;
    service.replaysRefusals = false;
    service.refusesBeforeReplay = true;
    await bringTogether(
      copy,
      { ours: () => copy.applyUnanswered(subject), theirs: () => applyRefused(studio, copy, 402) },
      order,
    );
    await expectOpen(copy, service, priceOf(kind));
    await expectSettled(copy, service, booked(1));
  });

  test.each(['ours', 'theirs'] as const)('a service that repeats its refusals; merged into %s', async (into) => {
    const { studio, copy, subject, booked } = await makeBranches(kind);
    const { service } = studio;
    let isLost = false;
    await bringTogether(
      copy,
      {
        // Refused as well, because of the other branch: at last one is booked, and its answer is lost.
        async ours() {
          for (let tries = 0; tries < 4 && !isLost; tries += 1) isLost = await copy.applyUnanswered(subject);
        },
        theirs: () => applyRefused(studio, copy, 402),
      },
      { first: 'theirs', into },
    );
    expect(isLost).toBe(true);
    await expectOpen(copy, service, priceOf(kind));
    await expectSettled(copy, service, booked(1));
  });
});

describe.each(['image', 'video', 'influencer'])('forget of a refusal on one branch: %s', (kind) => {
  async function bring(order: Order, ours: (copy: Copy, subject: string) => Promise<unknown>) {
    const campaign = await makeBranches(kind);
    const { studio, copy, subject, booked } = campaign;
    studio.service.refusesBeforeReplay = true;
    studio.service.replaysRefusals = false;
    const theirs = async () => {
      await applyRefused(studio, copy, 400);
      await expectExit(0, copy.run('forget', copy.manifest, 'hero'));
    };
    await bringTogether(copy, { ours: () => ours(copy, subject), theirs }, order);
    return { campaign, service: studio.service, copy, booked };
  }

  test.each(orders)('keeps the other branch’s job; $first first, merged into $into', async (order) => {
    const { service, copy, booked } = await bring(order, (one) => one.apply('--new'));
    expect((await copy.plan()).map(({ credits }) => credits)).not.toContain(priceOf(kind));
    await expectSettled(copy, service, booked(1));
  });

  test.each(orders)('keeps the other branch’s unresolved create; $first first, merged into $into', async (order) => {
    const { campaign, service, copy, booked } = await bring(order, (one, lost) => one.applyUnanswered(lost, '--new'));
    await expectOpen(copy, service, priceOf(kind));
    if (kind === 'influencer') await recordJob(campaign);
    await expectSettled(copy, service, booked(1));
  });
});

describe('an unresolved create request next to the other branch’s job', () => {
  const bring = async (kind: string, order: Order) => {
    const campaign = await makeBranches(kind);
    const { studio, copy, subject, booked } = campaign;
    const { service } = studio;
    await bringTogether(
      copy,
      { ours: () => copy.applyUnanswered(subject, '--new'), theirs: () => copy.apply('--new') },
      order,
    );
    expect(service.idsOf(subject)).toHaveLength(2);
    return { campaign, service, copy, booked };
  };

  test.each(orders)('of a kind that cannot be recovered; $first first, merged into $into', async (order) => {
    const { campaign, service, copy, booked } = await bring('influencer', order);
    await expectOpen(copy, service, 8);
    expect(await copy.credits()).toMatchObject({ spent: 8, held: 8 });
    await recordJob(campaign, idsMissing(copy, service)[0]);
    await expectSettled(copy, service, booked(2));
  });

  test.each(orders)('of a kind that can be looked up; $first first, merged into $into', async (order) => {
    const { service, copy, booked } = await bring('video', order);
    await expectOpen(copy, service, 10);
    await expectSettled(copy, service, booked(2));
  });
});
