import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import {
  bringTogether,
  expectOpen,
  expectSettled,
  makeBranches,
  makeCampaign,
  type Order,
  openRows,
  orders,
  priceOf,
} from './branches.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Tasks } from './working-copy.ts';

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

describe('a person’s decision about one create says nothing about another that a merge brings', () => {
  test.each(orders)('--not-spent, which was true of the one; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('influencer', order, { isBooked: false, decide: () => ['--not-spent'] });
    const { studio, copy, subject, booked } = campaign;
    const { service } = studio;
    await expectOpen(copy, service, 8);
    const job = ['--job', service.idsOf(subject)[0] ?? '', '--credits', '8'];
    await expectExit(0, copy.resolve('hero', ...job));
    await expectSettled(copy, service, booked(1));
  });

  test.each(orders)('--job, the one’s own; $first first, into $into', async (order) => {
    const campaign = await decideOnOneBranch('influencer', order, {
      isBooked: true,
      decide: (id) => ['--job', id, '--credits', '8'],
    });
    const { studio, copy, subject, booked } = campaign;
    const { service } = studio;
    await expectOpen(copy, service, 8);
    const other = service.idsOf(subject).find((id) => !copy.lock.includes(`"${id}"`)) ?? '';
    await expectExit(0, copy.resolve('hero', '--job', other, '--credits', '8'));
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

  test.each(orders)('an image whose key went out on two days; $first first, into $into', async (order) => {
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

test.each(orders)(
  'an answer to one create says nothing about another that a merge brings: an image whose key went out on two days; $first first, into $into',
  async (order) => {
    const { studio, copy, subject } = await makeBranches('image');
    const { service, time } = studio;
    const later = (act: () => Promise<unknown>, isSecond: boolean) => async () => {
      if (isSecond) time.pass(48 * hour);
      await act();
    };
    await bringTogether(
      copy,
      {
        // The other branch has no lock, and this machine knows of what was bought for the first one.
        ours: later(() => copy.applyUnanswered(subject, '--new'), order.first === 'theirs'),
        theirs: later(() => copy.apply('--new'), order.first === 'ours'),
      },
      order,
    );
    expect(service.idsOf(subject)).toHaveLength(2);
    const { spent, held } = await copy.credits();
    expect(spent + held).toBe(6);
    const { err } = await copy.apply();
    expect(service.idsOf(subject), err).toHaveLength(2);
    const after = await copy.credits();
    expect(after.spent + after.held).toBe(6);
  },
);

test.each(['main', 'old'])('a decision stays when the state from before it is merged (into %s)', async (into) => {
  const { studio, copy, subject, booked } = await makeBranches('influencer');
  const { service } = studio;
  copy.git('checkout', '--quiet', 'main');
  expect(await copy.applyUnanswered(subject)).toBe(true);
  copy.commit('lost');
  copy.git('branch', 'old');
  const decided = await copy.resolve('hero', '--job', service.idsOf(subject)[0] ?? '', '--credits', '8');
  expect(decided.code, decided.err).toBe(0);
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

test.each(orders)('two creates of one step are decided each by itself; $first first, into $into', async (order) => {
  const { studio, copy, subject, booked } = await makeBranches('influencer');
  const { service } = studio;
  const lose = async () => void (await copy.applyUnanswered(subject));
  await bringTogether(copy, { ours: lose, theirs: lose }, order);
  expect(await copy.credits()).toMatchObject({ spent: 0, held: 16 });
  for (const [index, id] of service.idsOf(subject).entries()) {
    await expectExit(0, copy.resolve('hero', '--job', id, '--credits', '8'));
    expect(await copy.credits()).toMatchObject({ spent: 8 * (index + 1), held: 8 * (1 - index) });
  }
  await expectSettled(copy, service, booked(2));
});

/** Bought as a lamp, edited, and then the answer to the vase's create is lost. */
async function loseTheEdit(kind: string) {
  const campaign = await makeCampaign(kind);
  const { copy, known, booked } = campaign;
  await copy.apply();
  copy.tasks({ ...known, hero: { kind, says: 'a vase' } });
  expect(await copy.applyUnanswered(`${kind} a vase`)).toBe(true);
  return { ...campaign, both: { ...booked(1), [`${kind} a vase`]: 1 } };
}

describe.each(['image', 'video', 'influencer'])('an open create, and a step that has what it wants: %s', (kind) => {
  test.each(['taken back', 'pin', 'accept'])('because its edit was answered by: %s', async (how) => {
    const { studio, copy, known, both } = await loseTheEdit(kind);
    const { service } = studio;
    if (how === 'taken back') copy.tasks({ ...known, hero: { kind, says: 'a lamp' } });
    else {
      const { code, err } = await copy.run(how, copy.manifest, 'hero');
      // What it was edited to may be in doubt; then it is said, and nothing is decided.
      if (code !== 0) expect(err).not.toBe('');
    }
    await expectOpen(copy, service, priceOf(kind));
    if (kind === 'influencer') {
      const [lost = ''] = service.idsOf(`${kind} a vase`);
      await expectExit(0, copy.resolve('hero', '--job', lost, '--credits', '8'));
    }
    await expectSettled(copy, service, both);
  });

  test('because its job was imported by a person', async () => {
    const { studio, copy, subject, booked } = await makeCampaign(kind);
    const { service } = studio;
    expect(await copy.applyUnanswered(subject)).toBe(true);
    const job = service.idsOf(subject)[0] ?? '';
    const ran = await copy.run(
      'adopt',
      copy.manifest,
      'hero',
      '--job',
      job,
      '--offline',
      '--credits',
      String(priceOf(kind)),
    );
    if (ran.code !== 0) expect(ran.err).not.toBe('');
    await copy.apply();
    expect(service.idsOf(subject)).toHaveLength(1);
    // The one job answers the one create, whichever way it was told.
    const { held } = await copy.credits();
    if (held > 0) {
      await expectExit(0, copy.resolve('hero', '--job', job, '--credits', String(priceOf(kind))));
    }
    await expectSettled(copy, service, booked(1));
  });
});

const booked = ({ service }: Studio) => service.ledger.reduce((sum, { credits }) => sum + credits, 0);
const image = (says: string) => ({ kind: 'image', says });
const video = (says: string) => ({ kind: 'video', says });

describe('creates that are answered with the id of another', () => {
  /** Both have left before either is answered. */
  function answerTogether({ service }: Studio, count: number): void {
    const waiting: (() => void)[] = [];
    service.hold = () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === count) for (const answer of waiting) answer();
      });
  }

  test.each([
    ['image', 'on the wire together', true],
    ['image', 'one after the other', false],
    ['influencer', 'on the wire together', true],
    ['influencer', 'one after the other', false],
  ])('%s, %s: both charges count, and only one of them has that job', async (kind, _, together) => {
    const studio = await makeStudio();
    const { service } = studio;
    const copy = studio.copy();
    service.idOf = () => 'job-of-somebody';
    if (together) answerTogether(studio, 2);
    copy.tasks({ hero: { kind, says: 'a lamp' }, other: { kind, says: 'a rug' } });
    const { code, err } = await copy.apply(...(together ? [] : ['--concurrency', '1']));
    const { spent, held } = await copy.credits();
    expect(booked(studio)).toBeGreaterThan(0);
    expect(spent + held, err).toBeGreaterThanOrEqual(booked(studio));
    expect(code, err).toBe(6);
    expect(openRows(await copy.plan())).toHaveLength(1);
  });

  test('the budget is not passed', async () => {
    const studio = await makeStudio();
    const { service } = studio;
    const copy = studio.copy();
    service.idOf = () => 'job-of-somebody';
    answerTogether(studio, 2);
    copy.budget = 8;
    const tasks = (...names: string[]): Tasks => Object.fromEntries(names.map((says) => [says, image(says)]));
    copy.tasks(tasks('lamp', 'rug'));
    await copy.apply();
    service.hold = () => undefined;
    service.idOf = (_, nth) => `job-${nth}`;
    copy.tasks(tasks('lamp', 'rug', 'vase'));
    const { err } = await copy.apply();
    expect(booked(studio), err).toBeLessThanOrEqual(8);
  });
});

describe('a service that numbers the jobs of each kind by themselves', () => {
  const tasks: Tasks = {
    picture: image('a lamp'),
    picture2: image('a rug'),
    film: video('a lamp'),
    film2: video('a rug'),
    voice: { kind: 'voiceover', says: 'a lamp' },
    song: { kind: 'music', says: 'a lamp' },
  };

  test('each has its job, and each charge counts', async () => {
    const studio = await makeStudio();
    const copy = studio.copy();
    studio.service.idOf = (_, nth) => String(6 + nth);
    copy.tasks(tasks);
    await expectSettled(copy, studio.service, {
      'image a lamp': 1,
      'image a rug': 1,
      'video a lamp': 1,
      'video a rug': 1,
      'voiceover a lamp': 1,
      'music a lamp': 1,
    });
  });

  test('the budget counts them all', async () => {
    const studio = await makeStudio();
    const copy = studio.copy();
    studio.service.idOf = (_, nth) => String(6 + nth);
    copy.budget = 20;
    copy.tasks({ picture: image('a lamp'), film: video('a lamp') });
    await copy.apply();
    copy.tasks({ picture: image('a lamp'), film: video('a lamp'), film2: video('a rug') });
    const { code, err } = await copy.apply();
    expect(booked(studio), err).toBe(13);
    expect(code, err).toBe(4);
  });

  test.each(['power', 'wire'])('a lost video (%s) whose number a picture has is found in the list', async (cut) => {
    const studio = await makeStudio();
    const { service } = studio;
    const copy = studio.copy();
    service.idOf = (_, nth) => String(nth);
    const before = { picture: image('a lamp'), picture2: image('a rug'), film: video('a lamp') };
    copy.tasks(before);
    await copy.apply();
    copy.tasks({ ...before, film2: video('a rug') });
    if (cut === 'power') expect(await copy.applyUntilPowerCut('video a rug')).toBe(true);
    else service.fate = () => 'lose';
    await copy.apply();
    service.fate = () => 'book';
    await expectSettled(copy, service, {
      'image a lamp': 1,
      'image a rug': 1,
      'video a lamp': 1,
      'video a rug': 1,
    });
  });

  test('on two branches: a merge keeps both, and both charges', async () => {
    const studio = await makeStudio();
    const { service } = studio;
    const copy = studio.copy();
    service.idOf = (_, nth) => String(nth);
    copy.tasks({ hero: image('a lamp') });
    copy.commit();
    copy.branch('theirs');
    await copy.apply();
    copy.commit();
    copy.git('checkout', '--quiet', 'main');
    copy.tasks({ hero: video('a lamp') });
    await copy.apply();
    copy.commit();
    copy.merge('theirs');
    copy.tasks({ hero: video('a lamp') });
    await expectSettled(copy, service, { 'image a lamp': 1, 'video a lamp': 1 });
  });
});

test.each([
  ['0', 0],
  ['nothing', undefined],
])(
  'a lost job whose list does not say what it cost: it says %s: what was held for it stays counted',
  async (_, listed) => {
    const studio = await makeStudio();
    const { service } = studio;
    const copy = studio.copy();
    copy.budget = 25;
    copy.tasks({ first: video('first words') });
    await copy.apply();
    service.listedCredits = () => listed;
    copy.tasks({ first: video('first words'), hero: video('a lamp') });
    expect(await copy.applyUntilPowerCut('video a lamp')).toBe(true);
    await copy.apply();
    expect(service.idsOf('video a lamp')).toHaveLength(1);
    const { spent, held } = await copy.credits();
    expect(spent + held).toBeGreaterThanOrEqual(20);
    copy.tasks({ first: video('first words'), hero: video('a lamp'), other: video('a rug') });
    const { err } = await copy.apply();
    expect(booked(studio), err).toBeLessThanOrEqual(25);
  },
);

test('a job answers one create: its id is not taken for a second one that was lost', async () => {
  const studio = await makeStudio();
  const { service } = studio;
  const copy = studio.copy();
  const tasks = (...names: string[]): Tasks =>
    Object.fromEntries(names.map((says) => [says, { kind: 'influencer', says }]));
  copy.tasks(tasks('lamp'));
  expect(await copy.applyUnanswered('influencer lamp')).toBe(true);
  copy.tasks(tasks('lamp', 'rug'));
  expect(await copy.applyUnanswered('influencer rug')).toBe(true);
  const [job = ''] = service.idsOf('influencer lamp');
  await expectExit(0, copy.resolve('lamp', '--job', job, '--credits', '8'));
  const second = await copy.resolve('rug', '--job', job, '--credits', '8');
  expect(second.code, second.err).not.toBe(0);
  expect(await copy.credits()).toMatchObject({ spent: 8, held: 8 });
});

test('a lost create whose price nobody knows: a budget is not passed', async () => {
  const studio = await makeStudio();
  const copy = studio.copy();
  copy.saysPrices = false;
  copy.budget = 10;
  copy.tasks({ lamp: { kind: 'influencer', says: 'lamp' } });
  expect(await copy.applyUntilPowerCut('influencer lamp')).toBe(true);
  copy.tasks({ rug: { kind: 'influencer', says: 'rug' }, song: { kind: 'music', says: 'a tune' } });
  await copy.apply();
  const { err } = await copy.apply();
  // Nobody knows what the lost create has cost: it holds the whole budget until a user settles it.
  expect(booked(studio), err).toBe(8);
  expect(studio.service.idsOf('music a tune')).toEqual([]);
});
