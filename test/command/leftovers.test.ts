import { createHash } from 'node:crypto';
import { existsSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteLeftover, findLeftovers, findRemoteRecords } from '../../src/campaign/find-leftovers.ts';
import { chooseRecorded } from '../../src/campaign/select-steps.ts';
import { gc } from '../../src/cli/commands/leftovers.ts';
import { SavedFiles } from '../../src/disk/outputs/saved-files.ts';
import type { Graph } from '../../src/graph/graph.ts';
import type { Job, Lock, Output, Purchase } from '../../src/lock/record.ts';
import { writeLines } from '../../src/lock/write.ts';
import { findOrphans } from '../../src/plan/rows/orphans.ts';
import { situate } from '../../src/plan/situation/situation.ts';
import { graphOf } from '../rig/campaign.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { folderWith } from './scripted.ts';

const now = Date.parse('2030-01-31T12:00:00Z');

function graphWith(tasks: string): Graph {
  return graphOf(`version: 1\nname: test\ntasks:\n${tasks}`);
}

function outputOf(path: string, text: string): Output {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { path, sha256, bytes: Buffer.byteLength(text), type: 'image/png' };
}

function bought(fingerprint: string, outputs: Output[], more: Partial<Job> = {}): Job {
  const jobId = `job-${fingerprint}-${more.generation ?? 1}`;
  return {
    fingerprint,
    generation: 1,
    attempt: 1,
    state: 'done',
    key: `key-${jobId}`,
    jobId,
    credits: 4,
    outputs,
    ...more,
  };
}

function lockOf(records: { [address: string]: { kind: string; purchases: Purchase[] } }): Lock {
  const steps = Object.entries(records).map(([address, record]) => [address, { address, ...record }] as const);
  return { version: 2, steps: new Map(steps) };
}

const hero = graphWith('  hero: { kind: image, with: { prompt: a dog }, save: images/hero }');
const heroPrint = hero.steps[0]?.fingerprint ?? '';

describe('files that no step owns', () => {
  const find = (
    root: string,
    lock: Lock,
    graph = hero,
    others: { lock: Lock; prefix: string }[] = [],
    saved: Pick<SavedFiles, 'has'> = { has: () => true },
  ) => findLeftovers(root, { situation: situate(graph, lock), others, saved, now });

  test('do not include a file that the lock names but this user did not save', async () => {
    const root = folderWith({ 'assets/logo.png': 'logo', 'src/index.ts': 'code', 'old.png': 'old' });
    const outputs = [outputOf('assets/logo.png', 'logo'), outputOf('src/index.ts', 'code'), outputOf('old.png', 'old')];
    const lock = lockOf({ old: { kind: 'image', purchases: [bought('1:o', outputs)] } });
    const ours = new SavedFiles();
    await ours.note('old.png', outputs[2]?.sha256 ?? '');
    const found = await find(root, lock, hero, [], ours);
    expect(found.files.map(({ path }) => path)).toEqual(['old.png']);
    expect(found.kept.map(({ path }) => path)).toEqual(['assets/logo.png', 'src/index.ts']);
    expect((await find(root, lock)).files).toHaveLength(3);
  });

  test('are outputs of orphans and earlier purchases, with their recorded bytes', async () => {
    const root = folderWith({
      'images/hero.png': 'hero',
      'images/hero.webp': 'earlier',
      'images/old.png': 'old',
      'images/changed.png': 'somebody’s work',
      'images/mine.png': 'never on record',
    });
    const lock = lockOf({
      hero: {
        kind: 'image',
        purchases: [
          bought(heroPrint, [outputOf('images/hero.png', 'hero')], { generation: 2 }),
          bought('1:x', [outputOf('images/hero.webp', 'earlier')]),
        ],
      },
      old: { kind: 'image', purchases: [bought('1:old', [outputOf('images/old.png', 'old')])] },
      gone: { kind: 'image', purchases: [bought('1:gone', [outputOf('images/gone.png', 'gone')])] },
      changed: { kind: 'image', purchases: [bought('1:c', [outputOf('images/changed.png', 'as saved')])] },
    });
    const found = await find(root, lock);
    expect(found.files.map(({ path, bytes, is }) => [path, bytes, is])).toEqual([
      ['images/hero.webp', 7, 'output'],
      ['images/old.png', 3, 'output'],
    ]);
    expect(found.kept).toEqual([{ path: 'images/changed.png', why: 'it was changed after it was saved' }]);
  });

  test('a renamed step, a file that differs in case, and another campaign’s file are owned', async () => {
    const root = folderWith({ 'a.png': 'a', 'b.png': 'b', 'IMAGES/Hero.png': 'c' });
    const lock = lockOf({
      'old-name': { kind: 'image', purchases: [bought(heroPrint, [outputOf('a.png', 'a')])] },
      old: { kind: 'image', purchases: [bought('1:b', [outputOf('b.png', 'b')])] },
    });
    const other = lockOf({ x: { kind: 'image', purchases: [bought('1:b', [outputOf('b.png', 'b')])] } });
    expect((await find(root, lock, hero, [{ lock: other, prefix: '' }])).files).toEqual([]);
    const elsewhere = await find(root, lock, hero, [{ lock: other, prefix: 'sub/' }]);
    expect(elsewhere.files.map(({ path }) => path)).toEqual(['b.png']);
    const cased = lockOf({ old: { kind: 'image', purchases: [bought('1:c', [outputOf('IMAGES/Hero.png', 'c')])] } });
    expect((await find(root, cased)).files).toEqual([]);
  });

  test('do not include links, folders of tools and paths out of the folder', async () => {
    const outside = folderWith({ 'secret.png': 'secret' });
    const root = folderWith({ '.git/hooks': 'x', 'plain/a.png': 'a' });
    symlinkSync(join(outside, 'secret.png'), join(root, 'link.png'));
    symlinkSync(outside, join(root, 'linked'));
    const outputs = [
      outputOf('link.png', 'secret'),
      outputOf('linked/secret.png', 'secret'),
      outputOf('.git/hooks', 'x'),
      outputOf('../secret.png', 'secret'),
      outputOf('plain', 'a'),
    ];
    const found = await find(root, lockOf({ old: { kind: 'image', purchases: [bought('1:o', outputs)] } }));
    expect(found.files).toEqual([]);
    expect(existsSync(join(outside, 'secret.png'))).toBe(true);
  });

  test('include only old partial downloads of mediabatch in the folders of this campaign', async () => {
    const part = (digit: string) => `.mediabatch-${digit.repeat(16)}.part`;
    const root = folderWith({
      [`images/${part('a')}`]: 'old',
      [`images/${part('b')}`]: 'fresh',
      [`elsewhere/${part('a')}`]: 'old',
      'images/other.part': 'old',
    });
    const at = (path: string, ms: number) => utimesSync(join(root, path), ms / 1000, ms / 1000);
    at(`images/${part('a')}`, now - 61 * 60_000);
    at(`images/${part('b')}`, now - 59 * 60_000);
    at(`elsewhere/${part('a')}`, now - 2 * 3_600_000);
    at('images/other.part', now - 2 * 3_600_000);
    const { files } = await find(root, lockOf({}));
    expect(files.map(({ path, is }) => [path, is])).toEqual([[`images/${part('a')}`, 'partial']]);
  });

  test('a file changed since the search is not deleted', async () => {
    const root = folderWith({ 'a.png': 'a', 'b.png': 'b' });
    const purchases = [bought('1:o', [outputOf('a.png', 'a'), outputOf('b.png', 'b')])];
    const { files } = await find(root, lockOf({ old: { kind: 'image', purchases } }));
    writeFileSync(join(root, 'a.png'), 'A');
    const deleted = await Promise.all(files.map((file) => deleteLeftover(root, file)));
    expect(deleted).toEqual([false, true]);
    expect([existsSync(join(root, 'a.png')), existsSync(join(root, 'b.png'))]).toEqual([true, false]);
  });
});

test('gc deletes the other files if one was changed during the prompt', async () => {
  const folder = folderWith({
    'campaign.yaml': 'version: 1\nname: test\ntasks:\n  hero: { kind: image, with: { prompt: a dog } }\n',
    'a.png': 'a',
    'b.png': 'b',
  });
  const outputs = [outputOf('a.png', 'a'), outputOf('b.png', 'b')];
  const lock = lockOf({ old: { kind: 'image', purchases: [bought('1:o', outputs)] } });
  writeFileSync(join(folder, 'campaign.lock.jsonl'), [...writeLines(lock)].join(''));
  const saved = new SavedFiles(join(folder, '.mediabatch'), folder);
  for (const { path, sha256 } of outputs) await saved.note(path, sha256);
  const { terminal, said } = bufferTerminal();
  const err = (text: string) => {
    terminal.err(text);
    if (text.includes('b.png')) writeFileSync(join(folder, 'a.png'), 'changed since');
  };
  const code = await gc(join(folder, 'campaign.yaml'), { yes: true, lockTimeout: 0 }, { ...terminal, err });
  expect(code, said.err).toBe(0);
  expect(said.err).toContain('a.png: the file has changed since it was listed');
  expect(['a.png', 'b.png'].map((path) => existsSync(join(folder, path)))).toEqual([true, false]);
});

describe('records that can be removed', () => {
  const graph = graphWith(`  song: { kind: music, with: { prompt: calm, model: song-7.5 } }
  hero: { kind: image, with: { prompt: a dog } }`);
  const songPrint = graph.steps.find(({ address }) => address === 'song')?.fingerprint ?? '';
  const song = outputOf('output/song.mp3', 'song');
  const lock = lockOf({
    song: { kind: 'music', purchases: [bought(songPrint, [song])] },
    hero: { kind: 'image', purchases: [bought('1:hero', [])] },
    'old@a': { kind: 'music', purchases: [bought('1:old', [outputOf('output/old.mp3', 'old')])] },
    'old@b': { kind: 'music', purchases: [bought('1:run', [], { state: 'running' })] },
    thumb: { kind: 'thumbnail', purchases: [bought('1:t', [], { recordId: 'rec-1', state: 'failed' })] },
  });
  const present = new Map([[song.path, 'intact' as const]]);
  const choose = (names: string[], orphans = false) =>
    chooseRecorded(names, {
      graph,
      lock,
      orphans: orphans ? findOrphans(situate(graph, lock)) : undefined,
    });

  test('are orphans, with their charge and whether the file exists', () => {
    const { records, skipped } = findRemoteRecords(situate(graph, lock), present, choose([], true));
    expect(records.map(({ address, files, isOrphan, credits }) => [address, files, isOrphan, credits])).toEqual([
      ['old@a', 'missing', true, 4],
      ['thumb', 'none', true, 4],
    ]);
    expect(records[1]?.recordId).toBe('rec-1');
    expect(skipped.map(({ address }) => address)).toEqual(['old@b']);
  });

  test('include a step of the manifest only while its file exists', () => {
    const chosen = choose(['song']);
    expect(findRemoteRecords(situate(graph, lock), present, chosen).records.map(({ jobId }) => jobId)).toEqual([
      `job-${songPrint}-1`,
    ]);
    const without = findRemoteRecords(situate(graph, lock), new Map(), chosen);
    expect(without.records).toEqual([]);
    expect(without.skipped[0]?.why).toContain('apply fetches it');
  });

  test('do not include a step whose link another step still needs', () => {
    const needed = graphWith(`  thumb: { kind: thumbnail, with: { title: x } }
  hero: { kind: image, with: { prompt: a dog, referenceImages: ["{{tasks.thumb.url}}"] } }`);
    const print = needed.steps.find(({ address }) => address === 'thumb')?.fingerprint ?? '';
    const output = outputOf('output/thumb.jpg', 't');
    const record = { thumb: { kind: 'thumbnail', purchases: [bought(print, [output])] } };
    const here = new Map([[output.path, 'intact' as const]]);
    const found = findRemoteRecords(situate(needed, lockOf(record)), here, new Set(['thumb']));
    expect(found.records).toEqual([]);
    expect(found.skipped[0]?.why).toContain('hero still needs the URL of this output');
  });

  test('a job that moved to another step is not removed', () => {
    const shared = lockOf({
      song: { kind: 'music', purchases: [bought(songPrint, [song])] },
      old: {
        kind: 'music',
        purchases: [bought(songPrint, [song]), bought('1:other', [], { generation: 2, state: 'failed' })],
      },
    });
    const { records } = findRemoteRecords(situate(graph, shared), present, new Set(['old']));
    expect(records.map(({ jobId }) => jobId)).toEqual(['job-1:other-2']);
  });
});
