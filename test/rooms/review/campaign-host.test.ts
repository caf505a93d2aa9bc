import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { ReviewAsset, ReviewData, WantedVerdict } from '../../../src/contract/review.ts';
import { takeGuard } from '../../../src/disk/lock/guard.ts';
import { readLock } from '../../../src/lock/read.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { CampaignHost } from '../../../src/review/campaign-host.ts';
import { leaveBought, png } from '../../command/decisions/bought.ts';
import type { AnyFacts } from '../../rig/facts-of-purchase.ts';
import { makeFolder } from '../../rig/folder.ts';

const manifest = `version: 1
name: spring
prices: { image: 2 }
tasks:
  hero:
    kind: image
    foreach: [lamp, vase]
    key: "{{row}}"
    takes: 2
    gate: { choose: 1, note: the calm one }
    tags: [launch]
    with: { prompt: "a {{row}}", resolution: 1k }
  style: { kind: image, matrix: { tone: [warm, cold] }, gate: approve, with: { prompt: "{{matrix.tone}}" } }
  poster: { kind: image, foreach: [lamp, vase], key: "{{row}}", with: { prompt: poster, referenceImages: ["{{tasks.hero.url}}"] } }
  card: { kind: image, foreach: [lamp, vase], key: "{{row}}", with: { prompt: card, referenceImages: ["{{tasks.poster.url}}"] } }
  notes: { kind: music, with: { prompt: quiet, model: song-7.5 } }
`;
const notBought = Object.fromEntries(
  ['poster', 'card'].flatMap((task) => ['lamp', 'vase'].map((key) => [`${task}@${key}`, 'not bought' as const])),
);

interface Opened {
  folder: string;
  host: CampaignHost;
  look(): Promise<ReviewData & { at(address: string): ReviewAsset }>;
  wanted(address: string, is: WantedVerdict['is'], note?: string): Promise<WantedVerdict>;
  lock(): Lock;
  setLock(change: (lock: Lock) => void): void;
}

async function open(
  options: { select?: string[]; more?: { [address: string]: AnyFacts | 'not bought' } } = {},
): Promise<Opened> {
  const folder = makeFolder();
  leaveBought(folder, manifest, { ...notBought, ...options.more });
  const campaign = await openCampaign(join(folder, 'campaign.yaml'));
  const paste = ({ call, words }: { call: string; words: readonly string[] }) =>
    ['mediabatch', call, ...words].join(' ');
  const host = new CampaignHost(campaign, { select: options.select, paste });
  onTestFinished(() => host.close());
  const path = join(folder, 'campaign.lock.jsonl');
  const lock = () => readLock('campaign.lock.jsonl', readFileSync(path)).lock;
  const look = async () => {
    const data = await host.read();
    return {
      ...data,
      at(address: string) {
        const found = data.assets.find((asset) => asset.address === address);
        if (found === undefined) throw new Error(`${address} is not shown`);
        return found;
      },
    };
  };
  return {
    ...{ folder, host, lock, look },
    setLock(change) {
      const changed = lock();
      change(changed);
      writeFileSync(path, writeLock(changed));
    },
    async wanted(address, is, note) {
      return { address, is, job: (await look()).at(address).job ?? '', ...(note !== undefined && { note }) };
    },
  };
}

function withoutCredits({ credits: _credits, ...purchase }: Purchase): Purchase {
  return purchase;
}

async function changed(host: CampaignHost, act: () => void): Promise<void> {
  const noticed = new Promise<void>((resolve) => {
    const stop = host.watch(() => {
      stop();
      resolve();
    });
  });
  act();
  await noticed;
}

describe('what is shown', () => {
  test('groups are gates, else keys of a task, in the order of the manifest', async () => {
    const { look } = await open();
    const { groups, assets, campaign, canDecide } = await look();
    expect({ campaign, canDecide }).toEqual({ campaign: 'spring', canDecide: true });
    const told = groups.map(({ name, key, differBy, members }) => ({
      ...{ name, key, differBy, members: members.map((index) => assets[index]?.address) },
    }));
    expect(told).toEqual([
      { name: 'hero@lamp', key: 'lamp', differBy: ['take'], members: ['hero@lamp/1', 'hero@lamp/2'] },
      { name: 'hero@vase', key: 'vase', differBy: ['take'], members: ['hero@vase/1', 'hero@vase/2'] },
      { name: 'style@warm', key: undefined, differBy: [], members: ['style@warm'] },
      { name: 'style@cold', key: undefined, differBy: [], members: ['style@cold'] },
      { name: 'poster@lamp', key: 'lamp', differBy: [], members: ['poster@lamp'] },
      { name: 'poster@vase', key: 'vase', differBy: [], members: ['poster@vase'] },
      { name: 'card@lamp', key: 'lamp', differBy: [], members: ['card@lamp'] },
      { name: 'card@vase', key: 'vase', differBy: [], members: ['card@vase'] },
      { name: 'notes', key: undefined, differBy: [], members: ['notes'] },
    ]);
    expect(groups[0]?.gate).toEqual({
      ...{
        is: 'choose',
        choose: 1,
        state: 'open',
        note: 'the calm one',
        waiting: 2,
        waitingWhat: 'picture',
        waitingCredits: 10,
      },
    });
    expect(groups[2]?.gate).toEqual({ is: 'approve', choose: 1, state: 'open', waiting: 0, waitingCredits: 0 });
    expect(groups[4]?.gate).toBeUndefined();
  });

  test('an asset says what it is, what it cost, and what it hangs together with', async () => {
    const { look } = await open();
    const { at } = await look();
    expect(at('hero@lamp/2')).toMatchObject({
      ...{ task: 'hero', kind: 'image', key: 'lamp', take: 2, tags: ['launch'], state: 'done', credits: 5 },
      ...{ request: { prompt: 'a lamp', resolution: '1k' }, differs: [], isJudged: true, earlier: [] },
      ...{ job: 'job-hero@lamp/2', madeFrom: [], usedBy: ['poster@lamp'] },
      files: [{ is: 'image', mediaType: 'image/png', bytes: png('hero@lamp/2').length }],
    });
    expect(at('poster@lamp')).toMatchObject({
      ...{ state: 'planned', files: [], isJudged: false, usedBy: ['card@lamp'] },
      madeFrom: ['hero@lamp/1', 'hero@lamp/2'],
    });
    expect(at('poster@lamp')).not.toHaveProperty('credits');
    expect(at('notes')).toMatchObject({ state: 'done', isJudged: false });
    expect(at('style@cold')).toMatchObject({ matrix: { tone: 'cold' }, isJudged: true });
  });

  test('of the steps that are selected only', async () => {
    const { look } = await open({ select: ['hero@vase'] });
    const { groups, assets } = await look();
    expect(groups.map(({ name }) => name)).toEqual(['hero@vase']);
    expect(assets.map(({ address }) => address)).toEqual(['hero@vase/1', 'hero@vase/2']);
  });

  test('what fails, runs or is not known, in the words of the service', async () => {
    const { look } = await open({
      more: {
        'hero@lamp/1': { state: 'failed', error: 'moderated [moderated]' },
        'hero@lamp/2': { state: 'running' },
        'hero@vase/1': { state: 'refused', error: 'HTTP 400: no' },
        'hero@vase/2': { state: 'unresolved' },
        notes: { state: 'lost' },
      },
    });
    const { at } = await look();
    expect(at('hero@lamp/1')).toMatchObject({ state: 'failed', error: 'moderated [moderated]', isJudged: false });
    expect(at('hero@lamp/2')).toMatchObject({ state: 'running', isJudged: false });
    expect(at('hero@vase/1')).toMatchObject({ state: 'failed', error: 'HTTP 400: no' });
    expect(at('hero@vase/2')).toMatchObject({ state: 'unresolved' });
    expect(at('notes')).toMatchObject({ state: 'failed' });
  });

  test('in which fields a request differs from others at its gate, and what was bought before its input changed', async () => {
    const { folder, host, look } = await open();
    const text = manifest
      .replace('gate: approve', 'gate: { choose: 1, among: tone }')
      .replace('a {{row}}', 'a red {{row}}');
    await look();
    await changed(host, () => writeFileSync(join(folder, 'campaign.yaml'), text));
    const { at, groups } = await look();
    expect(at('style@warm').differs).toEqual(['prompt']);
    expect(groups.find(({ name }) => name === 'style')).toMatchObject({ differBy: ['tone'], members: [4, 5] });
    expect(at('hero@lamp/1')).toMatchObject({
      ...{ state: 'changed', isJudged: false, request: { prompt: 'a lamp' }, files: [{ is: 'image' }] },
    });
  });

  test('a file that is missing, of another size, a link or no media is not served', async () => {
    const { folder, look, host, setLock } = await open();
    const { at } = await look();
    const paths = ['hero@lamp/1', 'hero@lamp/2', 'hero@vase/1', 'hero@vase/2'].map((address) => {
      const [file] = at(address).files;
      return join(folder, file?.path ?? '');
    });
    const [gone = '', longer = '', linked = ''] = paths;
    unlinkSync(gone);
    appendFileSync(longer, 'x');
    renameSync(linked, `${linked}.real.png`);
    symlinkSync(`${linked}.real.png`, linked);
    writeFileSync(join(folder, '.env'), 'SECRET=1');
    setLock((lock) => {
      const purchase = lock.steps.get('hero@vase/2')?.purchases[0];
      const bytes = Buffer.from('SECRET=1');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      if (purchase !== undefined) {
        purchase.outputs = [{ path: '.env', sha256, bytes: bytes.length, type: 'image/png' }];
      }
    });
    await changed(host, () => undefined);
    const now = await look();
    const problems = ['hero@lamp/1', 'hero@lamp/2', 'hero@vase/1', 'hero@vase/2'].map(
      (address) => now.at(address).files[0]?.problem,
    );
    expect(problems).toEqual(['missing', 'damaged', 'damaged', 'damaged']);
    for (const { files } of now.assets.filter(({ task }) => task === 'hero')) {
      for (const file of files) expect(await host.find(file)).toBeUndefined();
    }
  });

  test('earlier versions, as far as their files are kept: a file that came with a branch is none', async () => {
    const { folder, look, host, setLock } = await open();
    await look();
    const [old, forged] = [png('old'), png('forged')];
    const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    mkdirSync(join(folder, '.mediabatch/kept'), { recursive: true });
    writeFileSync(join(folder, '.mediabatch/kept', `${digest(old)}.png`), old);
    writeFileSync(join(folder, '.mediabatch/kept', `${digest(forged)}.png`), png('FORGED'));
    await changed(host, () =>
      setLock((lock) => {
        const record = lock.steps.get('hero@lamp/1');
        const [now] = record?.purchases ?? [];
        if (record === undefined || now?.jobId === undefined || now.outputs?.[0] === undefined)
          throw new Error('nothing bought');
        const { path } = now.outputs[0];
        const of = (bytes: Uint8Array, jobId: string, generation: number): Purchase => ({
          ...{ ...now, jobId, generation, key: `key ${jobId}`, fingerprint: `1:${jobId}` },
          request: { prompt: 'an old lamp', resolution: '1k' },
          outputs: [{ path, sha256: digest(bytes), bytes: bytes.length, type: 'image/png' }],
        });
        record.purchases = [
          { ...now, generation: 3 },
          of(forged, 'job-forged', 2),
          withoutCredits(of(old, 'job-old', 1)),
        ];
      }),
    );
    const { earlier } = (await look()).at('hero@lamp/1');
    expect(earlier.map(({ job, credits, changed: fields }) => ({ job, credits, fields }))).toEqual([
      // The lock keeps no requests of purchases whose charge is known.
      { job: 'job-forged', credits: 5, fields: [] },
      { job: 'job-old', credits: null, fields: ['prompt'] },
    ]);
    const [first, second] = earlier.map(({ files }) => files[0]);
    if (first === undefined || second === undefined) throw new Error('no files');
    expect(await host.find(first)).toBeUndefined();
    expect(readFileSync((await host.find(second)) ?? '')).toEqual(Buffer.from(old));
  });
});

describe('verdicts', () => {
  test('are lines in the lock, in one write, and are seen at the next look', async () => {
    const { look, wanted, host, lock } = await open();
    const before = (await look()).revision;
    const answer = await host.judge([
      await wanted('hero@lamp/1', 'picked', 'calm'),
      await wanted('hero@lamp/2', 'picked'),
      await wanted('hero@vase/1', 'rejected', 'too <b>loud</b>'),
      await wanted('notes', 'picked'),
    ]);
    expect(answer).toMatchObject({
      is: 'recorded',
      refused: [{ address: 'notes', text: 'has no gate' }],
    });
    const { at, groups, revision } = await look();
    expect(revision).toBeGreaterThan(before);
    expect(answer).toMatchObject({ revision });
    expect(at('hero@lamp/1')).not.toHaveProperty('verdict');
    expect(at('hero@lamp/2').verdict).toEqual({ is: 'picked' });
    expect(at('hero@vase/1').verdict).toEqual({ is: 'rejected', note: 'too <b>loud</b>' });
    expect(groups.slice(0, 2).map(({ gate }) => gate?.state)).toEqual(['decided', 'open']);
    expect(groups[0]?.gate).toMatchObject({ waiting: 0, waitingCredits: 0 });
    expect(at('poster@lamp').madeFrom).toEqual(['hero@lamp/2']);
    expect(lock().steps.get('hero@lamp/2')?.decisions?.verdicts).toMatchObject([
      { is: 'picked', job: 'job-hero@lamp/2' },
    ]);
  });

  test('about what was bought anew meanwhile are refused, and all refused is no failure', async () => {
    const { wanted, host } = await open();
    const old = { ...(await wanted('hero@lamp/1', 'picked')), job: 'job-before' };
    expect(await host.judge([old])).toMatchObject({
      is: 'recorded',
      refused: [
        { address: 'hero@lamp/1', text: 'has changed since its review: the reviewed output was of job job-before' },
      ],
    });
  });

  test('wait while another run holds the lock, and are recorded after it', async () => {
    const { folder, wanted, host, look } = await open();
    const taken = await takeGuard(join(folder, 'campaign.lock.jsonl'), { waitMs: 0, clock: systemClock });
    if (taken.is === 'held') throw new Error('held by whom?');
    const batch = [await wanted('hero@lamp/1', 'picked')];
    expect(await host.judge(batch)).toEqual({
      is: 'held',
      text: 'another run holds the lock; the waiting decisions are recorded when that run ends',
    });
    await taken.guard.release();
    expect(await host.judge(batch)).toMatchObject({ is: 'recorded', refused: [] });
    expect((await look()).at('hero@lamp/1').verdict).toEqual({ is: 'picked' });
  });

  test('of several batches at once are written one after the other', async () => {
    const { wanted, host, look } = await open();
    const batches = await Promise.all(
      ['hero@lamp/1', 'hero@lamp/2', 'hero@vase/1', 'hero@vase/2'].map((address) => wanted(address, 'picked')),
    );
    const answers = await Promise.all(batches.map((one) => host.judge([one])));
    expect(answers.map(({ is }) => is)).toEqual(['recorded', 'recorded', 'recorded', 'recorded']);
    const { assets } = await look();
    expect(assets.filter(({ verdict }) => verdict?.is === 'picked').map(({ address }) => address)).toEqual([
      'hero@lamp/2',
      'hero@vase/2',
    ]);
  });
});

test('what a run in another process saves is noticed', async () => {
  const { host, look, setLock } = await open({ more: { 'hero@lamp/1': { state: 'running' } } });
  expect((await look()).at('hero@lamp/1').state).toBe('running');
  await changed(host, () =>
    setLock((lock) => {
      const [purchase] = lock.steps.get('hero@lamp/1')?.purchases ?? [];
      if (purchase !== undefined) purchase.state = 'done';
    }),
  );
  expect((await look()).at('hero@lamp/1').state).toBe('done');
});

test('a lock or manifest that is broken for a while is said, and nothing is lost', async () => {
  const { folder, host, look } = await open();
  await look();
  const path = join(folder, 'campaign.yaml');
  await changed(host, () => writeFileSync(path, manifest.replace('kind: image', 'kind: imago')));
  await expect(look()).rejects.toMatchObject({ failure: { code: 'MB3100' } });
  writeFileSync(path, manifest);
  await wait(1);
  expect((await look()).assets).toHaveLength(11);
});
