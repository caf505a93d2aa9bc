import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import type { JudgeAnswer, ReviewAsset, ReviewChange, ReviewData, ReviewGate } from '../../../src/contract/review.ts';
import { readLock } from '../../../src/lock/read.ts';
import { unpack } from '../../../src/page/gallery/unpack.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { CampaignHost } from '../../../src/review/campaign-host.ts';
import { describeCampaign } from '../../../src/review/describe/describe-campaign.ts';
import { folderHtml, singleHtml } from '../../../src/review/gallery/gallery-html.ts';
import { GalleryFolder, SingleFile } from '../../../src/review/gallery/gallery-place.ts';
import { describeNext, describeReview, describeReviewed } from '../../../src/review/review-text.ts';
import { describeChange } from '../../../src/review/serve/describe-change.ts';
import { serveReview } from '../../../src/review/serve/serve-review.ts';
import { leaveBought } from '../../command/decisions/bought.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { graphOf } from '../../rig/campaign.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { lockOf, planOf, saved, stepOf } from '../plan/facts.ts';

describe('the page', () => {
  const nasty = [
    '</script><script>alert(1)</script>',
    '<!--<script>',
    '-->',
    '\u2028\u2029',
    '"\'&<img src=x onerror=alert(1)>',
  ];

  function dataIn(html: string): string {
    const [, block = ''] = /<script type="application\/json" id="data">(.*)<\/script>\n/.exec(html) ?? [];
    return block;
  }

  function galleryOf(values: readonly unknown[]): ReviewData {
    const assets = values.map((value) => asset('hero@a', { request: { value: value as string } }));
    return JSON.parse(JSON.stringify(campaign([{ name: 'hero@a', assets }]))) as ReviewData;
  }

  forAll([fc.array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...nasty)), { maxLength: 4 })])(
    'property: no text gets out of the block of data, and it comes back as it was',
    (texts) => {
      const data = galleryOf(texts);
      const block = dataIn(folderHtml(data));
      expect(block).not.toMatch(/[<>\u2028\u2029]/);
      expect(JSON.parse(block)).toEqual(data);
    },
  );

  forAll([fc.array(fc.jsonValue()), fc.array(fc.constantFrom(...nasty, 'a text that is repeated'))])(
    'property: long data is packed, and is the same when it is unpacked',
    (values, texts) => {
      const data = galleryOf([...values, ...texts, 'long '.repeat(110_000)]);
      const packed = JSON.parse(dataIn(folderHtml(data)));
      expect(packed).toHaveProperty('shapes');
      expect(unpack(packed)).toEqual(data);
    },
  );

  test('names the campaign as a text, and lets nothing run but its own scripts', () => {
    const data = campaign([], { campaign: nasty.join('') });
    const html = folderHtml(data);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html).toContain("default-src 'none'");
    const single = singleHtml(data, { script: 'const a = "</script><!--<script>";', styles: 'body{}' });
    expect(single.match(/<script/g)).toHaveLength(2);
    expect(single).toMatch(/script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/);
  });
});

describe('a folder', () => {
  const bytes = Buffer.from('picture');
  const thumb = `thumbs/${'a'.repeat(20)}.jpg`;

  test('is a page that waits until the gallery is whole, and keeps what has not changed', async () => {
    const path = join(makeFolder(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('is being written');
    await first.put(thumb, bytes);
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    const inode = () => statSync(join(path, thumb)).ino;
    const before = inode();
    const second = await GalleryFolder.open(path, path);
    // Whoever opens it now still sees all of the old one.
    expect(readFileSync(join(path, 'index.html'), 'utf8')).toContain('one');
    await second.put(thumb, bytes);
    expect(inode()).toBe(before);
    await second.put(thumb, Buffer.from('another'));
    expect(readFileSync(join(path, thumb), 'utf8')).toBe('another');
    expect(readdirSync(path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('loses what no page shows any more, and nothing of anybody else', async () => {
    const path = join(makeFolder(), 'a.report');
    const first = await GalleryFolder.open(path, path);
    await first.put(thumb, bytes);
    await first.copy('media/lamp-0123456789ab.png', join(path, thumb), 'x');
    await first.finish('<!doctype html>\n<!-- mediabatch report -->\none');
    for (const name of ['thumbs/mine.jpg', 'notes.txt', 'media/mine.png']) writeFileSync(join(path, name), 'mine');
    const left = ['', 'thumbs/', 'media/'].map((where) => `${where}.mediabatch-${'0'.repeat(16)}.tmp`);
    for (const name of left) writeFileSync(join(path, name), 'of one that was killed');
    await (await GalleryFolder.open(path, path)).finish('<!doctype html>\n<!-- mediabatch report -->\ntwo');
    const isThere = (name: string) => existsSync(join(path, name));
    expect(['thumbs/mine.jpg', 'notes.txt', 'media/mine.png'].map(isThere)).toEqual([true, true, true]);
    expect([thumb, 'media/lamp-0123456789ab.png', ...left].filter(isThere)).toEqual([]);
  });

  test('of somebody else, a file, or one behind a link that leads out is refused', async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'mine/index.html'), '<!doctype html>\n<p>mine');
    await expect(GalleryFolder.open(join(folder, 'mine'), 'mine')).rejects.toThrow('not a gallery written by report');
    expect(readFileSync(join(folder, 'mine/index.html'), 'utf8')).toContain('mine');
    await expect(GalleryFolder.open(join(folder, 'mine/index.html'), 'x')).rejects.toThrow('is a file');
    mkdirSync(join(folder, 'tree/.git'), { recursive: true });
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'tree/a.report'));
    await expect(GalleryFolder.open(join(folder, 'tree/a.report'), 'a.report')).rejects.toThrow('leads out of');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });
});

test('a single file is never larger than 20 MB, and then nothing is written', async () => {
  const path = join(makeFolder(), 'a.html');
  await expect(SingleFile.open(join(makeFolder(), 'a.pdf'), 'a.pdf')).rejects.toThrow('does not end in .html');
  const single = await SingleFile.open(path, 'a.html');
  const shown = file(1);
  const one = { path: '/a.png', file: shown, mentions: [shown, shown] };
  await single.add(one, Buffer.alloc(4 << 20));
  await expect(single.add(one, Buffer.alloc(4 << 20))).rejects.toThrow('a.html would be larger than 20 MB');
  expect(existsSync(path)).toBe(false);
});

const hundred = Array.from({ length: 100 }, (_, index) => `p${index}`);

/** Groups of four takes, each with a step that is made of the picked one; and so many pictures beside them. */
const manifestOf = (keys: readonly string[], beside: number) => `version: 1
name: spring
prices: { image: 2 }
tasks:
  hero:
    kind: image
    foreach: [${keys.join(', ')}]
    key: "{{row}}"
    takes: 4
    gate: { choose: 1 }
    with: { prompt: "a {{row}}" }
  final: { kind: image, foreach: [${keys.join(', ')}], key: "{{row}}", with: { prompt: card, referenceImages: ["{{tasks.hero.url}}"] } }
  other: { kind: image, foreach: [${Array.from({ length: beside }, (_, index) => `n${index}`).join(', ')}], key: "{{row}}", with: { prompt: "b {{row}}" } }
`;

async function open(keys = hundred, beside = 1) {
  const { path: folder, remove } = temporaryFolder();
  const notBought = Object.fromEntries(keys.map((key) => [`final@${key}`, 'not bought' as const]));
  leaveBought(folder, manifestOf(keys, beside), notBought);
  const paste = ({ call, words }: { call: string; words: readonly string[] }) => [call, ...words].join(' ');
  const host = new CampaignHost(await openCampaign(join(folder, 'campaign.yaml')), { paste });
  const onError = (error: unknown) => {
    throw error;
  };
  const running = await serveReview(host, { state: join(folder, '.mediabatch'), paste, onError });
  onTestFinished(async () => {
    await running.close();
    await host.close();
    remove();
  });
  const lockFile = join(folder, 'campaign.lock.jsonl');
  return {
    host,
    folder,
    lockText: () => readFileSync(lockFile, 'utf8'),
    lock: () => readLock('campaign.lock.jsonl', readFileSync(lockFile)).lock,
    ask: (path: string, body?: unknown, headers = {}) => ask(new URL(path, running.url), body, headers),
    listen: () => listen(new URL('changes', running.url)),
  };
}

function ask(url: URL, body: unknown, headers: object): Promise<{ bytes: Buffer; headers: NodeJS.Dict<unknown> }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const own = body === undefined ? {} : { 'content-type': 'application/json', origin: url.origin };
    const asked = request(url, { method, headers: { ...own, ...headers } }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      resolve({ bytes: Buffer.concat(parts), headers: answer.headers });
    });
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Changes as another tab hears of them. */
async function listen(url: URL): Promise<{ next(): Promise<ReviewChange> }> {
  const heard: ReviewChange[] = [];
  const asked = request(url, (answer) => {
    answer.on('data', (part: Buffer) => {
      for (const [, json = ''] of part.toString().matchAll(/^data: (.*)$/gm)) heard.push(JSON.parse(json));
    });
    answer.on('error', () => undefined);
  });
  asked.on('error', () => undefined);
  asked.end();
  onTestFinished(() => void asked.destroy());
  await expect.poll(() => heard.length).toBe(1);
  heard.pop();
  return {
    async next() {
      await expect.poll(() => heard.length).toBeGreaterThan(0);
      return heard.shift() as ReviewChange;
    },
  };
}

test('a verdict is answered with what it changed, and other tabs get the same answer; the whole is asked for once, compressed', async () => {
  const { ask: get, listen: openTab, lock, lockText, host } = await open();
  const first = await get('data.json', undefined, { 'accept-encoding': 'gzip, br' });
  expect(first.headers['content-encoding']).toBe('gzip');
  const data = JSON.parse(gunzipSync(first.bytes).toString()) as ReviewData;
  expect(first.bytes.length * 5).toBeLessThan(gunzipSync(first.bytes).length);
  expect((await get('data.json')).headers['content-encoding']).toBeUndefined();
  const tab = await openTab();
  const give = async (index: number, is: string) => {
    const { address, job } = data.assets[index] ?? {};
    const { bytes } = await get('verdicts', { verdicts: [{ address, is, job }] });
    return { bytes: bytes.length, answer: JSON.parse(bytes.toString()) as JudgeAnswer & { is: 'recorded' } };
  };
  const { bytes, answer } = await give(5, 'picked');
  expect(bytes).toBeLessThan(2000);
  expect(answer).toMatchObject({ is: 'recorded', refused: [], revision: data.revision + 1 });
  expect(answer.change).toMatchObject({ since: data.revision, revision: data.revision + 1 });
  expect(answer.change?.assets).toEqual([{ ...data.assets[5], verdict: { is: 'picked' } }]);
  expect(answer.change?.groups.map(({ name, gate }) => [name, gate?.state])).toEqual([['hero@p1', 'decided']]);
  expect(await tab.next()).toEqual(answer.change);
  // Another pick takes its place.
  const second = await give(6, 'picked');
  expect(second.answer.change?.assets.map((one) => [one.address, one.verdict?.is])).toEqual([
    ['hero@p1/2', undefined],
    ['hero@p1/3', 'picked'],
  ]);
  const verdictsOf = (address: string) =>
    lock()
      .steps.get(address)
      ?.decisions?.verdicts?.map(({ is }) => is);
  expect([verdictsOf('hero@p1/2'), verdictsOf('hero@p1/3')]).toEqual([[undefined], ['picked']]);
  // What was given is appended, and stands in the lock as it is to stay when the host ends.
  expect(lockText().match(/"address":"hero@p1\/2"/g)).toHaveLength(3);
  await host.close();
  expect(lockText().match(/"address":"hero@p1\/2"/g)).toHaveLength(1);
  expect([verdictsOf('hero@p1/2'), verdictsOf('hero@p1/3')]).toEqual([[undefined], ['picked']]);
});

test('what hangs on a verdict elsewhere follows when nobody decides any more; a lock that others wrote is read again', async () => {
  // With gates that are open it waits for longer, by how long reading takes.
  const { ask: get, host, folder, lock } = await open(['p0'], 300);
  const data = JSON.parse((await get('data.json')).bytes.toString()) as ReviewData;
  const { address = '', job = '' } = data.assets[1] ?? {};
  await host.judge([{ address, is: 'picked', job }]);
  const soon = await host.read();
  const told = new Promise<void>((resolve) => void host.watch(resolve));
  await told;
  const later = await host.read();
  const change = describeChange(soon, later);
  // What may be made from each of the takes is made from one of them now.
  expect(change?.assets.map((one) => one.address)).toEqual(
    [1, 2, 3, 4].map((take) => `hero@p0/${take}`).concat('final@p0'),
  );
  expect(change?.assets.at(-1)?.request.referenceImages).toEqual([{ $ref: 'hero@p0/2', field: 'url' }]);
  const other = new CampaignHost(await openCampaign(join(folder, 'campaign.yaml')), { paste: () => '' });
  await other.judge([{ address: 'hero@p0/1', is: 'rejected', job: 'job-hero@p0/1' }]);
  await other.close();
  await host.judge([{ address: 'hero@p0/3', is: 'rejected', job: 'job-hero@p0/3' }]);
  const verdicts = [...lock().steps.values()].flatMap(({ address: at, decisions }) =>
    (decisions?.verdicts ?? []).map(({ is }) => [at, is]),
  );
  expect(verdicts).toEqual([
    ['hero@p0/1', 'rejected'],
    ['hero@p0/2', 'picked'],
    ['hero@p0/3', 'rejected'],
  ]);
});

const tasks = `version: 1
name: test
tasks:
  draft: { kind: music, takes: 2, gate: { choose: 1 }, with: { model: song-7.5, prompt: a } }
  cut: { kind: music, takes: 2, gate: { choose: 1 }, with: { model: song-7.5, prompt: "b {{tasks.draft.url}}" } }
  last: { kind: music, with: { model: song-7.5, prompt: "c {{tasks.cut.url}}" } }
  free: { kind: music, with: { model: song-7.5, prompt: d } }
`;

test('what waits for a gate that waits for another one waits for both, at what it costs', () => {
  const graph = graphOf(tasks);
  const lock = lockOf({
    'draft/1': [saved(stepOf(graph, 'draft/1'))],
    'draft/2': [saved(stepOf(graph, 'draft/2'))],
  });
  const { rows } = planOf(graph, lock);
  const { waits, groups } = describeCampaign({ situation: situate(graph, lock), rows, placeOf: () => 'missing' });
  expect(waits).toEqual([
    { gates: ['draft'], steps: 2, what: 'sound', credits: 8, likely: 8 },
    { gates: ['cut', 'draft'], steps: 1, what: 'sound', credits: 4, likely: 4 },
  ]);
  const gateOf = (name: string) => groups.find((group) => group.name === name)?.gate;
  expect(gateOf('draft')).toMatchObject({ waiting: 3, waitingWhat: 'sound', waitingCredits: 12 });
  expect(gateOf('cut')).toMatchObject({ waiting: 1, waitingCredits: 4 });
});

test('what nobody knows the price of makes the sum unknown', () => {
  const graph = graphOf(
    tasks.replace('last: { kind: music, with: { model: song-7.5, prompt:', 'last: { kind: image, with: { prompt:'),
  );
  const { rows } = planOf(graph, lockOf({}));
  const { groups } = describeCampaign({ situation: situate(graph, lockOf({})), rows, placeOf: () => 'missing' });
  const gate = groups.find(({ name }) => name === 'cut')?.gate;
  expect(gate).toMatchObject({ waiting: 1, waitingCredits: null });
  expect(gate).not.toHaveProperty('waitingLikely');
});

type Is = 'picked' | 'rejected' | undefined;

/** Gates with one output each. `planned`: there is nothing to see yet. */
function dataOf(...gates: { state?: ReviewGate['state']; verdict?: Is; planned?: true; job?: string }[]): ReviewData {
  const assets = gates.map(({ verdict, planned, job = 'job' }, index): ReviewAsset => {
    const file = { is: 'image' as const, path: 'a.png', mediaType: 'image/png', bytes: 1, sha256: '' };
    return {
      ...{
        address: `pic@${index}`,
        task: 'pic',
        kind: 'image',
        matrix: {},
        tags: [],
        request: {},
        defaults: {},
        differs: [],
        job,
      },
      ...{ state: planned ? 'planned' : 'done', files: planned ? [] : [file], isJudged: planned !== true },
      ...{ earlier: [], madeFrom: [], usedBy: [] },
      ...(verdict !== undefined && { verdict: { is: verdict } }),
    };
  });
  const groups = gates.map(({ state }, index) => ({
    ...{ name: `pic@${index}`, task: 'pic', differBy: [], members: [index] },
    ...(state !== undefined && {
      gate: { is: 'approve' as const, choose: 1, state, waiting: 0, waitingCredits: 0 },
    }),
  }));
  return { version: 2, revision: 1, campaign: 'c', file: 'c.yaml', canDecide: true, groups, assets };
}

const paste = ({ call }: { call: string }) => `mediabatch ${call} c.yaml`;

test.each([
  ['1 gate is open, 1 output to review', dataOf({ state: 'open' })],
  ['2 gates are open, 3 outputs to review', dataOf({ state: 'open' }, { state: 'contested' }, { state: 'decided' })],
  ['every gate is decided, 1 output to review', dataOf({ state: 'decided' })],
  ['1 gate is open, 1 output to review', dataOf({ state: 'open' }, { state: 'open', planned: true })],
  ['the outputs of the open gates are not bought yet, 0 outputs to review', dataOf({ state: 'open', planned: true })],
  ['1 output to review; no task has a gate, so there is nothing to decide', dataOf({})],
])('at the beginning: %s', (text, data) => {
  expect(describeReview(data)).toBe(text);
});

describe('what can be bought now', () => {
  const buys = (['create', 'redo', 'keep'] as const).map((action) => ({ action, kind: 'video', credits: 20 }));

  test('is told with its command when nobody is waited for', () => {
    const next = { text: 'Buy 2 films, 40 credits', command: 'mediabatch apply c.yaml' };
    expect(describeNext(dataOf({ state: 'decided' }), buys, paste)).toEqual(next);
    expect(describeNext(dataOf({ state: 'decided' }, { state: 'open', planned: true }), buys, paste)).toEqual(next);
    expect(describeNext(dataOf({ state: 'decided' }, { state: 'rejected' }), buys, paste)).toEqual(next);
  });

  test.each([
    ['somebody is to decide', dataOf({ state: 'decided' }, { state: 'open' }), buys],
    ['two people picked differently', dataOf({ state: 'decided' }, { state: 'contested' }), buys],
    ['nothing was decided', dataOf({}), buys],
    ['everything is bought', dataOf({ state: 'decided' }), buys.slice(2)],
  ])('is not told where %s', (_, data, rows) => {
    expect(describeNext(data, rows, paste)).toBeUndefined();
  });
});

describe('at the end', () => {
  const before = dataOf({ state: 'open' }, { state: 'open' }, { state: 'decided', verdict: 'picked' });

  test('what was decided, what is left, and the next command', () => {
    const now = dataOf(
      { state: 'decided', verdict: 'picked' },
      { state: 'rejected', verdict: 'rejected' },
      { state: 'decided', verdict: 'picked' },
    );
    expect(describeReviewed(before, now, paste)).toBe(
      'picked 1, rejected 1, every gate is decided\n  then: mediabatch apply c.yaml\n',
    );
  });

  test('no next command where nothing was decided; a verdict on what was bought anew counts', () => {
    expect(describeReviewed(before, before, paste)).toBe('picked 0, rejected 0, 2 gates are still open\n');
    const redone = dataOf({ state: 'open' }, { state: 'open' }, { state: 'decided', verdict: 'picked', job: 'new' });
    expect(describeReviewed(before, redone, paste)).toContain('picked 1, rejected 0');
  });
});
