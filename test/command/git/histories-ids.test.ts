import { describe, expect, test } from 'vitest';
import { expectSettled, openRows } from './checks.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Tasks } from './working-copy.ts';

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

describe('a lost job whose list does not say what it cost', () => {
  test.each([
    ['0', 0],
    ['nothing', undefined],
  ])('it says %s: what was held for it stays counted', async (_, listed) => {
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
  });
});

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
  const first = await copy.resolve('lamp', '--job', job, '--credits', '8');
  expect(first.code, first.err).toBe(0);
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
  // Both were to find out a price, each alone: what such a step costs above all that is left, nobody can know.
  expect(booked(studio), err).toBe(16);
  expect(studio.service.idsOf('music a tune')).toEqual([]);
});
