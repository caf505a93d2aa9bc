import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { bin, expectExit } from '../../rig/command.ts';
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
import { makeStudio, type Studio } from './studio.ts';
import { type Copy, keys, type Tasks } from './working-copy.ts';

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

  test.each(orders)('what the other has bought is kept; $first first, merged into $into', async (order) => {
    const { service, copy, booked } = await bring(order, (one) => one.apply('--new'));
    expect((await copy.plan()).map(({ credits }) => credits)).not.toContain(priceOf(kind));
    await expectSettled(copy, service, booked(1));
  });

  test.each(orders)('what the other has open stays open; $first first, merged into $into', async (order) => {
    const { campaign, service, copy, booked } = await bring(order, (one, lost) => one.applyUnanswered(lost, '--new'));
    await expectOpen(copy, service, priceOf(kind));
    if (kind === 'influencer') await recordJob(campaign);
    await expectSettled(copy, service, booked(1));
  });
});

describe('an open create beside the other branch’s job', () => {
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

  test.each(orders)('of a kind that cannot be asked for; $first first, merged into $into', async (order) => {
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

  test.each(orders)('what is held counts against the budget; $first first, merged into $into', async (order) => {
    const { service, copy } = await bring('influencer', order);
    copy.budget = 20;
    copy.tasks({ hero: { kind: 'influencer', says: 'a lamp' }, other: { kind: 'influencer', says: 'a vase' } });
    const { code, err } = await copy.apply();
    expect(service.idsOf('influencer a vase'), err).toEqual([]);
    expect(code, err).toBe(6);
  });
});

const drafts: Tasks = {
  hero: { kind: 'image', says: 'a lamp', more: { takes: 3, gate: { choose: 1 } } },
  card: { kind: 'image', says: 'with {{tasks.hero.url}}' },
};

/** Three takes that are bought, on `ours`; `theirs` has the same. */
async function makeDrafts(tasks = drafts) {
  const studio = await makeStudio();
  const copy = studio.copy();
  copy.tasks(tasks);
  expect((await copy.apply()).code).toBe(5);
  copy.commit('drafts');
  copy.git('branch', 'theirs');
  copy.branch('ours');
  return { studio, copy };
}

async function decide(copy: Copy, command: string, ...words: string[]): Promise<void> {
  await expectExit(0, copy.run(command, copy.manifest, ...words));
}

/** What the plan says of the step behind the gate. */
async function cardOf(copy: Copy): Promise<string> {
  const { out } = await copy.run('plan', copy.manifest, '--json');
  const rows: { address: string; action: string; reason: { text: string } }[] = JSON.parse(out).rows;
  const card = rows.find(({ address }) => address === 'card');
  return `${card?.action}: ${card?.reason.text}`;
}

async function expectDone(copy: Copy, code = 0): Promise<void> {
  await expectExit(code, copy.apply());
}

test.each(orders)(
  'two branches that picked differently: both are named, and one pick settles it; %j',
  async (order) => {
    const { studio, copy } = await makeDrafts();
    await bringTogether(
      copy,
      {
        ours: () => decide(copy, 'pick', 'hero/1', '--note', 'calm'),
        theirs: async () => {
          await decide(copy, 'pick', 'hero/3');
          await expectDone(copy);
        },
      },
      order,
    );
    const paid = studio.service.ledger.length;
    await expectDone(copy, 5);
    expect(studio.service.ledger).toHaveLength(paid);
    const { out } = await copy.run('status', copy.manifest);
    expect(out).toContain('hero');
    // The card of the one is there, and is not given up before anybody has decided.
    expect(await cardOf(copy)).toContain('hero is contested: hero/1 and hero/3 are picked, but only 1 may be picked');
    await decide(copy, 'pick', 'hero/3');
    expect(await cardOf(copy)).toBe('keep: up to date');
    await expectDone(copy);
    expect(studio.service.ledger).toHaveLength(paid);
  },
);

/** The built program, in real time, killed as soon as `subject` is booked. */
async function killWhenBooked(copy: Copy, studio: Awaited<ReturnType<typeof makeStudio>>, subject: string) {
  const { service } = studio;
  const child = spawn(process.execPath, [bin, 'apply', copy.manifest, '--yes'], {
    env: { PATH: process.env.PATH ?? '', MEDIABATCH_BASE_URL: service.url, MEDIABATCH_API_KEY: keys.acme },
    stdio: 'ignore',
  });
  const exit = once(child, 'exit');
  service.onBooked = (job) => {
    if (job.subject === subject) child.kill('SIGKILL');
  };
  service.fate = () => 'hang';
  await exit;
  Object.assign(service, { onBooked: () => {}, fate: () => 'book' });
  expect(child.signalCode).toBe('SIGKILL');
}

test('the process killed when its create was booked on one branch, a refusal on the other', async () => {
  const { studio, copy, subject, booked } = await makeBranches('image');
  const { service } = studio;
  service.refusesBeforeReplay = true;
  service.replaysRefusals = false;
  await killWhenBooked(copy, studio, subject);
  copy.commit('killed');
  copy.git('checkout', '--quiet', 'theirs');
  service.fate = () => 402;
  await copy.apply();
  service.fate = () => 'book';
  copy.commit('refused');
  copy.merge('ours');
  await expectOpen(copy, service, 3);
  await expectSettled(copy, service, booked(1));
});
