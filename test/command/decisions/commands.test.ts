import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readLock } from '../../../src/lock/read.ts';
import type { StepRecord } from '../../../src/lock/record.ts';
import type { Reason } from '../../../src/plan/plan.generated.ts';
import { expectExit } from '../../rig/command.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';
import { workplaceForEach } from '../in-process.ts';
import { guardElsewhere, type Scripted, scripted } from '../scripted.ts';
import { leaveBought, png } from './bought.ts';

describe('commands', () => {
  const place = workplaceForEach();

  const before = `version: 1
name: spring
budget: { credits: 100 }
tasks:
  hero: { kind: image, foreach: [lamp, vase], with: { prompt: "a {{row}}" }, tags: [launch] }
  cover:
    kind: image
    with: { prompt: cover, referenceImages: ["{{tasks.hero.url}}"] }
    from: { hero: { key: lamp } }
`;
  const after = before.replace('a {{row}}', 'a red {{row}}');

  function recordOf(address: string): StepRecord | undefined {
    return readLock('campaign.lock.jsonl', Buffer.from(place.read('campaign.lock.jsonl'))).lock.steps.get(address);
  }

  interface Row {
    address: string;
    action: string;
    reason: Reason;
    credits: number | null;
    wouldCost?: number;
  }

  async function plan(...args: string[]): Promise<{ [address: string]: Row }> {
    const { code, out, err } = await place.run('plan', 'campaign.yaml', '--json', ...args);
    expect(code, err).toBe(0);
    const { rows } = JSON.parse(out) as { rows: Row[] };
    return Object.fromEntries(rows.map((row) => [row.address, row]));
  }

  async function actions(): Promise<{ [address: string]: string }> {
    return Object.fromEntries(Object.entries(await plan()).map(([address, { action }]) => [address, action]));
  }

  function start(more: Parameters<typeof leaveBought>[2] = {}): void {
    leaveBought(place.folder, before, more);
  }

  describe('pin, and pin --undo', () => {
    test('a pinned step is kept despite changes, until it is unpinned', async () => {
      start();
      const pinned = await place.run('pin', 'campaign.yaml', 'hero@lamp');
      expect(pinned).toMatchObject({ code: 0, out: '' });
      expect(pinned.err).toContain('pinned hero@lamp: keeps job job-hero@lamp (5 credits)');
      place.write('campaign.yaml', after);
      expect(await plan()).toMatchObject({
        'hero@lamp': {
          action: 'keep',
          reason: {
            code: 'pinned',
            text: 'pinned; prompt: “a lamp” → “a red lamp” (would cost 5)',
            changes: [{ field: 'prompt', before: 'a lamp', after: 'a red lamp', cause: { is: 'template' } }],
          },
          wouldCost: 5,
        },
        'hero@vase': { action: 'redo' },
        cover: { action: 'keep' },
      });
      const off = await place.run('pin', 'campaign.yaml', 'hero', '--undo');
      expect(off.err).toContain('the next apply redoes it for 5 credits');
      expect(off.err).toContain('unchanged hero@vase: is not pinned');
      expect(await actions()).toEqual({ 'hero@lamp': 'redo', 'hero@vase': 'redo', cover: 'redo' });
    });

    test('status, explain and the plan show it', async () => {
      start();
      await place.run('pin', 'campaign.yaml', 'hero@lamp');
      place.write('campaign.yaml', after);
      expect((await place.run('status', 'campaign.yaml')).out).toContain(
        'pinned   1 step kept despite changes: hero@lamp',
      );
      const explained = (await place.run('explain', 'campaign.yaml', 'hero@lamp')).out;
      expect(explained).toContain(
        'price to buy the step again: 5 credits; to remove the pin: mediabatch pin campaign.yaml hero@lamp --undo\n',
      );
      expect(explained).toContain('+ prompt: a red lamp');
      const text = (await place.run('plan', 'campaign.yaml')).out;
      expect(text).toContain('1 unchanged because of a pin');
      expect(text).toContain('= hero@lamp');
    });
  });

  test('accept makes an edited file the recorded output', async () => {
    start();
    writeFileSync(join(place.folder, 'output/hero-lamp.png'), png('retouched'));
    expect(await plan()).toMatchObject({ 'hero@lamp': { action: 'download' } });
    const { err } = await expectExit(0, place.run('accept', 'campaign.yaml', 'hero@lamp'));
    expect(err).toContain('accepted hero@lamp: output/hero-lamp.png as it is now');
    expect(await actions()).toEqual({ 'hero@lamp': 'keep', 'hero@vase': 'keep', cover: 'keep' });
    expect(recordOf('hero@lamp')?.purchases[0]).toMatchObject({ revision: 1, jobId: 'job-hero@lamp' });
  });

  test('a forgotten step is planned as new; ids and credits stay', async () => {
    start();
    const { err } = await place.run('forget', 'campaign.yaml', 'hero@vase');
    expect(err).toContain('1 job of 5 credits; the budget still counts them. A redo of this step costs 5 credits');
    expect(await plan()).toMatchObject({ 'hero@vase': { action: 'create', credits: 5 } });
    expect(recordOf('hero@vase')?.purchases[0]?.jobId).toBe('job-hero@vase');
    expect((await place.run('status', 'campaign.yaml')).out).toContain('15 spent · 85 of 100 left');
  });

  test('moves purchases with their ids when key and input changed at once', async () => {
    const renamed = before.replace('[lamp, vase]', '[lantern, vase]').replace('key: lamp', 'key: lantern');
    start();
    place.write('campaign.yaml', renamed);
    expect(await actions()).toMatchObject({ 'hero@lantern': 'create', 'hero@lamp': 'orphan' });
    const { err } = await expectExit(0, place.run('move', 'campaign.yaml', 'hero@lamp', 'hero@lantern'));
    expect(err).toContain('so the next apply would redo it for 5 credits');
    expect(recordOf('hero@lamp')).toBeUndefined();
    expect(recordOf('hero@lantern')?.purchases[0]?.jobId).toBe('job-hero@lamp');
    expect(await actions()).toEqual({ 'hero@lantern': 'redo', 'hero@vase': 'keep', cover: 'redo' });
    await place.run('accept', 'campaign.yaml', 'hero@lantern');
    expect(await actions()).toEqual({ 'hero@lantern': 'move', 'hero@vase': 'keep', cover: 'keep' });
  });

  test('adopt --job --offline records a job for an unpurchased step, and resolve records its charge', async () => {
    const into = (address: string, job: string, ...more: string[]) =>
      place.run('adopt', 'campaign.yaml', address, '--job', job, ...more, '--offline');
    start({ 'hero@lamp': 'not bought' });
    const { err } = await expectExit(0, into('hero@lamp', 'paid-1'));
    expect(err).toContain('charge unknown');
    expect(await actions()).toMatchObject({ 'hero@lamp': 'attach' });
    const charge = ['--job', 'paid-1', '--credits', '4'];
    const { err: charged } = await place.run('resolve', 'campaign.yaml', 'hero@lamp', ...charge);
    expect(charged).toContain('was charged 4 credits');
    expect(recordOf('hero@lamp')?.purchases[0]).toMatchObject({ state: 'running', jobId: 'paid-1', credits: 4 });
    expect(await into('hero@lamp', 'paid-1', '--credits', '9')).toMatchObject({ code: 64 });
  });

  describe('all decisions', () => {
    test.each([
      ['pin', 'hero'],
      ['pin', 'hero', '--undo'],
      ['accept', 'hero'],
      ['forget', 'hero'],
      ['move', 'hero@lamp', 'hero@lantern'],
      ['adopt', 'hero@lantern', '--job', 'paid-1', '--offline'],
    ])('%s --dry-run prints its actions, and does not change the lock', async (command, ...args) => {
      start();
      await place.run('pin', 'campaign.yaml', ...(args.includes('--undo') ? ['hero'] : ['cover']));
      place.write('campaign.yaml', after.replace('[lamp, vase]', '[lamp, vase, lantern]'));
      const lock = place.read('campaign.lock.jsonl');
      const { code, out, err } = await place.run(command, 'campaign.yaml', ...args, '--dry-run', '--json');
      expect(code, err).toBe(0);
      const verb = args.includes('--undo') ? 'unpin' : command;
      expect(err).toContain(`would ${verb}`);
      expect(err).toContain('nothing was recorded');
      expect(JSON.parse(out)).toMatchObject({ mediabatch: 'decisions', version: 1, command: verb, dryRun: true });
      expect(place.read('campaign.lock.jsonl')).toBe(lock);
    });

    test.each(['pin', 'accept', 'forget'])('%s requires steps', async (command) => {
      start();
      expect(await place.run(command, 'campaign.yaml')).toMatchObject({ code: 64 });
      const typo = await place.run(command, 'campaign.yaml', 'hera');
      expect(typo).toMatchObject({ code: 64 });
      expect(typo.err).toContain('similar: hero@lamp');
    });
  });
});

describe('decisions', () => {
  const manifest = `version: 1
name: one
tasks:
  pic: { kind: image, with: { prompt: a dog, resolution: 1k } }
`;

  /** A campaign whose only create was sent two days ago and never answered. */
  async function unresolved(): Promise<Trial> {
    const trial = await makeTrial(manifest);
    await trial.apply();
    const [header, record] = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8').trimEnd().split('\n');
    const { jobId: _job, credits: _credits, outputs: _outputs, ...open } = JSON.parse(record ?? '{}');
    const since = new Date(Date.now() - 48 * 3_600_000).toISOString();
    trial.write(
      'campaign.lock.jsonl',
      `${header}\n${JSON.stringify({ ...open, state: 'intent', send: 'lost', since })}\n`,
    );
    return trial;
  }

  describe('resolve', () => {
    test('the plan requires a decision, and apply exits with 6 and buys nothing', async () => {
      const trial = await unresolved();
      const plan = await trial.run(['plan', 'campaign.yaml']);
      expect(plan.out).toContain('unresolved');
      const { code } = await trial.apply();
      expect(code).toBe(6);
      expect(trial.sandbox.ledger()).toHaveLength(1);
    });

    test('--job: the next apply collects it', async () => {
      const trial = await unresolved();
      const job = trial.sandbox.ledger()[0]?.id ?? '';
      const said = await trial.run(['resolve', 'campaign.yaml', 'pic', '--job', job, '--credits', '2', '--json'], {
        ends: 0,
      });
      expect(JSON.parse(said.out)).toMatchObject({
        mediabatch: 'decisions',
        steps: [{ address: 'pic', result: 'recorded' }],
      });
      await trial.apply([], { ends: 0 });
      expect(trial.sandbox.ledger()).toHaveLength(1);
    });

    test('a wrong --not-spent: the next apply uses the first key, and pays nothing twice', async () => {
      const trial = await unresolved();
      expect((await trial.run(['resolve', 'campaign.yaml', 'pic', '--not-spent'])).code).toBe(0);
      expect((await trial.apply()).code).toBe(0);
      expect(trial.sandbox.ledger()).toHaveLength(1);
    });
  });

  test('unlock needs the id that the refusal shows', async () => {
    const trial = await makeTrial(manifest);
    mkdirSync(trial.path('.mediabatch'));
    writeFileSync(trial.path('.mediabatch/campaign.lock.jsonl.guard'), guardElsewhere);
    const held = await trial.apply(['--lock-timeout', '0']);
    expect(held.code).toBe(75);
    expect(held.err).toContain('unlock campaign.yaml --id f00df00df00df00d');
    expect((await trial.run(['unlock', 'campaign.yaml', '--id', 'beefbeefbeefbeef'])).code).toBe(64);
    const unlocked = await trial.run(['unlock', 'campaign.yaml', '--id', 'f00df00df00df00d', '--json']);
    expect(unlocked.code).toBe(0);
    expect(JSON.parse(unlocked.out)).toMatchObject({ mediabatch: 'unlocked', run: 'f00df00df00df00d' });
    expect((await trial.apply()).code).toBe(0);
  });
});

describe('service', () => {
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
      const { err } = await expectExit(0, place.run('adopt', 'campaign.yaml', '--yes'));
      expect(lockSteps()).toEqual({
        shot: [{ jobId: 'v1', credits: 16 }],
        'say/1': [{ jobId: 's1', credits: undefined }],
        'say/2': [{ jobId: 's2', credits: undefined }],
      });
      expect(err).toContain('cannot list image jobs; apply finds image jobs of the last 24 hours by their');
      expect(seen.every((operation) => operation.startsWith('GET'))).toBe(true);
      const again = await place.run('adopt', 'campaign.yaml', '--yes');
      expect(again).toMatchObject({ code: 0 });
      expect(again.err).toContain('nothing was recorded');
    });

    test('a job replaces a lost job', async () => {
      await serve(lists([video], []));
      await place.run('adopt', 'campaign.yaml', 'shot', '--job', 'v0', '--offline');
      place.write('campaign.lock.jsonl', place.read('campaign.lock.jsonl').replace('"running"', '"lost"'));
      await expectExit(0, place.run('adopt', 'campaign.yaml', '--yes'));
      expect(lockSteps().shot?.map(({ jobId }) => jobId)).toContain('v1');
    });

    test('records nothing without a terminal and without consent', async () => {
      await serve(lists([video], []));
      const { code, err } = await place.run('adopt', 'campaign.yaml');
      expect(code).toBe(64);
      expect(err).toContain('would adopt shot: job v1 (16 credits)');
      expect(() => place.read('campaign.lock.jsonl')).toThrow('ENOENT');
    });

    test('several candidates are shown, and none is adopted', async () => {
      await serve(lists([video, { ...video, id: 'v2' }], []));
      const { err } = await expectExit(0, place.run('adopt', 'campaign.yaml', '--yes'));
      expect(err).toContain('undecided shot: its job may be:');
      expect(err).toMatch(/v2 {2}exact/);
      expect(() => place.read('campaign.lock.jsonl')).toThrow('ENOENT');
      expect(await place.run('adopt', 'campaign.yaml', '--yes', '--job', 'v2')).toMatchObject({ code: 64 });
      expect(err).toContain('adopt campaign.yaml shot --job v1\n');
    });
  });

  test('adopt of one job queries the service for the job and its charge', async () => {
    const status = (data: object): Scripted => [200, { success: true, data }];
    await serve({ ...lists([video], []), 'GET /video/status/v1': status({ id: 'v1', status: 'COMPLETED' }) });
    await expectExit(0, place.run('adopt', 'campaign.yaml', 'shot', '--job', 'v1'));
    expect(lockSteps()).toEqual({ shot: [{ jobId: 'v1', credits: 16 }] });
  });
});
