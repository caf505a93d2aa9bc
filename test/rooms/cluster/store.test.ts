import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { FileFetcher, type MissingFile, storeOfRun } from '../../../src/campaign/on-engine/files-of-run.ts';
import { type Boss, filesQueue } from '../../../src/cluster/database/boss.ts';
import { FileDispatcher } from '../../../src/cluster/leader/file-dispatcher.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { openStore } from '../../../src/cluster/store/store.ts';
import { writeMarker } from '../../../src/cluster/store/store-marker.ts';
import { placeOf } from '../../../src/cluster/worker/serve-files.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import type { Output } from '../../../src/lock/record.ts';
import { BucketStandIn } from '../../rig/bucket-stand-in.ts';
import { makeFolder } from '../../rig/folder.ts';
import { Held, settled } from '../../rig/held.ts';
import { png } from '../disk/media.ts';
import { chunks, failure, filesIn, recorded, sha256, target } from '../disk/targets.ts';
import { scriptedDatabase } from './scripted-database.ts';

/** A store with this marker. */
function storeWith(marker: string | Buffer): { store: string; path: string } {
  const store = join(makeFolder(), 'store');
  mkdirSync(join(store, '.mediabatch'), { recursive: true });
  const path = join(store, '.mediabatch', 'store.json');
  writeFileSync(path, marker);
  return { store, path };
}
const known = writeMarker('0123456789abcdef');

test('a marker that stays empty is refused by name', async () => {
  const { store } = storeWith('');
  await expect(openStore(store, { makes: true })).rejects.toMatchObject({ failure: { code: 'MB3705' } });
});

test('an empty name is not taken for the working folder', async () => {
  const failure = { code: 'MB3705', message: '--store is empty' };
  await expect(openStore('', { makes: true })).rejects.toMatchObject({ failure });
});

test('an address of something else is no folder that is not mounted', async () => {
  const message = 'the store https://bucket.example/x is neither a folder nor s3://BUCKET/PREFIX';
  const failure = { message, hint: expect.stringContaining('AWS_ENDPOINT_URL_S3') };
  await expect(openStore('https://bucket.example/x', { makes: true })).rejects.toMatchObject({ failure });
});

test('nothing is saved where a store was, and another one or none is mounted', async () => {
  const { store, path } = storeWith(known);
  const files = (await openStore(store, { makes: false })).filesOf('shop');
  const save = () => files.save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
  expect(await save()).toMatchObject({ path: 'images/hero.png' });
  for (const unmount of [() => writeFileSync(path, writeMarker('f'.repeat(16))), () => rmSync(path)]) {
    unmount();
    rmSync(join(store, 'shop'), { recursive: true, force: true });
    expect((await failure(save())).why).toBe('disk');
    expect(existsSync(join(store, 'shop'))).toBe(false);
  }
});

test('a file that a redo replaces stays beside the new one, whichever worker had saved it; any other is told', async () => {
  const { store } = storeWith(known);
  const filesOfWorker = async () => (await openStore(store, { makes: false })).filesOf('shop');
  const [one, another] = [await filesOfWorker(), await filesOfWorker()];
  const made = (mark: string) => Buffer.concat([png.subarray(0, 30), Buffer.from(mark), png.subarray(30)]);
  const asideOf = (bytes: Buffer) => `images/hero.changed-${sha256(bytes).slice(0, 8)}.png`;
  const redo = (old: Buffer) => target({ replaces: [sha256(old)] });
  await one.save(target(), { body: chunks(png) });
  const [second, third, fourth] = [redo(png), redo(made('1')), redo(png)];
  await one.save(second, { body: chunks(made('1')) });
  await another.save(third, { body: chunks(made('2')) });
  expect([second.notices, third.notices]).toEqual([[], []]);
  await another.save(fourth, { body: chunks(made('3')) });
  expect(filesIn(join(store, 'shop'))).toEqual(['images/hero.png', ...[png, made('1'), made('2')].map(asideOf)].sort());
  expect(fourth.notices).toEqual([
    `${store}: images/hero.png was not made by this step or was changed since; it was renamed to ${asideOf(made('2'))}`,
  ]);
});

async function storeHere() {
  const { store } = storeWith(known);
  const outside = makeFolder();
  return { store, outside, opened: await openStore(store, { makes: false }) };
}

test('I48 nothing goes through a link that somebody put in the place of the campaign’s folder', async () => {
  const { store, outside, opened } = await storeHere();
  symlinkSync(outside, join(store, 'shop'));
  const files = opened.filesOf('shop');
  const saved = files.save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
  expect((await failure(saved)).why).toBe('path');
  expect(readdirSync(outside)).toEqual([]);
  writeFileSync(join(outside, 'hero.png'), png);
  const output = { path: 'hero.png', sha256: 'f'.repeat(64), bytes: png.length, type: 'image/png' };
  for (const act of [files.read(output), files.measure(output, []), files.relocate(target(), output)])
    expect((await failure(act)).why).toBe('path');
});

test.each(['../escaped', 'shop/../../escaped', '.mediabatch', '', 'Shop', 'a/b'])(
  'I48 a campaign that a database calls %j has no folder in the store',
  async (campaign) => {
    const { store, opened } = await storeHere();
    const saved = opened.filesOf(campaign).save(target(), { body: chunks(png), bytes: png.length, type: 'image/png' });
    expect((await failure(saved)).message).toContain('not a valid campaign name');
    expect(readdirSync(store)).toEqual(['.mediabatch']);
    expect(existsSync(join(store, '../escaped'))).toBe(false);
  },
);

/** Attaches to a run that was submitted with this store. */
function attachTo(store: string | null) {
  const notices: string[] = [];
  const notify = (news: { is: string; text?: string }) => void notices.push(news.text ?? news.is);
  return { notices, storeFor: (name?: string) => storeOfRun({ campaign: 'spring', store }, name, notify) };
}

test('files are brought from the store that the run was submitted with, and from no other', async () => {
  const [folder, other] = [makeFolder(), makeFolder()];
  const { id } = await openStore(folder, { makes: true });
  await openStore(other, { makes: true });
  const { storeFor, notices } = attachTo(id);
  const output = { path: 'images/a.png' } as Output;
  const files = await storeFor(folder);
  expect(files === 'stay' ? files : await files?.read(output)).toBeUndefined();
  expect(notices).toEqual([]);
  for (const name of [other, makeFolder()])
    await expect(storeFor(name)).rejects.toMatchObject({ failure: { code: 'MB3705' } });
});

test('a client that attaches without the store of a run learns that the files stay there', async () => {
  const { id } = await openStore(makeFolder(), { makes: true });
  const { storeFor, notices } = attachTo(id);
  expect(await storeFor()).toBe('stay');
  expect(notices).toEqual([expect.stringContaining('--store is missing')]);
});

test('a store that a run does not have is said to be of no use', async () => {
  const { storeFor, notices } = attachTo(null);
  expect(await storeFor(makeFolder())).toBeUndefined();
  expect(notices).toEqual([expect.stringContaining('submitted without --store')]);
});

const names = Array.from({ length: 20 }, (_, number) => `images/p${number}.png`);
/** Pictures that differ. */
const pictureOf = (name: string) => Buffer.concat([png.subarray(0, 30), Buffer.from(name), png.subarray(30)]);

function fileOf(output: Output): MissingFile {
  return { record: { address: output.path, kind: 'image' }, output };
}

/** A store that holds all pictures, a bringer into an empty folder, and what was asked of the store. */
async function openPlaces(how: 'folder' | 'bucket', signal = new AbortController().signal) {
  const to = makeFolder();
  const asked: string[] = [];
  const places = how === 'folder' ? await makeStoreFolder() : await makeStoreBucket(asked);
  const notices: string[] = [];
  const notify = (news: { is: string; text?: string }) => void notices.push(news.text ?? news.is);
  const files = places.store.filesOf('shop');
  const reads: string[] = [];
  const read = (output: Output) => {
    reads.push(output.path);
    return files.read(output);
  };
  const bringer = new FileFetcher({ from: { read }, to, outputs: createOutputs(to), notify, signal });
  return { ...places, to, bringer, asked, reads, notices };
}

async function makeStoreFolder() {
  const folder = makeFolder();
  const store = await openStore(folder, { makes: true });
  const put = (name: string, bytes: Buffer) => {
    mkdirSync(dirname(join(folder, 'shop', name)), { recursive: true });
    writeFileSync(join(folder, 'shop', name), bytes);
  };
  for (const name of names) put(name, pictureOf(name));
  return { store, put };
}

async function makeStoreBucket(asked: string[]) {
  const bucket = await BucketStandIn.start();
  const store = await openStore('s3://media', { makes: true, env: bucket.env });
  const put = (name: string, bytes: Buffer) =>
    void bucket.objects.set(`media/shop/${name}`, { bytes, headers: { 'content-type': 'image/png' } });
  for (const name of names) put(name, pictureOf(name));
  const cut = new Set<string>();
  bucket.trouble = ({ url }) => {
    asked.push(url);
    // Each connection breaks once.
    if (cut.has(url)) return undefined;
    cut.add(url);
    return 'cut';
  };
  return { store, put };
}

describe.each(['folder', 'bucket'] as const)('the files of a run in a %s', (how) => {
  it('come into the folder of the campaign by the digests of its lock', async () => {
    const { bringer, to, asked, notices } = await openPlaces(how);
    const outputs = names.map((name) => recorded(name, pictureOf(name)));
    const [first, ...rest] = outputs.map(fileOf) as [MissingFile, ...MissingFile[]];
    bringer.add([first]);
    bringer.add(rest);
    await bringer.end();
    expect(bringer.missing).toEqual([]);
    expect(filesIn(to)).toEqual([...names].sort());
    for (const name of names) expect(readFileSync(join(to, name)).equals(pictureOf(name))).toBe(true);
    const before = asked.length;
    bringer.add([first, ...rest]);
    await bringer.end();
    expect(asked).toHaveLength(before);
    expect(notices).toEqual([]);
  });

  it('stay away where they are not what the lock says', async () => {
    const { bringer, put, to } = await openPlaces(how);
    put('images/p0.png', pictureOf('images/pX.png'));
    put('images/p1.png', pictureOf('images/p1.png').subarray(0, 20));
    put('images/p2.png', Buffer.alloc(0));
    const bad = ['images/p0.png', 'images/p1.png', 'images/p2.png', 'images/gone.png'];
    const lines = [...bad, 'images/p3.png'].map((name) => fileOf(recorded(name, pictureOf(name))));
    const outside = fileOf(recorded('../../outside.png', png));
    bringer.add([...lines, outside]);
    await bringer.end();
    expect([...bringer.missing].sort()).toEqual([...bad].sort());
    expect(filesIn(to)).toEqual(['images/p3.png']);
    expect(existsSync(join(to, '../../outside.png'))).toBe(false);
  });

  it('take the place of what this step made', async () => {
    const { bringer, put, to, notices } = await openPlaces(how);
    const name = names[0] ?? '';
    const [old, changed] = ['images/old.png', name].map((one) => recorded(name, pictureOf(one))) as [Output, Output];
    put(name, pictureOf('images/old.png'));
    bringer.add([fileOf(old)]);
    await bringer.end();
    put(name, pictureOf(name));
    bringer.add([{ ...fileOf(changed), replaces: [old.sha256] }]);
    await bringer.end();
    expect([filesIn(to), bringer.missing, notices]).toEqual([[name], [], []]);
    expect(readFileSync(join(to, name)).equals(pictureOf(name))).toBe(true);
  });

  it('stay where they are once nobody waits for them', async () => {
    const leaving = new AbortController();
    const { bringer, to, asked } = await openPlaces(how, leaving.signal);
    leaving.abort();
    bringer.add(names.map((name) => fileOf(recorded(name, pictureOf(name)))));
    await bringer.end();
    expect([filesIn(to), asked]).toEqual([[], []]);
  });

  it('do not come where this disk takes none', async () => {
    const { bringer, to } = await openPlaces(how);
    writeFileSync(join(to, 'images'), 'a file in the way');
    bringer.add([fileOf(recorded('images/p0.png', pictureOf('images/p0.png')))]);
    await bringer.end();
    expect(bringer.missing).toEqual(['images/p0.png']);
    expect(bringer.trouble).toMatch(/images.* exists but is not a folder$/);
  });
});

const account = 'a'.repeat(32);
const store = 'c'.repeat(16);
const inStore = { id: 'one', campaign: 'spring', store };
const inFolder = { id: 'two', campaign: 'autumn', store: null };
const file = { jobId: 'job-1', index: 0, url: 'https://files.example/hero.png' };

/** A dispatcher whose queues are made when a test says so; what it gave to each of them. */
function open() {
  const made = new Held<[queue: string], void>();
  const given = new Map<string, unknown[]>();
  const boss = {
    createQueue: made.call,
    insert: async (queue: string, jobs: unknown[]) => void given.set(queue, [...(given.get(queue) ?? []), ...jobs]),
  } as unknown as Pick<Boss, 'createQueue' | 'insert'>;
  const db = scriptedDatabase(
    [/INSERT INTO mediabatch\.file/, ([, , ids]) => (ids as string[]).map((id) => ({ id, state: 'wanted', tries: 1 }))],
    [/pg_notify/, () => []],
  );
  const dispatcher = new FileDispatcher({ db, boss, account, epoch: 1, seal: makeSeal('key') });
  onTestFinished(() => dispatcher.close());
  return { dispatcher, made, given };
}

test('who leaves while the queue is made does not wait for a file', async () => {
  const { dispatcher, made } = open();
  const leaving = new AbortController();
  const answers: unknown[] = [];
  void dispatcher
    .outputsOf(inStore)
    .fetch(target(), file, { signal: leaving.signal })
    .then((answer) => answers.push(answer));
  await settled();
  leaving.abort();
  made.at(0).answer();
  await settled();
  expect(answers).toEqual([{ is: 'unreachable', message: 'interrupted' }]);
});

/** What the queues get when these files of runs are asked for at once. */
async function fetchAll(asked: [run: typeof inStore | typeof inFolder, file: typeof file][]) {
  const { dispatcher, made, given } = open();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  for (const [run, one] of asked) void dispatcher.outputsOf(run).fetch(target(), one, { signal: leaving.signal });
  await settled();
  for (const { answer } of made.calls) answer();
  await settled();
  return given;
}

test('files of two runs that are put on record together go to the hands of both', async () => {
  const given = await fetchAll([inStore, inFolder].map((run) => [run, file]));
  const queues = [inStore, inFolder].map((run) => filesQueue(account, placeOf(run)));
  expect(queues.map((queue) => given.get(queue)?.length)).toEqual([1, 1]);
});

test('each file of a job is fetched by itself', async () => {
  const given = await fetchAll([0, 1].map((index) => [inStore, { ...file, index }]));
  const orders = given.get(filesQueue(account, placeOf(inStore))) ?? [];
  expect(new Set(orders.map((order) => JSON.stringify(order))).size).toBe(2);
});
