import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Campaign, makeCampaign, priceOf } from './branches.ts';
import { expectOpen, expectSettled, idsMissing } from './checks.ts';
import type { Copy } from './working-copy.ts';

/** What the first version of the lock wrote of the step `hero`, by kind. What is bought has had the same names since. */
const written: { [kind: string]: { fingerprint: string; key: string; request: object } } = {
  image: {
    fingerprint: '1:86768c2a5af80146456101169d742c59a9c9e39ef07dbe68d0caf7f4b3dc1d3f',
    key: 'mb1-c0ae9bd8702af198436d58666fa7aa6ff643c81e',
    request: { prompt: 'a lamp', resolution: '1k' },
  },
  video: {
    fingerprint: '1:a23bfd9588fbf5c56fbf5a0a87b3612579dfb70f417bab4d6a7bd4c1fcd99702',
    key: 'mb1-d2f957d6a88cea70ab736c96e698b97bc7a36a84',
    request: { prompt: 'a lamp' },
  },
  influencer: {
    fingerprint: '1:9ab85283877cde5db9924680e18aee2374ddd0418c96efbc73e13eed72053bdc',
    key: 'mb1-4f5abad480ac73d7746c0ebf80a0694ad049a9c6',
    request: { prompt: 'a lamp' },
  },
};

/** A line as the first version kept it. */
function line(kind: string, more: object): string {
  const { fingerprint, key, request } = written[kind] ?? { fingerprint: '', key: '', request: {} };
  return JSON.stringify({ address: 'hero', kind, fingerprint, generation: 1, attempt: 1, key, ...more, request });
}

const openLine = (kind: string, at: number, fence?: string) =>
  line(kind, {
    state: kind === 'image' ? 'intent' : 'unresolved',
    since: new Date(at).toISOString(),
    ...(fence !== undefined && { fence }),
  });

/** The lock as it would have been: what is there now in the old form, with these lines about `hero`. */
function writeOld(copy: Copy, lines: string[]): void {
  const [header = '', ...others] = copy.lock.trimEnd().split('\n');
  const old = header.replace(/"version":\d+/, '"version":1');
  writeFileSync(
    copy.lockPath,
    `${[old, ...others.filter((other) => !other.includes('"hero"')), ...lines].join('\n')}\n`,
  );
}

/** Creates of `hero` that left elsewhere: nothing is known of them here but what is written into the lock. */
async function bookElsewhere(
  { studio, copy, subject, known }: Campaign,
  kind: string,
  times: number,
): Promise<string[]> {
  const { service } = studio;
  for (let count = 0; count < times; count += 1) {
    const elsewhere = studio.copy();
    writeFileSync(elsewhere.lockPath, copy.lock);
    // Each of them is a charge of its own.
    elsewhere.name = `elsewhere-${count}`;
    elsewhere.tasks({ ...known, hero: { kind, says: 'a lamp' } });
    expect(await elsewhere.applyUnanswered(subject)).toBe(true);
  }
  return service.idsOf(subject);
}

/** A lock is there, of this service. */
async function begin(kind: string): Promise<Campaign> {
  const campaign = await makeCampaign(kind, { other: { kind: 'image', says: 'a rug' } });
  await campaign.copy.apply('-s', 'other');
  return campaign;
}

const rug = { 'image a rug': 1 };

async function decide(copy: Copy, ids: string[]): Promise<void> {
  for (const id of ids) {
    const { code, err } = await copy.resolve('hero', '--job', id, '--credits', '8');
    expect(code, err).toBe(0);
  }
}

describe('a lock of the first version', () => {
  test.each(['image', 'video'])('%s: its open create is asked for', async (kind) => {
    const { studio, copy, subject, known, booked } = await begin(kind);
    const fence = kind === 'video' ? studio.service.ledger.find((job) => job.kind === kind)?.id : undefined;
    const elsewhere = studio.copy();
    elsewhere.tasks({ ...known, hero: { kind, says: 'a lamp' } });
    writeFileSync(elsewhere.lockPath, copy.lock);
    expect(await elsewhere.applyUnanswered(subject)).toBe(true);
    writeOld(copy, [openLine(kind, studio.time.now(), fence)]);
    await expectOpen(copy, studio.service, priceOf(kind));
    await expectSettled(copy, studio.service, { ...booked(1), ...rug });
  });

  test.each([
    ['behind', false],
    ['before', true],
  ])('an open create %s the job of another branch', async (_, isFirst) => {
    const campaign = await begin('influencer');
    const { studio, copy, booked } = campaign;
    const [lost = '', bought = ''] = await bookElsewhere(campaign, 'influencer', 2);
    const lines = [
      line('influencer', { state: 'done', jobId: bought, credits: 8, outputs: [] }),
      openLine('influencer', studio.time.now()),
    ];
    writeOld(copy, isFirst ? lines.reverse() : lines);
    expect(await copy.credits()).toMatchObject({ spent: 8 + 3, held: 8 });
    await expectOpen(copy, studio.service, 8);
    await decide(copy, [lost]);
    await expectSettled(copy, studio.service, { ...booked(2), ...rug });
  });

  test('two open creates of two branches, under the one key that both had', async () => {
    const campaign = await begin('influencer');
    const { studio, copy, booked } = campaign;
    const ids = await bookElsewhere(campaign, 'influencer', 2);
    const now = studio.time.now();
    writeOld(copy, [openLine('influencer', now - 60_000), openLine('influencer', now)]);
    expect(await copy.credits()).toMatchObject({ held: 16 });
    await decide(copy, ids);
    await expectSettled(copy, studio.service, { ...booked(2), ...rug });
  });

  test.each([
    ['a refusal', { state: 'refused', error: 'HTTP 402: insufficient credits' }],
    ['a refusal that was forgotten', { state: 'refused', error: 'HTTP 402', decisions: { forgotten: 1 } }],
  ])('an open create beside %s', async (_, more) => {
    const campaign = await begin('influencer');
    const { studio, copy, booked } = campaign;
    const ids = await bookElsewhere(campaign, 'influencer', 1);
    writeOld(copy, [openLine('influencer', studio.time.now()), line('influencer', more)]);
    await expectOpen(copy, studio.service, 8);
    await decide(copy, ids);
    await expectSettled(copy, studio.service, { ...booked(1), ...rug });
  });

  test.each([true, false])(
    'a lost video beside another branch’s job that still ran (open first: %s)',
    async (isFirst) => {
      const campaign = await begin('video');
      const { studio, copy, booked } = campaign;
      const { service } = studio;
      const fence = service.ledger.find((job) => job.kind === 'video')?.id;
      const [, running = ''] = await bookElsewhere(campaign, 'video', 2);
      const lines = [
        openLine('video', studio.time.now(), fence),
        // A settled lock of version 1 kept the time of a job that ran.
        line('video', {
          state: 'running',
          jobId: running,
          credits: 10,
          since: new Date(studio.time.now()).toISOString(),
        }),
      ];
      writeOld(copy, isFirst ? lines : lines.reverse());
      await copy.apply();
      expect(idsMissing(copy, service)).toEqual([]);
      await expectSettled(copy, service, { ...booked(2), ...rug });
    },
  );
});
