import { afterEach, describe, expect, test } from 'vitest';
import { readLock } from '../../../src/lock/read.ts';
import { type Scripted, scripted } from '../scripted.ts';
import { workplaceForEach } from '../workplace.ts';

const place = workplaceForEach();

afterEach(() => {
  delete process.env.MEDIABATCH_BASE_URL;
  delete process.env.MEDIABATCH_API_KEY;
});

const manifest = `version: 1
name: films
tasks:
  shot: { kind: video, with: { prompt: "Slow push-in", duration: 4 } }
  say: { kind: voiceover, takes: 2, with: { text: Hello, voice_id: Aria } }
  pic: { kind: image, with: { prompt: a dog } }
`;

async function serve(answers: { [operation: string]: Scripted }) {
  const service = await scripted(answers);
  Object.assign(process.env, service.env);
  place.write('campaign.yaml', manifest);
  return service;
}

function lockSteps(): { [address: string]: { jobId: string | undefined; credits: number | undefined }[] } {
  const { lock } = readLock('campaign.lock.jsonl', Buffer.from(place.read('campaign.lock.jsonl')));
  return Object.fromEntries(
    [...lock.steps].map(([address, { purchases }]) => [
      address,
      purchases.map(({ jobId, credits }) => ({ jobId, credits })),
    ]),
  );
}

const video = { id: 'v1', status: 'COMPLETED', prompt: 'Slow push-in', duration: 4, model: 'm', creditsUsed: 16 };
const speech = { status: 'COMPLETED', text: 'Hello', voiceId: 'Aria' };

function lists(videos: object[], speeches: object[]): { [operation: string]: Scripted } {
  return {
    'GET /videos/all': [200, { success: true, generations: videos, pagination: { hasNextPage: false } }],
    'GET /voiceovers/all': [200, { success: true, generations: speeches, pagination: { hasNextPage: false } }],
  };
}

describe('adopt', () => {
  const speeches = [
    { ...speech, id: 's2', createdAt: '2030-01-01T00:02:00.000Z' },
    { ...speech, id: 's1', createdAt: '2030-01-01T00:01:00.000Z' },
  ];

  test('exact matches are adopted with their charge; kinds without a list are named', async () => {
    const { seen } = await serve(lists([video], speeches));
    const { code, err } = await place.run('adopt', 'campaign.yaml', '--yes');
    expect(code, err).toBe(0);
    expect(lockSteps()).toEqual({
      shot: [{ jobId: 'v1', credits: 16 }],
      'say/1': [{ jobId: 's1', credits: undefined }],
      'say/2': [{ jobId: 's2', credits: undefined }],
    });
    expect(err).toContain('no list of its image jobs; apply finds image jobs of the last 24 hours by itself');
    expect(seen.every((operation) => operation.startsWith('GET'))).toBe(true);
    const again = await place.run('adopt', 'campaign.yaml', '--yes');
    expect(again).toMatchObject({ code: 0 });
    expect(again.err).toContain('nothing was recorded');
  });

  test('records nothing without a terminal and without consent', async () => {
    await serve(lists([video], []));
    const { code, err } = await place.run('adopt', 'campaign.yaml');
    expect(code).toBe(64);
    expect(err).toContain('would adopt shot: its job is v1 (16 credits)');
    expect(() => place.read('campaign.lock.jsonl')).toThrow('ENOENT');
  });

  test('several candidates are shown, and one of them is chosen by its id', async () => {
    await serve(lists([video, { ...video, id: 'v2' }], []));
    const { code, err } = await place.run('adopt', 'campaign.yaml', '--yes');
    expect(code, err).toBe(0);
    expect(err).toContain('undecided shot could be:');
    expect(err).toMatch(/v2 {2}exact/);
    expect(() => place.read('campaign.lock.jsonl')).toThrow('ENOENT');
    const other = await place.run('adopt', 'campaign.yaml', '--yes', '--job', 'nobody');
    expect(other).toMatchObject({ code: 64 });
    await place.run('adopt', 'campaign.yaml', '--yes', '--job', 'v2');
    expect(lockSteps()).toEqual({ shot: [{ jobId: 'v2', credits: 16 }] });
  });

  test('partial matches, failed jobs and jobs of another lock are not adopted', async () => {
    await serve(
      lists(
        [
          { ...video, prompt: 'slow  push-in' },
          { ...video, id: 'v3', status: 'FAILED' },
          { ...video, id: 'v4' },
        ],
        [],
      ),
    );
    place.write(
      'other.lock.jsonl',
      '{"mediabatch":"lock","version":2}\n{"address":"x","kind":"video","fingerprint":"1:x","generation":1,"attempt":1,"state":"running","key":"k","jobId":"v4"}\n',
    );
    const { code, err } = await place.run('adopt', 'campaign.yaml', '--yes');
    expect(code, err).toBe(0);
    expect(err).toMatch(/v1 {2}near/);
    expect(err).not.toMatch(/v3|v4/);
    place.write('other.lock.jsonl', '{"mediabatch":"lock","version":2}\nnot JSON\n');
    expect(await place.run('adopt', 'campaign.yaml', '--yes')).toMatchObject({ code: 65 });
  });

  test('--json contains the same', async () => {
    await serve(lists([video], []));
    const { out } = await place.run('adopt', 'campaign.yaml', '--dry-run', '--json');
    expect(JSON.parse(out)).toMatchObject({
      command: 'adopt',
      dryRun: true,
      steps: [{ address: 'shot', result: 'recorded' }],
    });
  });
});

describe('adopt of one job', () => {
  const status = (data: object): Scripted => [200, { success: true, data }];

  test('queries the service for the job and its charge', async () => {
    await serve({ ...lists([video], []), 'GET /video/status/v1': status({ id: 'v1', status: 'COMPLETED' }) });
    const { code, err } = await place.run('adopt', 'campaign.yaml', 'shot', '--job', 'v1');
    expect(code, err).toBe(0);
    expect(lockSteps()).toEqual({ shot: [{ jobId: 'v1', credits: 16 }] });
  });

  const refused: [name: string, address: string, answers: { [operation: string]: Scripted }, text: string][] = [
    ['nobody knows it', 'pic', {}, 'the service has no image job with this id'],
    [
      'it is of another kind',
      'pic',
      { 'GET /image/status/j1': status({ id: 'j1', status: 'COMPLETED', jobType: 'THUMBNAIL' }) },
      'job j1 is of kind thumbnail',
    ],
    [
      'it failed',
      'pic',
      { 'GET /image/status/j1': status({ id: 'j1', status: 'FAILED', error: 'no \u001b[31mred' }) },
      'it failed: no',
    ],
  ];
  test.each(refused)('refused: %s', async (_name, address, answers, text) => {
    await serve(answers);
    const { code, err } = await place.run('adopt', 'campaign.yaml', address, '--job', 'j1');
    expect(code).toBe(64);
    expect(err).toContain(text);
    expect(err).not.toContain('\u001b');
    expect(() => place.read('campaign.lock.jsonl')).toThrow('ENOENT');
  });

  test('an answer about another job is refused', async () => {
    await serve({ 'GET /image/status/j1': status({ id: 'other', status: 'COMPLETED' }) });
    expect(await place.run('adopt', 'campaign.yaml', 'pic', '--job', 'j1')).toMatchObject({ code: 69 });
  });
});
