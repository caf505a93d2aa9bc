import { describe, expect, test } from 'vitest';
import { images, TestCampaign } from '../../rig/campaign.ts';

const slowDiskMs = 400;

/** A campaign whose disk takes its time, and who looks over its shoulder. */
function watchedCampaign(steps: number): { campaign: TestCampaign; seen: { early: string[]; late: string[] } } {
  const campaign = new TestCampaign(images(steps));
  const { file, service, clock } = campaign;
  const seen = { early: [] as string[], late: [] as string[] };
  const append = file.append.bind(file);
  file.append = async (line) => {
    await clock.sleep(slowDiskMs);
    await append(line);
  };
  const create = service.create.bind(service);
  service.create = (order) => {
    if (!file.text.includes(order.key)) seen.early.push(order.key);
    return create(order);
  };
  const watch = service.watch.bind(service);
  service.watch = (job, options) => {
    if (!file.text.includes(`"${job.jobId}"`)) seen.late.push(job.jobId);
    return watch(job, options);
  };
  return { campaign, seen };
}

describe('what must be durable before what', () => {
  test('I2 no create leaves before its intent is in the lock, on a slow disk either', async () => {
    const { campaign, seen } = watchedCampaign(6);
    await campaign.run({ concurrency: 3 });
    expect(campaign.service.creates).toHaveLength(6);
    expect(seen.early).toEqual([]);
  });

  test('I2 on a disk that fails at any line, nothing is sent that has no intent there', async () => {
    for (let line = 0; line < 14; line += 1) {
      const { campaign, seen } = watchedCampaign(4);
      campaign.file.failAfter = line;
      await campaign.run({ unsettled: true }).catch(() => {});
      expect(seen.early, `failing after ${line} lines`).toEqual([]);
      for (const { key } of campaign.service.creates) expect(campaign.file.text).toContain(key);
    }
  });

  test('I3 a job is not looked at before its id is in the lock', async () => {
    const { campaign, seen } = watchedCampaign(6);
    await campaign.run({ concurrency: 3 });
    expect(campaign.service.requests.filter(({ call }) => call === 'watch')).toHaveLength(6);
    expect(seen.late).toEqual([]);
  });

  test('I3 a listener of a job finds its id on disk', async () => {
    const { campaign } = watchedCampaign(4);
    const onDisk: boolean[] = [];
    await campaign.run({
      onEvent: (fact) => {
        if (fact.event === 'job-created') onDisk.push(campaign.file.text.includes(fact.jobId));
      },
    });
    expect(onDisk).toEqual([true, true, true, true]);
  });
});

describe('answers that say nothing', () => {
  test('I4 a create is sent again under the same key and bytes, or not at all', async () => {
    for (const booked of [true, false]) {
      for (const canReplay of [true, false]) {
        const campaign = new TestCampaign(images(3));
        campaign.service.canReplay = canReplay;
        campaign.service.trouble = (create) =>
          create % 2 === 1 ? { answer: { is: 'ambiguous', message: 'lost' }, booked } : undefined;
        await campaign.run();
        campaign.service.trouble = () => undefined;
        await campaign.run();
        const sent = new Set(campaign.service.creates.map(({ key, body }) => `${key} ${body}`));
        expect(sent.size).toBe(new Set(campaign.service.creates.map(({ body }) => body)).size);
        // What cannot be asked again is sent once, whatever became of it.
        if (!canReplay) expect(campaign.service.creates).toHaveLength(sent.size);
      }
    }
  });
});

describe('a storm', () => {
  const storms = [
    { name: '503', answer: { is: 'ambiguous', message: 'HTTP 503' } },
    { name: '429', answer: { is: 'throttled', afterMs: 0, message: 'HTTP 429' } },
    { name: 'nobody there', answer: { is: 'not-sent', message: 'ECONNREFUSED' } },
  ] as const;

  test.each(storms)('I16 of $name is met with a bounded number of requests', async ({ answer }) => {
    const steps = 6;
    const campaign = new TestCampaign(images(steps));
    campaign.service.trouble = () => ({ answer });
    const began = campaign.clock.now();
    const sentAt: number[] = [];
    const create = campaign.service.create.bind(campaign.service);
    campaign.service.create = (order) => {
      sentAt.push(campaign.clock.now() - began);
      return create(order);
    };
    await campaign.run({ concurrency: 3 });
    const last = sentAt.at(-1) ?? 0;
    // At most eight times each; whoever is told to wait waits a second at least, and nobody goes on for ever.
    const bound = answer.is === 'throttled' ? 3 * (last / 1000 + 1) : steps * 8;
    expect(sentAt.length).toBeGreaterThan(steps);
    expect(sentAt.length).toBeLessThanOrEqual(bound);
    expect(last).toBeLessThanOrEqual(steps * 11 * 60_000);
    expect(campaign.service.ledger).toHaveLength(0);
  });
});
