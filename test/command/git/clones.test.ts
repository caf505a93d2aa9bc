import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fate } from '../../rig/booking-service.ts';
import { expectExit } from '../../rig/command.ts';
import { seeded } from '../../rig/random.ts';
import { idsMissing, paidTimes } from './branches.ts';
import { RandomHistory } from './random-history.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Copy } from './working-copy.ts';

const minute = 60_000;

/** Applies a campaign of these pictures: then each is paid for once, on record, and a file. */
async function expectBought(studio: Studio, copy: Copy, ...words: string[]): Promise<string> {
  copy.tasks(Object.fromEntries(words.map((says) => [says, { kind: 'image', says }])));
  const { err } = await expectExit(0, copy.apply());
  expect(idsMissing(copy, studio.service)).toEqual([]);
  expect(readdirSync(join(copy.folder, 'output'))).toEqual(words.map((says) => expect.stringMatching(`^${says}\\.`)));
  return err;
}

describe('branches of one campaign', () => {
  // All three where git leaves markers; where it joins the lines itself they differ little.
  test.each([
    ['merge', true],
    ['merge', false],
    ['rebase', false],
    ['cherry-pick', false],
  ])('I7 two branches that bought other steps, joined by %s, merge=union %s', async (way, union) => {
    const studio = await makeStudio();
    const copy = studio.copy();
    if (!union) writeFileSync(join(copy.folder, '.gitattributes'), '');
    await expectBought(studio, copy, 'a', 'b');
    copy.commit();
    copy.branch('theirs');
    await expectBought(studio, copy, 'a', 'b', 'c');
    copy.commit();
    copy.git('checkout', '--quiet', 'main');
    copy.tasks({ a: { kind: 'image', says: 'a' }, d: { kind: 'image', says: 'd' } });
    expect((await copy.apply()).code).toBe(0);
    copy.commit();
    copy.tryGit(way, 'theirs');
    // The manifest is a person's to put right. The lock is taken as git left it, with markers if there are any.
    const hasMarkers = copy.lock.includes('<<<<<<<');
    expect(hasMarkers).toBe(!union);
    const err = await expectBought(studio, copy, 'a', 'b', 'c', 'd');
    expect(err.includes('MB2004')).toBe(hasMarkers);
    expect(studio.service.ledger).toHaveLength(4);
    expect(copy.lock).not.toContain('<<<<<<<');
    copy.git('add', '-A');
    copy.git(...(way === 'merge' ? ['commit', '--quiet', '-m', 'joined'] : [way, '--continue']));
    expect(copy.git('status', '--porcelain')).toBe('');
    expect(await expectBought(studio, copy, 'a', 'b', 'c', 'd')).toContain('Nothing to do');
  });

  test.each([
    ['within a day have the same job', 1, 1],
    ['two days apart keep both jobs, and it is reported', 48, 2],
  ])('I7 two branches that bought the same step %s', async (_what, hours, jobs) => {
    const studio = await makeStudio();
    const copy = studio.copy();
    copy.branch('theirs');
    await expectBought(studio, copy, 'a');
    copy.commit();
    copy.git('checkout', '--quiet', 'main');
    expect(copy.lock).toBe('');
    // On another machine, which has neither the purchase journal nor the outputs.
    rmSync(join(copy.folder, 'output'), { recursive: true });
    studio.time.pass(hours * 60 * minute);
    copy.tasks({ a: { kind: 'image', says: 'a' } });
    expect((await copy.apply()).code).toBe(0);
    copy.commit();
    copy.tryGit('merge', '--quiet', 'theirs');
    const err = await expectBought(studio, copy, 'a');
    expect(studio.service.ledger).toHaveLength(jobs);
    expect(err).toContain(jobs === 1 ? 'Nothing to do' : 'paid for twice');
  });

  test('a stash and its pop: nothing is bought again, no id is lost', async () => {
    const studio = await makeStudio();
    const copy = studio.copy();
    await expectBought(studio, copy, 'a');
    copy.commit();
    await expectBought(studio, copy, 'a', 'b');
    copy.git('stash', '--quiet');
    const stashed = await copy.apply();
    expect(stashed.err).toContain('Nothing to do');
    copy.git('stash', 'pop', '--quiet');
    expect(await expectBought(studio, copy, 'a', 'b')).toContain('Nothing to do');
    expect(studio.service.ledger).toHaveLength(2);
  });
});

const subjects = ['image a lamp', 'music a tune'];
const tasks = { hero: { kind: 'image', says: 'a lamp' }, song: { kind: 'music', says: 'a tune' } };
const once = Object.fromEntries(subjects.map((subject) => [subject, 1]));

/** What may befall a run. Each is over when the run is. */
const troubles: { [name: string]: (copy: Copy, studio: Studio) => Promise<unknown> } = {
  none: (copy) => copy.apply(),
  400: (copy, studio) => withFate(copy, studio, 400),
  402: (copy, studio) => withFate(copy, studio, 402),
  429: (copy, studio) => withFate(copy, studio, 429),
  409: (copy, studio) => withFate(copy, studio, 409),
  502: (copy, studio) => withFate(copy, studio, 502),
  dropped: (copy, studio) => withFate(copy, studio, 'drop'),
  lost: (copy, studio) => withFate(copy, studio, 'lose'),
  'a captive portal': (copy, studio) => withFate(copy, studio, 'page'),
  hanging: (copy, studio) => withFate(copy, studio, 'hang'),
  'not reachable': async (copy, { service }) => {
    await service.close();
    await copy.apply();
    await service.open();
  },
  'not reachable after it was booked': (copy) => copy.applyUnanswered('image a lamp'),
  'power cut': (copy) => copy.applyUntilPowerCut('music a tune'),
  'Ctrl-C': (copy, studio) => interrupted(copy.apply(), studio, 1),
  // Its summary is printed while answers are on their way: no other command prints the same a moment later.
  'Ctrl-C twice': (copy, studio) => interrupted(copy.run('apply', copy.manifest, '--yes'), studio, 2),
  'empty account': async (copy, { service }) => {
    service.balance = 0;
    await copy.apply();
    service.balance = Number.POSITIVE_INFINITY;
  },
  'lock lost': (copy) => {
    for (const name of ['campaign.lock.jsonl', '.mediabatch', 'output']) {
      rmSync(join(copy.folder, name), { recursive: true, force: true });
    }
    return copy.apply();
  },
};

/** Every create of a run; where one fails in a way that is tried again, it fails to the end. */
async function withFate(copy: Copy, { service }: Studio, given: Fate): Promise<void> {
  const { fate } = service;
  service.fate = () => given;
  await copy.apply();
  service.fate = fate;
}

/** As soon as creates arrive, Ctrl-C is pressed so many times. */
async function interrupted(run: Promise<unknown>, studio: Studio, presses: number): Promise<void> {
  const { service } = studio;
  const { fate } = service;
  let left = presses;
  service.fate = (create) => {
    if (left > 0) studio.interrupt();
    left -= 1;
    return fate(create);
  };
  await run;
  service.fate = fate;
}

async function makeCopies(count: number, replaysRefusals: boolean): Promise<{ studio: Studio; copies: Copy[] }> {
  const studio = await makeStudio();
  studio.service.replaysRefusals = replaysRefusals;
  const copies = Array.from({ length: count }, () => studio.copy());
  for (const copy of copies) copy.tasks(tasks);
  return { studio, copies };
}

const refusing = ['400', '402', 'empty account'];
const losing = [
  '409',
  '502',
  'a captive portal',
  'dropped',
  'lost',
  'hanging',
  'not reachable after it was booked',
  'power cut',
];

/**
 * Everybody goes on until there is nothing left to do, and has the one job of each step. Where an answer was lost and a
 * refusal came for the same key, nobody can know for whom it was meant: then somebody may be asked instead.
 */
async function expectOnePayment({ service }: Studio, copies: Copy[], met: string[]): Promise<void> {
  const mayAsk = met.some((one) => refusing.includes(one)) && met.some((one) => losing.includes(one));
  for (const copy of copies) {
    let ran = await copy.apply();
    for (let tries = 1; ran.code !== 0 && tries < 8; tries += 1) ran = await copy.apply();
    for (const subject of subjects) expect(service.idsOf(subject).length, ran.err).toBeLessThanOrEqual(1);
    expect(mayAsk ? [0, 6] : [0], ran.err).toContain(ran.code);
    if (ran.code === 6) continue;
    expect(paidTimes(service, ...subjects), ran.err).toEqual(once);
    expect(idsMissing(copy, service)).toEqual([]);
    expect((await copy.credits()).held).toBe(0);
  }
  expect(service.violations).toEqual([]);
}

const services = [
  { service: 'that repeats its refusals', replaysRefusals: true },
  { service: 'that forgets them', replaysRefusals: false },
];

describe.each(services)('two clones that share no lock, and a service $service', ({ replaysRefusals }) => {
  test.each(Object.keys(troubles))('one clone meets %s, the other buys, then the first again', async (trouble) => {
    const { studio, copies } = await makeCopies(2, replaysRefusals);
    const [first, second] = copies as [Copy, Copy];
    await troubles[trouble]?.(first, studio);
    await second.apply();
    await expectOnePayment(studio, copies, [trouble]);
  });
});

const histories = Number(process.env.MEDIABATCH_HISTORIES ?? 12);

test.each(Array.from({ length: histories }, (_, index) => index + 1))(
  'clones that share no lock pay once in random histories within a day: history %i',
  async (seed) => {
    const random = seeded(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const { studio, copies } = await makeCopies(pick([2, 2, 3]), random() < 0.5);
    studio.service.refusesBeforeReplay = random() < 0.3;
    const told: string[] = [];
    const met: string[] = [];
    for (let acts = 2 + Math.floor(random() * 4); acts > 0; acts -= 1) {
      const copy = pick(copies);
      const trouble = pick(Object.keys(troubles));
      met.push(trouble);
      told.push(`${copies.indexOf(copy) + 1}: ${trouble}`);
      await troubles[trouble]?.(copy, studio);
      for (const ids of subjects.map((subject) => studio.service.idsOf(subject))) {
        expect(ids.length, told.join('; ')).toBeLessThanOrEqual(1);
      }
      studio.time.pass(Math.floor(random() * 120) * minute);
    }
    try {
      await expectOnePayment(studio, copies, met);
    } catch (error) {
      throw new Error(`${told.join('; ')}: ${(error as Error).message}`, { cause: error });
    }
  },
);

/** More of them: `MEDIABATCH_HISTORIES=1000`; one of them: `MEDIABATCH_HISTORY=17`. */
const count = Number(process.env.MEDIABATCH_HISTORIES ?? 24);
const only = process.env.MEDIABATCH_HISTORY;
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];

test.each(seeds)(
  'no recorded job is bought again, and no charge is missing from the lock: history %i',
  async (seed) => {
    const history = await RandomHistory.make(seed);
    try {
      await history.begin();
      for (let acts = 6; acts > 0; acts -= 1) await history.act();
      await history.end();
    } catch (error) {
      throw new Error(`${history.told.join(', ')}: ${(error as Error).message}`, { cause: error });
    }
    expect(history.told.length).toBeGreaterThan(0);
  },
  120_000,
);
