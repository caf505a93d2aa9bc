import { describe, expect, test } from 'vitest';
import { actionsOf, TestCampaign } from '../../rig/campaign.ts';
import { completed } from '../../rig/scripted-service.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';

const url = (address: string, field = 'url') => ({ $ref: address, field });

const logo: WrittenStep = {
  address: 'logo',
  kind: 'upload',
  request: { file: 'assets/logo.png' },
  file: { path: 'assets/logo.png', sha256: 'ab'.repeat(32), bytes: 3 },
};

describe('uploads', () => {
  test('a file goes up once, costs nothing, and its URL is what others use', async () => {
    const pic: WrittenStep = {
      address: 'pic',
      kind: 'image',
      request: { prompt: 'a', referenceImages: [url('logo')] },
    };
    const campaign = new TestCampaign(graphOfSteps([logo, pic], { budget: 3 }));
    const first = await campaign.run();
    expect(first.outcomes).toEqual({ logo: 'done', pic: 'done' });
    expect(campaign.service.creates[0]?.body).toContain('https://library.example/assets/logo.png');
    expect(first.ledger.account.spentNow).toBe(3);
    const again = await campaign.run();
    expect(actionsOf(again.plan)).toEqual({ logo: 'keep', pic: 'keep' });
    expect(campaign.service.library).toEqual(['assets/logo.png']);
  });
});

describe('posts', () => {
  const pic = (name: string): WrittenStep => ({ address: `pic@${name}`, kind: 'image', request: { prompt: name } });
  const post: WrittenStep = { address: 'post', kind: 'post', request: { caption: 'new', media: [url('pic@a')] } };

  test('are sent when everything else has ended, and once', async () => {
    const campaign = new TestCampaign(graphOfSteps([pic('a'), post, pic('b'), pic('c')]));
    campaign.service.creditsOf = (body) => (body.includes('caption') ? 0 : 3);
    const { outcomes, events } = await campaign.run({ concurrency: 1 });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
    const bodies = campaign.service.creates.map(({ body }) => body);
    expect(bodies.at(-1)).toContain('caption');
    const ends = events.flatMap((event) => (event.event === 'step-finished' ? [event.address] : []));
    expect(ends.at(-1)).toBe('post');
    expect(actionsOf((await campaign.run()).plan).post).toBe('keep');
    expect(campaign.service.creates).toHaveLength(4);
  });

  test('what waits for a post does not hold it up', async () => {
    const after: WrittenStep = { address: 'after', kind: 'image', request: { prompt: 'after' }, needs: ['post'] };
    const campaign = new TestCampaign(graphOfSteps([pic('a'), post, after]));
    campaign.service.creditsOf = (body) => (body.includes('caption') ? 0 : 3);
    expect((await campaign.run()).outcomes).toEqual({ 'pic@a': 'done', post: 'done', after: 'done' });
  });
});

describe('parts of an output', () => {
  const talk: WrittenStep = { address: 'talk', kind: 'clipping', request: { videoUrl: 'https://a.example/v' } };
  const short = (index: number): WrittenStep => ({
    address: `short@${index + 1}`,
    kind: 'image',
    request: { prompt: `short ${index + 1}`, referenceImages: [url('talk', `clips.${index}.url`)] },
    part: { of: 'talk', index },
  });
  const steps = [talk, short(0), short(1), short(2), short(3)];
  const clips = (count: number) =>
    completed(...Array.from({ length: count }, (_, index) => `https://files.example/clip-${index}`));

  test('steps past the last part are not needed, and cost nothing', async () => {
    const campaign = new TestCampaign(graphOfSteps(steps));
    campaign.service.endOf = ({ body }) => (body.includes('videoUrl') ? clips(2) : undefined);
    const { outcomes } = await campaign.run();
    expect(outcomes).toEqual({
      talk: 'done',
      'short@1': 'done',
      'short@2': 'done',
      'short@3': 'unneeded',
      'short@4': 'unneeded',
    });
    expect(campaign.service.creates.map(({ body }) => JSON.parse(body).referenceImages?.[0])).toEqual([
      undefined,
      'https://files.example/clip-0',
      'https://files.example/clip-1',
    ]);
    expect([...campaign.outputs.files.keys()].sort()).toEqual([
      'output/short-1.png',
      'output/short-2.png',
      'output/talk-1.png',
      'output/talk-2.png',
    ]);
    const again = await campaign.run();
    expect(new Set(Object.values(actionsOf(again.plan)))).toEqual(new Set(['keep']));
    expect(again.plan.rows.filter(({ unneeded }) => unneeded).map(({ address }) => address)).toEqual([
      'short@3',
      'short@4',
    ]);
    expect(campaign.service.creates).toHaveLength(3);
  });

  test('what uses a step that is not needed is not needed either; a list only gets shorter', async () => {
    const thumb = (number: number): WrittenStep => ({
      address: `thumb@${number}`,
      kind: 'image',
      request: { prompt: `thumb ${number}`, referenceImages: [url(`short@${number}`)] },
    });
    const sheet: WrittenStep = {
      address: 'sheet',
      kind: 'image',
      request: { prompt: 'sheet', referenceImages: [1, 2, 3, 4].map((number) => url(`short@${number}`)) },
    };
    const campaign = new TestCampaign(graphOfSteps([...steps, thumb(2), thumb(3), sheet]));
    campaign.service.endOf = ({ body }) => (body.includes('videoUrl') ? clips(2) : undefined);
    const { outcomes } = await campaign.run();
    expect(outcomes).toMatchObject({ 'thumb@2': 'done', 'thumb@3': 'unneeded', sheet: 'done' });
    const body = campaign.service.creates.find((create) => create.body.includes('sheet'))?.body ?? '{}';
    expect(JSON.parse(body).referenceImages).toHaveLength(2);
    expect(actionsOf(campaign.plan())).toMatchObject({ 'thumb@3': 'keep', sheet: 'keep' });
  });

  test('a job that gives no parts is done', async () => {
    const campaign = new TestCampaign(graphOfSteps(steps));
    campaign.service.endOf = ({ body }) =>
      body.includes('videoUrl') ? { is: 'completed', result: { values: {}, files: [], parts: 0 } } : undefined;
    expect(new Set(Object.values((await campaign.run()).outcomes))).toEqual(new Set(['done', 'unneeded']));
    expect(new Set(Object.values(actionsOf(campaign.plan())))).toEqual(new Set(['keep']));
  });
});

describe('retry', () => {
  const pic = (retry: WrittenStep['retry']): WrittenStep => ({
    address: 'pic',
    kind: 'image',
    request: { prompt: 'a' },
    ...(retry !== undefined && { retry }),
  });
  const failing = (campaign: TestCampaign, times: number, error = 'out of memory') => {
    campaign.service.endOf = ({ jobId }) =>
      campaign.service.ledger.findIndex((job) => job.jobId === jobId) < times ? { is: 'failed', error } : undefined;
  };

  test('buys a failed job again in the same run, under a key of its own', async () => {
    const campaign = new TestCampaign(graphOfSteps([pic({ attempts: 3 })]));
    failing(campaign, 2);
    const { outcomes, plan, events, ledger } = await campaign.run();
    expect(plan.rows[0]?.mayRetry).toBeNull();
    expect(outcomes).toEqual({ pic: 'done' });
    expect(new Set(campaign.service.ledger.map(({ key }) => key)).size).toBe(3);
    expect(events.filter(({ event }) => event === 'job-retried')).toHaveLength(2);
    expect(ledger.account.spentNow).toBe(9);
    expect(events.find((event) => event.event === 'step-finished')).toMatchObject({ credits: 9 });
    expect(actionsOf((await campaign.run()).plan)).toEqual({ pic: 'keep' });
  });

  test('another name counts on, also after another request', async () => {
    const named = (address: string, prompt: string): WrittenStep => ({
      ...pic({ attempts: 2 }),
      address,
      request: { prompt },
    });
    const campaign = new TestCampaign(graphOfSteps([named('a', 'p')]));
    failing(campaign, 99);
    await campaign.run();
    campaign.graph = graphOfSteps([named('a', 'q')]);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(4);
    campaign.graph = graphOfSteps([named('b', 'q')]);
    const renamed = await campaign.run();
    expect(renamed.plan.rows[0]).toMatchObject({
      action: 'failed',
      reason: { text: expect.stringContaining('all 2 attempts') },
    });
    expect((await campaign.run()).plan.rows[0]).toMatchObject({ action: 'failed' });
    expect(campaign.service.ledger).toHaveLength(4);
  });

  test('dying anywhere never buys more than the attempts', async () => {
    for (let line = 0; line < 9; line += 1) {
      for (const written of [true, false]) {
        const campaign = new TestCampaign(graphOfSteps([pic({ attempts: 3 })]));
        failing(campaign, 2);
        await campaign.runAndDie({ line, written });
        await campaign.run();
        expect(campaign.service.ledger.length, `line ${line}`).toBe(3);
        expect(new Set(campaign.service.ledger.map(({ key }) => key)).size).toBe(3);
        expect(actionsOf(campaign.plan())).toEqual({ pic: 'keep' });
      }
    }
  });
});
