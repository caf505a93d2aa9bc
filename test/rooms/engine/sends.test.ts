import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { hasOpenSends, openSends } from '../../../src/lock/sends.ts';
import { resumeOrder } from '../../../src/run/resume-plan.ts';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { completed } from '../../rig/scripted-service.ts';

const hourMs = 3_600_000;
const lost = { answer: { is: 'ambiguous', message: 'reset' }, booked: true } as const;
const broke = { answer: { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402' } } as const;

type Kind = 'image' | 'video';

function manifest(kind: Kind, prompt = 'a lamp', more = ''): string {
  return `version: 1\nname: test\nbudget: { credits: 50 }\nprices: { ${kind}: 3 }\ntasks:\n  hero: { kind: ${kind}, with: { prompt: "${prompt}" } }\n${more}`;
}

/** Two locks as git's union driver puts them together. */
function merge(into: TestCampaign, from: TestCampaign): TestCampaign {
  const merged = into.clone();
  merged.file.text = into.file.text + from.file.text;
  return merged;
}

function charged(campaign: TestCampaign): number {
  return campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0);
}

/** What the lock says was spent or may have been. */
function accounted(campaign: TestCampaign): number {
  const { alreadyPaid, held, knownPrices } = campaign.plan().totals;
  return alreadyPaid + held + knownPrices;
}

async function lose(campaign: TestCampaign, options: { redo?: string[] } = {}): Promise<TestCampaign> {
  campaign.service.trouble = () => lost;
  // The list cannot be read either.
  campaign.service.listLagMs = 10 * hourMs;
  const onEvent = (fact: RunFact, abort: () => void) => fact.event === 'create-repeated' && abort();
  await campaign.run({ ...options, onUnknown: 'hold', onEvent });
  campaign.service.trouble = () => undefined;
  campaign.service.listLagMs = 0;
  return campaign;
}

async function calibrate(campaign: TestCampaign): Promise<void> {
  campaign.service.others.push({
    kind: 'video',
    jobId: 'job-other',
    bookedAt: campaign.clock.now() - hourMs,
    request: { prompt: 'another' },
  });
}

describe.each<Kind>(['image', 'video'])('the open send of a %s', (kind) => {
  test('is not closed by a refusal of another branch, in either order of merging', async () => {
    for (const order of ['a b', 'b a']) {
      const a = await lose(new TestCampaign(manifest(kind)));
      const b = a.clone();
      b.service.trouble = () => broke;
      await b.run();
      b.service.trouble = () => undefined;
      const merged = order === 'a b' ? merge(a, b) : merge(b, a);
      expect(hasOpenSends(merged.file.read())).toBe(true);
      await merged.run();
      if (kind === 'image') {
        expect(charged(merged)).toBe(3);
        expect(hasOpenSends(merged.file.read())).toBe(false);
      }
      expect(charged(merged)).toBeLessThanOrEqual(accounted(merged));
    }
  });

  test('stays a row of the plan when its step is edited, and is asked about before anything else is bought there', async () => {
    // Under a cap the first of a price goes alone, whatever its send: here nothing but the send keeps the order.
    const uncapped = (text: string) => text.replace('budget: { credits: 50 }\n', '');
    const campaign = await lose(new TestCampaign(uncapped(manifest(kind))));
    await calibrate(campaign);
    campaign.graph = graphOf(uncapped(manifest(kind, 'a vase')));
    const { plan, events } = await campaign.run();
    expect(plan.rows.map(({ address, action }) => [address, action])).toEqual([
      ['hero', 'create'],
      ['hero', 'create'],
    ]);
    // Its own create leaves once more, under the same key.
    const asked = new Set(events.flatMap((one) => (one.event === 'send-settled' ? [one.key] : [])));
    const order = events.flatMap((one) => {
      if (one.event === 'send-settled') return ['settled'];
      return one.event === 'create-intended' && !asked.has(one.key) ? ['bought'] : [];
    });
    expect(order).toEqual(['settled', 'bought']);
    if (kind === 'image') {
      expect(charged(campaign)).toBe(6);
      expect(campaign.plan().totals.alreadyPaid).toBe(6);
      expect(hasOpenSends(campaign.file.read())).toBe(false);
    }
    expect(charged(campaign)).toBeLessThanOrEqual(accounted(campaign));
  });

  test('stays a row of the plan when its step is removed or not selected', async () => {
    for (const change of ['removed', 'deselected']) {
      const other = '  other: { kind: music, with: { prompt: x, lyrics: y } }\n';
      const campaign = await lose(new TestCampaign(manifest(kind, 'a lamp')));
      campaign.graph = graphOf(
        change === 'removed'
          ? `version: 1\nname: test\nprices: { ${kind}: 3 }\ntasks:\n${other}`
          : manifest(kind, 'a lamp', other),
      );
      const options = change === 'removed' ? {} : { selected: ['other'] };
      const row = campaign.plan(options).rows.find(({ send }) => send !== undefined);
      expect(row).toMatchObject({ address: 'hero', action: 'create' });
      await campaign.run(options);
      if (kind === 'image') {
        expect(hasOpenSends(campaign.file.read())).toBe(false);
        expect(campaign.plan(options).totals.alreadyPaid).toBeGreaterThanOrEqual(3);
      }
      expect(charged(campaign)).toBeLessThanOrEqual(accounted(campaign));
    }
  });

  test('of a redo is the one that a repeated redo continues', async () => {
    const campaign = new TestCampaign(manifest(kind));
    await campaign.run();
    await lose(campaign, { redo: ['hero'] });
    expect(charged(campaign)).toBe(6);
    expect(campaign.plan({ redo: ['hero'] }).rows).toMatchObject([{ action: 'create', order: { generation: 2 } }]);
    const { outcomes } = await campaign.run({ redo: ['hero'] });
    // The first job, which is on record with its request, shows that the list of videos can be compared with requests.
    expect(outcomes).toEqual({ hero: 'done' });
    expect(charged(campaign)).toBe(6);
  });

  test('of another account is left to a person', async () => {
    const campaign = await lose(new TestCampaign(manifest(kind)));
    campaign.account = 'two';
    expect(campaign.plan().rows[0]).toMatchObject({
      action: 'unresolved',
      reason: { text: expect.stringContaining('API key') },
    });
    const { creates } = campaign.service;
    const before = creates.length;
    await campaign.run();
    expect(creates).toHaveLength(before);
  });

  test('of another account stays open when ours is answered', async () => {
    if (kind === 'video') return;
    const ours = await lose(new TestCampaign(manifest(kind)));
    const other = new TestCampaign(manifest(kind));
    other.account = 'two';
    const merged = merge(ours, await lose(other));
    await merged.run();
    const left = openSends(merged.file.read(), new Set()).map(({ purchase }) => purchase.account?.slice(-3));
    expect([charged(merged), left]).toEqual([3, ['two']]);
  });

  test('that is too old for a replay stays open when a later one is answered', async () => {
    if (kind === 'video') return;
    const early = await lose(new TestCampaign(manifest(kind)));
    early.clock.advance(25 * hourMs);
    const late = await lose(early.clone());
    const merged = merge(early, late);
    await merged.run();
    expect(openSends(merged.file.read(), new Set())).toHaveLength(1);
  });
});

test('the age of a key is counted by the service: a clock that was ahead does not make it fresh', async () => {
  const campaign = new TestCampaign(manifest('image'));
  // The client is 22 h ahead of the service when it sends, and right 25 h later.
  campaign.service.aheadMs = -22 * hourMs;
  await lose(campaign);
  campaign.clock.advance(3 * hourMs);
  campaign.service.aheadMs = 0;
  expect(charged(campaign)).toBe(3);
  await campaign.run();
  expect(charged(campaign)).toBe(3);
  expect(hasOpenSends(campaign.file.read())).toBe(true);
});

describe('two branches', () => {
  test('that both sent a kind without replay keep both charges', async () => {
    const a = new TestCampaign(manifest('video'));
    const b = a.clone();
    await lose(a);
    await b.run();
    const merged = merge(a, b);
    const { totals } = merged.plan();
    expect(charged(merged)).toBe(6);
    expect(totals.alreadyPaid + totals.held + totals.knownPrices).toBe(6);
    await merged.run();
    expect(charged(merged)).toBe(6);
    expect(charged(merged)).toBeLessThanOrEqual(accounted(merged));
  });

  test('that both lost an answer of a kind without replay have two open sends', async () => {
    const a = new TestCampaign(manifest('video'));
    const b = a.clone();
    await lose(a);
    await lose(b);
    const merged = merge(a, b);
    expect(merged.plan({ onUnknown: 'hold' }).totals.held).toBe(6);
    await merged.run();
    expect(charged(merged)).toBe(6);
    expect(accounted(merged)).toBe(6);
  });
});

describe('answers', () => {
  test('two creates at once with one id: one of them stays open', async () => {
    const campaign = new TestCampaign(`version: 1
name: test
budget: { credits: 6 }
prices: { video: 3 }
tasks:
  hero: { kind: video, foreach: [a, b, c], with: { prompt: "{{row}}" } }
`);
    campaign.service.nameOf = () => 'job-same';
    await campaign.run({ concurrency: 2, onUnknown: 'hold' });
    expect(charged(campaign)).toBe(6);
    expect(accounted(campaign)).toBe(6);
    expect(hasOpenSends(campaign.file.read())).toBe(true);
  });

  test('jobs that a service numbers by kind are two charges', async () => {
    const campaign = new TestCampaign(`version: 1
name: test
prices: { video: 3, image: 3 }
tasks:
  a: { kind: video, with: { prompt: x } }
  b: { kind: image, with: { prompt: x } }
`);
    campaign.service.nameOf = () => '7';
    const { outcomes } = await campaign.run({ concurrency: 1 });
    expect(outcomes).toEqual({ a: 'done', b: 'done' });
    expect(campaign.plan().totals.alreadyPaid).toBe(6);
  });
});

test('a lost create beside the failed job of another clone is asked about, and nothing is bought in its place', async () => {
  const text = manifest('video').replace('kind: video,', 'kind: video, retry: { attempts: 3 },');
  const a = await lose(new TestCampaign(text));
  await calibrate(a);
  const b = a.clone();
  b.file.text = '';
  b.service.endOf = () => ({ is: 'failed', error: 'no' });
  await b.run({ onEvent: (fact, abort) => fact.event === 'job-created' && abort() });
  await b.run();
  const merged = merge(a, b);
  const made = merged.service.ledger.length;
  const { plan } = await merged.run();
  expect(plan.rows.filter(({ send }) => send !== undefined)).toHaveLength(1);
  expect(hasOpenSends(merged.file.read())).toBe(false);
  expect(merged.service.ledger).toHaveLength(made);
});

describe('known keys', () => {
  const message = 'HTTP 422: used with another body [IDEMPOTENCY_KEY_REUSED]';
  const words: { [kind: string]: string } = { image: 'prompt: a lamp', music: 'prompt: a lamp, model: song-7.5' };
  const manifest = (kind: string, task = 'hero', prompt = 'a lamp') => `version: 1
name: test
budget: { credits: 50 }
prices: { image: 3, music: 3 }
tasks:
  ${task}: { kind: ${kind}, with: { ${words[kind]?.replace('a lamp', prompt)} }, retry: { attempts: 3 } }
`;

  /** A service that sold something under this key before. */
  async function runKnown(campaign: TestCampaign) {
    campaign.service.trouble = () => ({ answer: { is: 'known', message } });
    const ran = await campaign.run();
    campaign.service.trouble = () => undefined;
    return ran;
  }

  describe.each([
    ['image', 3],
    ['music', 4],
  ])('a key of kind %s that the service knows', (kind, price) => {
    test('is sent under no other key, by nobody, at any time', async () => {
      const campaign = new TestCampaign(manifest(kind));
      const { outcomes, events } = await runKnown(campaign);
      expect(outcomes).toEqual({ hero: 'unresolved' });
      const end = events.find(({ event }) => event === 'step-finished');
      expect(end).toMatchObject({ error: expect.stringContaining(message) });
      expect(end).not.toHaveProperty('recoverable');
      const merged = campaign.clone();
      merged.file.text += campaign.file.text;
      const renamed = new TestCampaign(graphOf(manifest(kind, 'cover')), {}, campaign);
      renamed.file.text = campaign.file.text;
      for (const afterMs of [0, 2 * hourMs, 20 * hourMs, 30 * hourMs]) {
        // In the end the service has forgotten the key: whatever came then would be paid.
        campaign.clock.advance(afterMs);
        for (const one of [campaign, merged, renamed]) {
          const ran = await one.run();
          expect(ran.plan.rows[0]).toMatchObject({
            action: 'unresolved',
            reason: { text: expect.stringContaining(message) },
          });
          expect(hasOpenSends(one.file.read())).toBe(true);
          expect(one.plan().totals.held).toBe(price);
        }
      }
      expect(campaign.service.creates).toHaveLength(1);
    });

    test('stays a row of its own when its step asks for something else', async () => {
      const campaign = new TestCampaign(manifest(kind));
      await runKnown(campaign);
      campaign.graph = graphOf(manifest(kind, 'hero', 'a vase'));
      const { plan } = await campaign.run();
      expect(plan.rows.map(({ action }) => action).sort()).toEqual(['create', 'unresolved']);
      expect(campaign.service.ledger).toHaveLength(1);
      expect(hasOpenSends(campaign.file.read())).toBe(true);
    });

    test('is so after a lost answer, too, and the send of another clone that is asked for finds the job of both', async () => {
      const campaign = new TestCampaign(manifest(kind));
      campaign.service.trouble = () => ({ answer: { is: 'ambiguous', message: 'reset' }, booked: true });
      await campaign.run({ onEvent: (fact, abort) => fact.event === 'create-repeated' && abort() });
      const clone = campaign.clone();
      await runKnown(clone);
      const merged = campaign.clone();
      merged.file.text = campaign.file.text + clone.file.text;
      const first = await merged.run();
      expect(first.outcomes).toEqual({ hero: 'done' });
      expect(hasOpenSends(merged.file.read())).toBe(false);
      await runKnown(campaign);
      campaign.clock.advance(30 * hourMs);
      await campaign.run();
      expect(campaign.service.ledger).toHaveLength(1);
      expect(campaign.service.creates.map(({ key }) => key)).toEqual(
        campaign.service.creates.map(() => campaign.service.ledger[0]?.key),
      );
    });

    test('stays with a person when another head takes over, too', async () => {
      const campaign = new TestCampaign(manifest(kind));
      const order = campaign.plan().rows[0]?.order;
      if (order === undefined) throw new Error('no order');
      await runKnown(campaign);
      const record = campaign.file.read().steps.get('hero');
      for (const ageMs of [0, 30 * hourMs]) {
        const facts = { replays: 'yes' as const, now: campaign.clock.now() + ageMs };
        const left = resumeOrder(order, { before: undefined, record }, facts);
        expect(left).toMatchObject({ end: { outcome: 'unresolved', error: expect.stringContaining(message) } });
      }
    });

    test('is no other purchase after a lost answer in the same run', async () => {
      const campaign = new TestCampaign(manifest(kind));
      campaign.service.trouble = (create) =>
        create === 1
          ? { answer: { is: 'ambiguous', message: 'reset' }, booked: true }
          : { answer: { is: 'known', message } };
      expect((await campaign.run()).outcomes).toEqual({ hero: 'unresolved' });
      campaign.service.trouble = () => undefined;
      campaign.clock.advance(30 * hourMs);
      expect((await campaign.run()).plan.rows[0]).toMatchObject({ action: 'unresolved' });
      expect(campaign.service.ledger).toHaveLength(1);
      expect(new Set(campaign.service.creates.map(({ key }) => key)).size).toBe(1);
    });

    test('whose refusal names the job is bought, and a notice says so', async () => {
      const campaign = new TestCampaign(manifest(kind));
      const [job] = [{ jobId: 'job-old', credits: null, balance: null }];
      const made = { jobId: 'job-old', kind, key: 'k', body: '{}', credits: 3, bookedAt: 0, readyAt: 0 };
      campaign.service.ledger.push(made);
      campaign.service.create = async () => ({ is: 'accepted', job, doubt: message });
      const { outcomes, events } = await campaign.run();
      expect(outcomes).toEqual({ hero: 'done' });
      expect(events).toContainEqual(expect.objectContaining({ event: 'noticed', address: 'hero' }));
      expect(campaign.plan().totals.alreadyPaid).toBe(price);
      expect(campaign.service.ledger).toHaveLength(1);
    });

    test('and whose job is on record for another request is left to a person', async () => {
      const campaign = new TestCampaign(manifest(kind));
      await campaign.run();
      const [booked] = campaign.service.ledger;
      campaign.graph = graphOf(manifest(kind, 'hero', 'a vase'));
      const job = { jobId: booked?.jobId ?? '', credits: null, balance: null };
      let creates = 0;
      campaign.service.create = async () => {
        creates += 1;
        return { is: 'accepted', job, doubt: message };
      };
      const { outcomes } = await campaign.run();
      expect([outcomes, creates]).toEqual([{ hero: 'unresolved' }, 1]);
      await campaign.run();
      expect(creates).toBe(1);
    });
  });

  const chain = `version: 1
name: test
prices: { image: 3 }
tasks:
  hero: { kind: image, with: { prompt: a lamp } }
  pair: { kind: image, with: { prompt: a pair, referenceImages: ["{{tasks.hero.url}}"] } }
`;

  /** At a service that signs each link again on every request, and compares the bytes of a key. */
  function makeChain(): TestCampaign {
    const campaign = new TestCampaign(chain);
    let signed = 0;
    campaign.service.comparesBytes = true;
    campaign.service.endOf = ({ jobId }) => {
      signed += 1;
      return completed(`https://files.example/${jobId}?signature=${signed}`);
    };
    return campaign;
  }

  describe('a request with a link whose signature changes', () => {
    test('finds its job where only the lock is of yesterday: its first bytes are still here', async () => {
      const campaign = makeChain();
      const before = campaign.file.text;
      await campaign.run();
      for (const text of [
        before,
        campaign.file.text
          .split('\n')
          .filter((line) => !line.includes('"pair"'))
          .join('\n'),
      ]) {
        campaign.file.text = text;
        const { outcomes } = await campaign.run();
        expect(outcomes.pair).toBe('done');
        expect(hasOpenSends(campaign.file.read())).toBe(false);
        expect(campaign.service.ledger).toHaveLength(2);
      }
    });

    test('is held where the first bytes are lost, too', async () => {
      const campaign = makeChain();
      await campaign.run();
      const clone = campaign.clone();
      for (let runs = 0; runs < 3; runs += 1) expect((await clone.run()).outcomes.pair ?? 'none').not.toBe('done');
      expect(clone.plan().rows.find(({ address }) => address === 'pair')).toMatchObject({ action: 'unresolved' });
      expect(campaign.service.ledger).toHaveLength(2);
    });

    test('that was refused, and whose refusal is repeated, is bought under the next key', async () => {
      const campaign = makeChain();
      campaign.service.repeatsRefusals = true;
      campaign.service.balance = 3;
      const first = await campaign.run();
      expect(first.outcomes).toEqual({ hero: 'done', pair: 'refused' });
      campaign.service.balance = 100;
      const again = await campaign.run();
      expect(again.outcomes).toEqual({ pair: 'done' });
      expect(campaign.service.ledger).toHaveLength(2);
      expect(campaign.file.read().steps.get('pair')?.purchases).toMatchObject([{ state: 'done', attempt: 2 }]);
    });

    test('is not forgotten by a run that dies, or that is interrupted, between the two', async () => {
      for (let line = 0; line < 8; line += 1) {
        const campaign = makeChain();
        const before = campaign.file.text;
        await campaign.run();
        campaign.file.text = before;
        if (line === 7) await campaign.run({ onEvent: (fact, abort) => fact.event === 'create-intended' && abort() });
        else await campaign.runAndDie({ line, written: true });
        const { outcomes } = await campaign.run();
        expect([undefined, 'done'], `line ${line}`).toContain(outcomes.pair);
        expect(
          campaign.plan().rows.map(({ action }) => action),
          `line ${line}`,
        ).toEqual(['keep', 'keep']);
        expect(campaign.service.ledger).toHaveLength(2);
      }
    });
  });

  describe('the lost create of a run that was killed since this one was planned', () => {
    /** Runs beside a purchase journal in which another run has left the create of one key open. */
    function runBeside(
      campaign: TestCampaign,
      other: TestCampaign,
      { address, onUnknown = 'ask' }: { address: string; onUnknown?: 'ask' | 'hold' },
    ) {
      const records = [other.file.read().steps.get(address) ?? []].flat();
      const key = records[0]?.purchases[0]?.key;
      return campaign.run({
        onUnknown,
        purchases: {
          reserve: async (one, { asks }) =>
            one === key && asks === undefined ? { is: 'known', records } : { is: 'reserved' },
          hold: async () => 'held',
          release: () => undefined,
          add: async () => undefined,
        },
      });
    }

    test('is sent again under its key, unless a person has to settle it', async () => {
      for (const onUnknown of ['ask', 'hold'] as const) {
        const campaign = new TestCampaign(manifest('image'));
        const other = await lose(campaign.clone());
        const sent = campaign.service.creates.length;
        const { outcomes } = await runBeside(campaign, other, { address: 'hero', onUnknown });
        expect(outcomes).toEqual({ hero: onUnknown === 'ask' ? 'done' : 'unresolved' });
        expect(campaign.service.creates).toHaveLength(onUnknown === 'ask' ? sent + 1 : sent);
        expect(hasOpenSends(campaign.file.read())).toBe(onUnknown === 'hold');
        expect(charged(campaign)).toBe(3);
      }
    });

    test('is not sent again if the service knows its key, because its job has to be named', async () => {
      const campaign = new TestCampaign(manifest('image'));
      const other = campaign.clone();
      await runKnown(other);
      const { outcomes, ledger } = await runBeside(campaign, other, { address: 'hero' });
      expect(outcomes).toEqual({ hero: 'unresolved' });
      expect(campaign.service.creates).toHaveLength(1);
      expect(ledger.account.held).toBe(3);
    });

    test('is not sent again with other links', async () => {
      const campaign = makeChain();
      campaign.service.comparesBytes = false;
      await campaign.run({ selected: ['hero'] });
      const other = campaign.clone();
      other.file.text = campaign.file.text;
      await lose(other);
      const sent = campaign.service.creates.length;
      const { outcomes } = await runBeside(campaign, other, { address: 'pair' });
      expect(outcomes).toEqual({ pair: 'unresolved' });
      expect(campaign.service.creates).toHaveLength(sent);
    });
  });

  test.each([
    ['against the budget', 'budget: { credits: 7 }\n', undefined, 1],
    ['not against the limit of this run', '', 6, 2],
  ])(
    'a job that another run has bought since this one was planned counts %s',
    async (_, budget, maxCredits, creates) => {
      const text = images(2, `${budget}prices: { image: 3 }`);
      const campaign = new TestCampaign(text);
      const other = campaign.clone();
      campaign.service.creditsOf = () => 5;
      await other.run({ selected: ['pic@p1'] });
      const records = [...other.file.read().steps.values()];
      const { ledger, outcomes } = await campaign.run({
        concurrency: 1,
        ...(maxCredits !== undefined && { maxCredits }),
        purchases: {
          reserve: async (key) =>
            records[0]?.purchases[0]?.key === key ? { is: 'known', records } : { is: 'reserved' },
          hold: async () => 'held',
          release: () => undefined,
          add: async () => undefined,
        },
      });
      expect(outcomes).toMatchObject({ 'pic@p1': 'done' });
      expect(campaign.service.creates).toHaveLength(creates);
      expect([ledger.account.spentNow, ledger.account.spentEver]).toEqual([5 * (creates - 1), 5 * creates]);
    },
  );
});
