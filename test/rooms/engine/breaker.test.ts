import { describe, expect, test } from 'vitest';
import { images, TestCampaign } from '../../rig/campaign.ts';

const failed = (error = 'render failed') => ({ is: 'failed' as const, error });
const onError = 'wait' as const;

describe('what fails alike', () => {
  test('I39 is not bought forty times: after five of a task and price, none done, the others wait', async () => {
    const campaign = new TestCampaign(images(40, 'prices: { image: 3 }'));
    campaign.service.endOf = ({ jobId }) => failed(`render ${jobId} failed after ${jobId.length} s`);
    const { events, outcomes } = await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBeLessThanOrEqual(13);
    const bought = campaign.service.ledger.length;
    const left = Object.values(outcomes).filter((outcome) => outcome === 'left');
    expect(left).toHaveLength(40 - bought);
    expect(events.filter(({ event }) => event === 'spending-stopped')).toEqual([
      {
        event: 'spending-stopped',
        because: 'alike',
        detail: expect.stringMatching(
          new RegExp(
            `^pic: the first ${bought} all failed: render .* failed after .*; ${40 - bought} not bought \\(${3 * (40 - bought)} credits\\)$`,
          ),
        ),
      },
    ]);
  });

  test('goes on where one is done, where each fails for a reason of its own, and with `continue`', async () => {
    const some = new TestCampaign(images(40));
    some.service.endOf = ({ body }) => (/a p([1-79]|1[0-9])"/.test(body) ? failed() : undefined);
    await some.run({ onError, concurrency: 8 });
    expect(some.service.ledger).toHaveLength(40);
    const words = ['dark', 'bright', 'long', 'short', 'loud', 'quiet', 'red', 'green', 'blue', 'grey'];
    const others = new TestCampaign(images(10));
    others.service.endOf = ({ jobId }) => failed(`too ${words[Number(jobId.split('-').at(-1)) % 10]}`);
    await others.run({ onError, concurrency: 3 });
    expect(others.service.ledger).toHaveLength(10);
    const all = new TestCampaign(images(20));
    all.service.endOf = () => failed();
    await all.run({ onError: 'continue', concurrency: 8 });
    expect(all.service.ledger).toHaveLength(20);
  });

  test('holds for refusals, too, and for each task alone', async () => {
    const campaign = new TestCampaign(`version: 1
name: two
tasks:
  pic: { kind: image, foreach: [${Array.from({ length: 30 }, (_, nth) => `r${nth}`).join(', ')}], with: { prompt: "a {{row}}" } }
  other: { kind: image, foreach: [x, y, z], with: { prompt: "good {{row}}" } }
`);
    campaign.service.trouble = (_create, body) =>
      body.includes('good')
        ? undefined
        : { answer: { is: 'refused', status: 400, why: 'invalid', message: 'prompt was moderated' }, booked: false };
    const { outcomes } = await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(3);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'refused').length).toBeLessThanOrEqual(13);
  });

  test('is tried by one alone in the next run, and goes on when that is done', async () => {
    const campaign = new TestCampaign(images(40));
    campaign.service.endOf = () => failed();
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBe(before + 1);
    expect(before + 1).toBeLessThanOrEqual(13);
    campaign.service.endOf = () => undefined;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(40);
  });

  test('holds for outputs that do not fit, whatever their names, and the next run tries one alone', async () => {
    const words = ['dark', 'bright', 'long', 'short', 'loud', 'quiet', 'red', 'green', 'blue', 'grey'];
    const rows = words.flatMap((one) => words.slice(0, 3).map((other) => `${one}-${other}`)).join(', ');
    const text = `version: 1
name: unfit
tasks:
  pic: { kind: image, foreach: [${rows}], expect: { type: image/tiff }, with: { prompt: "a {{row}}" }, save: "pic/{{row}}" }
`;
    const campaign = new TestCampaign(text);
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    expect(before).toBeLessThanOrEqual(13);
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(before + 1);
  });

  test('is not bought more often by a run that was killed, and its next one', async () => {
    const campaign = new TestCampaign(images(40));
    campaign.service.endOf = () => failed();
    for (const line of [20, 24, 3]) await campaign.runAndDie({ line, written: true }, { onError, concurrency: 8 });
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBeLessThanOrEqual(13);
  });

  test('is not bought again by `retry:` either, in this run or the next, until one is done', async () => {
    const campaign = new TestCampaign(images(40).replace('kind: image,', 'kind: image, retry: { attempts: 3 },'));
    campaign.service.endOf = () => failed();
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    expect(before).toBeLessThanOrEqual(13);
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBe(before + 1);
    campaign.service.endOf = () => undefined;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.plan().totals.knownPrices).toBe(0);
  });
});
