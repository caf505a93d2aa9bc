import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fate } from '../../rig/booking-service.ts';
import { seeded } from '../../rig/random.ts';
import { idsMissing, paidTimes } from './checks.ts';
import { makeStudio, type Studio } from './studio.ts';
import type { Copy } from './working-copy.ts';

const minute = 60_000;
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
  // Its summary is told while answers are on their way: no other command says the same a moment later.
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
  test.each(Object.keys(troubles))('one met with: %s; then the other buys, then the first again', async (trouble) => {
    const { studio, copies } = await makeCopies(2, replaysRefusals);
    const [first, second] = copies as [Copy, Copy];
    await troubles[trouble]?.(first, studio);
    await second.apply();
    await expectOnePayment(studio, copies, [trouble]);
  });

  test.each([
    ['402', '400'],
    ['Ctrl-C', '402'],
    ['not reachable', 'empty account'],
    ['402', 'not reachable after it was booked'],
    ['power cut', '402'],
    ['400', 'power cut'],
  ])('one met with %s, the other with %s, and with the former once more', async (one, other) => {
    const { studio, copies } = await makeCopies(2, replaysRefusals);
    const [first, second] = copies as [Copy, Copy];
    await troubles[one]?.(first, studio);
    await troubles[other]?.(second, studio);
    await troubles[one]?.(second, studio);
    await expectOnePayment(studio, copies, [one, other]);
  });
});

const histories = Number(process.env.MEDIABATCH_HISTORIES ?? 12);

describe('clones that share no lock, at random, within a day', () => {
  test.each(Array.from({ length: histories }, (_, index) => index + 1))('history %i', async (seed) => {
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
  });
});
