import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bringTogether, type Campaign, makeBranches, makeCampaign, orders, priceOf } from './branches.ts';
import { expectOpen, expectSettled, idsMissing } from './checks.ts';
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
      '%s: the other account pays nothing; the first one is asked again',
      async (kind) => {
        const campaign = await loseAnswer(kind, keys.acme, cut);
        await expectNotSent(campaign, keys.rival, [6]);
        campaign.copy.key = keys.acme;
        await expectSettled(campaign.copy, campaign.studio.service, campaign.booked(1));
      },
    );
  },
);

describe('another credential of the same account, which nobody can know', () => {
  test.each([
    ['image', 'a new key', keys.acme, keys.acmeNew],
    ['image', 'a token', keys.acme, keys.acmeToken],
    ['image', 'a key after a token', keys.acmeToken, keys.acme],
    ['image', 'another token', keys.acmeToken, keys.acmeNextToken],
    ['video', 'a new key', keys.acme, keys.acmeNew],
    ['video', 'a token', keys.acme, keys.acmeToken],
    ['influencer', 'a new key', keys.acme, keys.acmeNew],
  ])('%s, %s: nothing is sent, and a person can decide', async (kind, _, first, then) => {
    const campaign = await loseAnswer(kind, first, 'power');
    const { studio, copy, subject, booked } = campaign;
    // What the list shows of it may be taken; what it does not show proves nothing.
    await expectNotSent(campaign, then, kind === 'video' ? [0, 6] : [6]);
    if (idsMissing(copy, studio.service).length > 0) {
      const job = ['--job', studio.service.idsOf(subject)[0] ?? '', '--credits', String(priceOf(kind))];
      const { code, err } = await copy.resolve('hero', ...job);
      expect(code, err).toBe(0);
    }
    await expectSettled(copy, studio.service, booked(1));
  });

  test('a token, which replays nothing: its own lost answer is not asked for with the same key', async () => {
    const campaign = await loseAnswer('image', keys.acmeToken, 'power');
    await expectNotSent(campaign, keys.acmeToken, [6]);
  });
});

describe.each(['image', 'video'])('two branches with two accounts: %s', (kind) => {
  test.each(orders)('the answer of one says nothing about the other; $first first, into $into', async (order) => {
    const { studio, copy, subject, booked } = await makeBranches(kind);
    const outputs = join(copy.folder, 'output');
    const { service } = studio;
    await bringTogether(
      copy,
      {
        ours: () => copy.applyUnanswered(subject),
        theirs: async () => {
          copy.key = keys.rival;
          await copy.apply();
          copy.key = keys.acme;
          // The other account is used in another clone, whose outputs are not here yet.
          renameSync(outputs, `${outputs}-there`);
        },
      },
      order,
    );
    cpSync(`${outputs}-there`, outputs, { recursive: true });
    expect(service.idsOf(subject)).toHaveLength(2);
    await expectOpen(copy, service, priceOf(kind));
    await expectSettled(copy, service, booked(2));
  });

  test.each(orders)('both lost: each is asked with its own key; $first first, into $into', async (order) => {
    const { studio, copy, subject, booked } = await makeBranches(kind);
    const { service } = studio;
    await bringTogether(
      copy,
      {
        ours: async () => {
          copy.key = keys.acme;
          await copy.applyUnanswered(subject);
        },
        theirs: async () => {
          copy.key = keys.rival;
          await copy.applyUnanswered(subject);
        },
      },
      order,
    );
    expect(service.idsOf(subject)).toHaveLength(2);
    expect((await copy.credits()).held).toBe(2 * priceOf(kind));
    copy.key = keys.acme;
    const first = await copy.apply();
    expect(first.code, first.err).toBe(6);
    const [missing = '', ...others] = idsMissing(copy, service);
    expect(others).toEqual([]);
    copy.key = keys.rival;
    // Nothing that this account's list shows is known: it cannot be told what it gives back.
    if (kind === 'video') {
      const { code, err } = await copy.resolve('hero', '--job', missing, '--credits', '10');
      expect(code, err).toBe(0);
    }
    await expectSettled(copy, service, booked(2));
  });
});
