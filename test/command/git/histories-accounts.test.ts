import { describe, expect, test } from 'vitest';
import { expectExit } from '../../rig/command.ts';
import {
  bringTogether,
  type Campaign,
  expectSettled,
  idsMissing,
  makeBranches,
  makeCampaign,
  orders,
  priceOf,
  recordJob,
} from './branches.ts';
import { keys } from './working-copy.ts';

/** A create whose answer was lost, sent with this credential. */
async function loseAnswer(kind: string, key: string, cut: 'power' | 'service'): Promise<Campaign> {
  const campaign = await makeCampaign(kind);
  const { copy, subject } = campaign;
  copy.key = key;
  expect(await (cut === 'power' ? copy.applyUntilPowerCut(subject) : copy.applyUnanswered(subject))).toBe(true);
  return campaign;
}

/** With this credential nothing is sent for `hero`, and nobody says that sending pays once. */
async function expectNotSent({ studio, copy, subject }: Campaign, key: string, codes: number[]): Promise<void> {
  const { service } = studio;
  copy.key = key;
  const sent = service.creates.filter((create) => create.subject === subject).length;
  const plan = await copy.run('plan', copy.manifest);
  expect(plan.out + plan.err).not.toMatch(/pays\s+once/);
  expect(await copy.credits()).toMatchObject({ held: priceOf(subject.split(' ')[0] ?? '') });
  const { code, err } = await copy.apply();
  expect(codes, err).toContain(code);
  expect(service.creates.filter((create) => create.subject === subject)).toHaveLength(sent);
}

describe.each(['power', 'service'] as const)(
  'an answer lost with one account’s key (%s cut), then another key',
  (cut) => {
    test.each(['image', 'music', 'video'])(
      '%s: the other account pays nothing; the first account retries',
      async (kind) => {
        const campaign = await loseAnswer(kind, keys.acme, cut);
        await expectNotSent(campaign, keys.rival, [6]);
        campaign.copy.key = keys.acme;
        await expectSettled(campaign.copy, campaign.studio.service, campaign.booked(1));
      },
    );
  },
);

describe('another credential of the same account, which cannot be recognized', () => {
  test.each([
    ['image', 'a new key', keys.acme, keys.acmeNew],
    ['image', 'a token', keys.acme, keys.acmeToken],
    ['image', 'a key after a token', keys.acmeToken, keys.acme],
    ['image', 'another token', keys.acmeToken, keys.acmeNextToken],
    ['video', 'a new key', keys.acme, keys.acmeNew],
    ['video', 'a token', keys.acme, keys.acmeToken],
    ['influencer', 'a new key', keys.acme, keys.acmeNew],
  ])('%s, %s: nothing is sent, and a user can decide', async (kind, _, first, then) => {
    const campaign = await loseAnswer(kind, first, 'power');
    const { studio, copy, booked } = campaign;
    // What the list shows of it may be taken; what it does not show proves nothing.
    await expectNotSent(campaign, then, kind === 'video' ? [0, 6] : [6]);
    if (idsMissing(copy, studio.service).length > 0) await recordJob(campaign);
    await expectSettled(copy, studio.service, booked(1));
  });
});

describe.each(['image', 'video'])('two branches with two accounts: %s', (kind) => {
  test.each(orders)('both lost: each is retried with its own key; $first first, into $into', async (order) => {
    const campaign = await makeBranches(kind);
    const { studio, copy, subject, booked } = campaign;
    const { service } = studio;
    await bringTogether(
      copy,
      {
        ours: () => {
          copy.key = keys.acme;
          return copy.applyUnanswered(subject);
        },
        theirs: () => {
          copy.key = keys.rival;
          return copy.applyUnanswered(subject);
        },
      },
      order,
    );
    expect(service.idsOf(subject)).toHaveLength(2);
    expect((await copy.credits()).held).toBe(2 * priceOf(kind));
    copy.key = keys.acme;
    await expectExit(6, copy.apply());
    const [missing = '', ...others] = idsMissing(copy, service);
    expect(others).toEqual([]);
    copy.key = keys.rival;
    // Nothing that this account's list shows is known: it cannot be told what it gives back.
    if (kind === 'video') await recordJob(campaign, missing);
    await expectSettled(copy, service, booked(2));
  });
});

const hour = 3_600_000;

/** In hours: how far the clock of the machine is ahead at the create and afterwards, and how much time passes in between. */
test.each([
  { before: 0, now: 0, passed: 1 },
  { before: 26, now: 0, passed: 25 },
  { before: 5, now: -5, passed: 25 },
  { before: 0, now: -26, passed: 49 },
  { before: 0, now: 26, passed: 1 },
  { before: -26, now: 0, passed: 1 },
])(
  'an answer lost on a machine whose clock is wrong: $before h ahead before, $now h now, $passed h later',
  async ({ before, now, passed }) => {
    const campaign = await makeCampaign('image');
    const { studio, copy, subject, booked } = campaign;
    const { time, service } = studio;
    time.skewMs = before * hour;
    expect(await copy.applyUntilPowerCut(subject)).toBe(true);
    time.pass(passed * hour);
    time.skewMs = now * hour;
    const { code, err } = await copy.apply();
    expect(service.idsOf(subject), err).toHaveLength(1);
    const isRight = before === 0 && now === 0;
    expect(isRight ? [0] : [0, 6], err).toContain(code);
    expect(idsMissing(copy, service)).toHaveLength(code === 0 ? 0 : 1);
    time.skewMs = 0;
    if (code === 6) await recordJob(campaign);
    await expectSettled(copy, service, booked(1));
  },
);

test.each([
  { because: 'the machine slept for a day', passed: 25, set: 0 },
  { because: 'it was suspended for a day, and its clock stood still', passed: 25, set: -25 },
  { because: 'its clock was set back', passed: 0, set: -26 },
])('a clock that jumps between a lost answer and the next try: $because: paid once', async ({ passed, set }) => {
  const campaign = await makeCampaign('image');
  const { studio, copy, subject, booked } = campaign;
  const { time, service } = studio;
  service.onBooked = () => {
    Object.assign(service, { onBooked: () => {}, fate: () => 'book' });
    time.pass(passed * hour);
    time.skewMs = set * hour;
  };
  service.fate = () => 'lose';
  const { code, err } = await copy.apply();
  expect(service.idsOf(subject), err).toHaveLength(1);
  time.skewMs = 0;
  if (code !== 0) await recordJob(campaign);
  await expectSettled(copy, service, booked(1));
});

test('a cached response from the day before does not set the clock', async () => {
  const { studio, copy, subject } = await makeCampaign('image', { film: { kind: 'video', says: 'a lamp' } });
  const { time, service } = studio;
  expect(await copy.applyUntilPowerCut(subject, '-s', 'hero')).toBe(true);
  time.pass(30 * hour);
  service.cachedForMs = 28 * hour;
  const { code, err } = await copy.apply();
  expect(service.idsOf(subject), err).toHaveLength(1);
  expect(code, err).toBe(6);
});
