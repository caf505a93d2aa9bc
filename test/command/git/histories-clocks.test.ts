import { describe, expect, test } from 'vitest';
import { makeCampaign, priceOf } from './branches.ts';
import { expectSettled, idsMissing } from './checks.ts';

const hour = 3_600_000;

interface Clocks {
  /** How far the clock of the machine was ahead when the create was sent, and when it was gone on with, in hours. */
  before: number;
  now: number;
  /** How much time has really passed. */
  passed: number;
}

const clocks: Clocks[] = [
  { before: 0, now: 0, passed: 1 },
  { before: 0, now: 0, passed: 25 },
  { before: 26, now: 0, passed: 1 },
  { before: 26, now: 0, passed: 25 },
  { before: 26, now: 26, passed: 25 },
  { before: 48, now: 0, passed: 40 },
  { before: 5, now: -5, passed: 25 },
  { before: 5, now: 0, passed: 26 },
  { before: 0, now: -5, passed: 26 },
  { before: 0, now: -26, passed: 25 },
  { before: 0, now: -26, passed: 49 },
  { before: 0, now: 26, passed: 1 },
  { before: -26, now: 0, passed: 1 },
  { before: -26, now: -26, passed: 25 },
  { before: 0, now: -3, passed: 24.5 },
  { before: 3, now: 0, passed: 24.5 },
];

describe.each(['image', 'video'])('an answer lost on a machine whose clock is wrong: %s', (kind) => {
  test.each(kind === 'video' ? clocks.slice(1, 6) : clocks)(
    '$before h ahead before, $now h now, $passed h later',
    async ({ before, now, passed }) => {
      const { studio, copy, subject, booked } = await makeCampaign(kind);
      const { time, service } = studio;
      time.skewMs = before * hour;
      expect(await copy.applyUntilPowerCut(subject)).toBe(true);
      time.pass(passed * hour);
      time.skewMs = now * hour;
      const { code, err } = await copy.apply();
      expect(service.idsOf(subject), err).toHaveLength(1);
      const isRight = before === 0 && now === 0 && passed < 23;
      expect(isRight ? [0] : [0, 6], err).toContain(code);
      expect(idsMissing(copy, service)).toHaveLength(code === 0 ? 0 : 1);
      time.skewMs = 0;
      if (code === 6) {
        const credits = String(priceOf(kind));
        const decided = await copy.resolve('hero', '--job', service.idsOf(subject)[0] ?? '', '--credits', credits);
        expect(decided.code, decided.err).toBe(0);
      }
      await expectSettled(copy, service, booked(1));
    },
  );
});

describe('a clock that jumps within a run', () => {
  test.each([
    { because: 'the machine slept for a day', passed: 25, set: 0 },
    { because: 'it slept for a day, and its clock is ahead since', passed: 25, set: 30 },
    { because: 'it was suspended for a day, and its clock stood still', passed: 25, set: -25 },
    { because: 'its clock was set forward', passed: 0, set: 26 },
    { because: 'its clock was set back', passed: 0, set: -26 },
  ])('$because, between a lost answer and the next try: paid once', async ({ passed, set }) => {
    const { studio, copy, subject, booked } = await makeCampaign('image');
    const { time, service } = studio;
    service.onBooked = () => {
      Object.assign(service, { onBooked: () => {}, fate: () => 'book' });
      time.pass(passed * hour);
      time.skewMs = set * hour;
    };
    service.fate = () => 'lose';
    const { code, err } = await copy.apply();
    expect(service.idsOf(subject), err).toHaveLength(1);
    expect([0, 6]).toContain(code);
    time.skewMs = 0;
    if (code === 6) {
      const decided = await copy.resolve('hero', '--job', service.idsOf(subject)[0] ?? '', '--credits', '3');
      expect(decided.code, decided.err).toBe(0);
    }
    await expectSettled(copy, service, booked(1));
  });
});

test('a cached response of yesterday does not set the clock', async () => {
  const { studio, copy, subject } = await makeCampaign('image', { film: { kind: 'video', says: 'a lamp' } });
  const { time, service } = studio;
  expect(await copy.applyUntilPowerCut(subject, '-s', 'hero')).toBe(true);
  time.pass(30 * hour);
  service.cachedForMs = 28 * hour;
  const { code, err } = await copy.apply();
  expect(service.idsOf(subject), err).toHaveLength(1);
  expect(code, err).toBe(6);
});

describe('a service at a loopback address that may be anywhere, whose list shows a job late', () => {
  test.each([
    ['video', 5],
    ['video', 20],
    ['video', 50],
    ['voiceover', 20],
  ])('%s: %s s late, the answer lost on the wire', async (kind, seconds) => {
    const { studio, copy, subject, booked } = await makeCampaign(kind);
    const { service } = studio;
    service.listLagMs = seconds * 1000;
    service.fate = ({ nth }) => (nth === service.ledger.length + 1 ? 'lose' : 'book');
    await copy.apply();
    service.fate = () => 'book';
    expect(service.idsOf(subject)).toHaveLength(1);
    await expectSettled(copy, service, booked(1));
  });

  test.each([20, 50])('video: %s s late, power went before the answer, and is back at once', async (seconds) => {
    const { studio, copy, subject, booked } = await makeCampaign('video');
    const { service } = studio;
    service.listLagMs = seconds * 1000;
    expect(await copy.applyUntilPowerCut(subject)).toBe(true);
    await copy.apply();
    expect(service.idsOf(subject)).toHaveLength(1);
    await expectSettled(copy, service, booked(1));
  });
});
