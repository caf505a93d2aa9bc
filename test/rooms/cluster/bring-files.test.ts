import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileBringer, type FileToBring } from '../../../src/campaign/on-engine/watch-engine.ts';
import { openStore } from '../../../src/cluster/store/store.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import type { Output } from '../../../src/lock/record.ts';
import { BucketStandIn } from '../../rig/bucket-stand-in.ts';
import { makeFolder } from '../disk/folder.ts';
import { png } from '../disk/media.ts';
import { filesIn, recorded } from '../disk/targets.ts';

const names = Array.from({ length: 20 }, (_, number) => `images/p${number}.png`);
/** Pictures that differ. */
const pictureOf = (name: string) => Buffer.concat([png.subarray(0, 30), Buffer.from(name), png.subarray(30)]);

function fileOf(output: Output): FileToBring {
  return { address: output.path, kind: 'image', output };
}

/** A store that holds all pictures, a bringer into an empty folder, and what was asked of the store. */
async function openPlaces(how: 'folder' | 'bucket', signal = new AbortController().signal) {
  const to = makeFolder();
  const asked: string[] = [];
  const places = how === 'folder' ? await makeStoreFolder() : await makeStoreBucket(asked);
  const notices: string[] = [];
  const tell = (news: { is: string; text?: string }) => void notices.push(news.text ?? news.is);
  const files = places.store.filesOf('shop');
  const reads: string[] = [];
  const read = (output: Output) => {
    reads.push(output.path);
    return files.read(output);
  };
  const bringer = new FileBringer({ from: { read }, to, outputs: createOutputs(to), tell, signal });
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
    const [first, ...rest] = outputs.map(fileOf) as [FileToBring, ...FileToBring[]];
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

  it('are read once each, although one is told of again while it is on its way', async () => {
    const { bringer, reads } = await openPlaces(how);
    const hero = fileOf(recorded('images/p0.png', pictureOf('images/p0.png')));
    bringer.add([hero]);
    bringer.add([hero, hero]);
    await bringer.end();
    expect([new Set(reads).size, bringer.missing]).toEqual([1, []]);
    // From a bucket its connection breaks once.
    expect(reads).toHaveLength(how === 'folder' ? 1 : 2);
  });

  it('do not come where this disk takes none', async () => {
    const { bringer, to } = await openPlaces(how);
    writeFileSync(join(to, 'images'), 'a file in the way');
    bringer.add([fileOf(recorded('images/p0.png', pictureOf('images/p0.png')))]);
    await bringer.end();
    expect(bringer.missing).toEqual(['images/p0.png']);
    expect(bringer.trouble).toMatch(/images.* is in the way: it is not a folder$/);
  });
});
