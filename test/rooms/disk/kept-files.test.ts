import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { KeptFiles } from '../../../src/disk/outputs/kept-files.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { SavedFiles } from '../../../src/disk/outputs/saved-files.ts';
import { keepAnswer, keepDurations, readAnswer, readKeptDurations } from '../../../src/disk/state/caches.ts';
import { makeRunId, RunHistory, RunJournal } from '../../../src/disk/state/run-history.ts';
import { writeSealedFile } from '../../../src/disk/state/sealed-file.ts';
import type { Json } from '../../../src/ground/json.ts';
import { makeFolder, makePipe } from '../../rig/folder.ts';
import { jpeg, png } from './media.ts';
import { chunks, filesIn, recorded, sha256, target } from './targets.ts';

/** Another picture, as far as anybody looks: a chunk more before the end. */
const newPng = Buffer.concat([
  png.subarray(0, -12),
  Buffer.from('\0\0\0\x04tEXtmore\0\0\0\0', 'latin1'),
  png.subarray(-12),
]);

/** A folder with a saved `a.png` that the next output may replace. */
function withSaved(state = makeFolder()) {
  const root = makeFolder();
  const from = recorded('a.png', png);
  writeFileSync(join(root, 'a.png'), png);
  const saved = new SavedFiles();
  void saved.note(from.path, from.sha256);
  const kept = new KeptFiles(state, 'kept');
  const outputs = createOutputs(root, { saved, kept });
  const aim = target({ save: 'a', replaces: [from.sha256] });
  const replace = () => outputs.save(aim, { body: chunks(newPng), bytes: newPng.length });
  return { root, state, from, kept, outputs, aim, replace, name: `${from.sha256}.png` };
}

describe('what a newer output replaces', () => {
  it('stays under its digest, and comes back as a file of its own', async () => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    const { ino } = statSync(join(root, 'a.png'));
    const newer = await replace();
    expect(filesIn(root)).toEqual(['a.png']);
    expect(filesIn(state)).toEqual(['.gitignore', `kept/${name}`]);
    expect(statSync(join(state, 'kept', name)).ino).toBe(ino);
    expect(await outputs.relocate({ ...aim, replaces: [newer.sha256] }, from, { remove: true })).toEqual(from);
    expect(readFileSync(join(root, 'a.png')).equals(png)).toBe(true);
    appendFileSync(join(root, 'a.png'), 'retouched');
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
    expect(await kept.find(newer)).toBe(join(state, 'kept', `${newer.sha256}.png`));
    expect(aim.notices).toEqual([]);
  });

  it.skipIf(!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync('/tmp').dev)(
    'is copied where a file cannot have two names',
    async () => {
      const state = mkdtempSync('/dev/shm/mediabatch-');
      onTestFinished(() => rmSync(state, { recursive: true }));
      const { from, kept, replace, name } = withSaved(state);
      await replace();
      expect(await kept.find(from)).toBe(join(state, 'kept', name));
      expect(filesIn(state)).toEqual(['.gitignore', `kept/${name}`]);
    },
  );

  it('is not used once it is damaged, and mended by the next one', async () => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    await replace();
    for (const damage of [jpeg, Buffer.concat([png, png]), Buffer.from(png).fill(0, 40)]) {
      writeFileSync(join(state, 'kept', name), damage);
      expect(await kept.find(from)).toBeUndefined();
      expect(await outputs.relocate(aim, from, { remove: true })).toBeUndefined();
    }
    expect(sha256(readFileSync(join(root, 'a.png')))).toBe(sha256(newPng));
    writeFileSync(join(root, 'a.png'), png);
    await replace();
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
  });

  it.runIf(process.platform !== 'win32').each([
    ['a link', (path: string, victim: string) => symlinkSync(victim, path)],
    ['a pipe', makePipe],
  ])('takes the place of %s (POSIX)', async (_is, make) => {
    const { root, state, from, kept, replace, name } = withSaved();
    mkdirSync(join(state, 'kept'));
    writeFileSync(join(state, 'victim'), png);
    make(join(state, 'kept', name), join(state, 'victim'));
    expect(await kept.find(from)).toBeUndefined();
    await replace();
    expect(readFileSync(join(root, 'a.png')).equals(newPng)).toBe(true);
    expect(await kept.find(from)).toBe(join(state, 'kept', name));
    expect(readFileSync(join(state, 'victim')).equals(png)).toBe(true);
  });

  it.runIf(process.platform !== 'win32').each<[string, (kept: string, name: string) => void]>([
    ['a folder has its name', (kept, name) => mkdirSync(join(kept, name), { recursive: true })],
    ['the folder is a file', (kept) => writeFileSync(kept, '')],
    ['the folder is a link', (kept) => symlinkSync('..', kept)],
  ])('stays beside the new one, and that is said, where it cannot be kept: %s (POSIX)', async (_is, spoil) => {
    const { root, state, from, kept, outputs, aim, replace, name } = withSaved();
    spoil(join(state, 'kept'), name);
    const before = filesIn(state);
    await replace();
    expect(readFileSync(join(root, 'a.png')).equals(newPng)).toBe(true);
    expect(await kept.find(from)).toBeUndefined();
    const aside = `a.changed-${from.sha256.slice(0, 8)}.png`;
    expect(aim.notices).toEqual([expect.stringContaining(`a.png was renamed to ${aside}: `)]);
    expect(filesIn(state).filter((path) => path !== '.gitignore')).toEqual(before);
    expect(filesIn(root)).toEqual([aside, 'a.png']);
    // And is found there when an earlier input comes back.
    expect(await outputs.relocate({ ...aim, save: 'b' }, from, { remove: false })).toMatchObject({ path: 'b.png' });
  });
});

const service = 'sha256:0123abcd';
const document: Json = { openapi: '3.1.0', paths: { '/videos/create': { post: {} } } };

function makeState(): string {
  return join(makeFolder(), '.mediabatch');
}

it('what was kept is read, each service by itself', async () => {
  const state = makeState();
  expect(await readAnswer(state, service, 'document')).toBeUndefined();
  await keepAnswer(state, service, 'document', document);
  expect(await readAnswer(state, service, 'document')).toEqual(document);
  expect(await readAnswer(state, 'sha256:other', 'document')).toBeUndefined();
  await keepAnswer(state, service, 'document', { paths: {} });
  expect(await readAnswer(state, service, 'document')).toEqual({ paths: {} });
  expect(readdirSync(join(state, 'service'))).toHaveLength(1);
});

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

it('a document that is nested without end is not kept', async () => {
  const state = makeState();
  await keepAnswer(state, service, 'document', document);
  await keepAnswer(state, service, 'document', JSON.parse(deep));
  expect(await readAnswer(state, service, 'document')).toEqual(document);
});

const durations = 'durations.json';

test('what was seen is known the next time', async () => {
  const state = makeFolder();
  expect(await readKeptDurations({ state, durations })).toEqual({});
  await keepDurations({ state, durations }, { image: [1000, 2000.5] });
  expect(await readKeptDurations({ state, durations })).toEqual({ image: [1000, 2000.5] });
  await keepDurations({ state, durations }, {});
  expect(await readKeptDurations({ state, durations })).toEqual({ image: [1000, 2000.5] });
});

test.each(['no JSON', '[]', '{"version":2,"durations":{"image":[1]}}', '['.repeat(100_000)])(
  'what cannot be used is as if it were not there: %.20s',
  async (text) => {
    const state = makeFolder();
    await writeSealedFile(state, durations, text);
    expect(await readKeptDurations({ state, durations })).toEqual({});
  },
);

const idOf = (minute: number) => makeRunId(Date.UTC(2026, 10, 22, 4, minute), () => 0.5);

function withRuns(count: number, bytes = 10) {
  const state = makeFolder();
  const folder = join(state, 'runs');
  mkdirSync(folder);
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  for (const id of ids) writeFileSync(join(folder, `${id}.jsonl`), 'x'.repeat(bytes));
  return { state, folder, ids, history: new RunHistory(state, 'runs') };
}

async function journalIn(state: string, mostCharacters: number): Promise<RunJournal> {
  const onLost = (error: unknown) => {
    throw error;
  };
  return RunJournal.create(state, 'runs', { name: `${idOf(0)}.jsonl`, mostCharacters, onLost });
}

describe('the history of runs', () => {
  it('keeps the newest, by number and by size, with room for one more', async () => {
    const byNumber = withRuns(5);
    await byNumber.history.prune({ runs: 3, bytes: 1000 });
    expect((await byNumber.history.list()).map(({ id }) => id)).toEqual([idOf(4), idOf(3)]);
    const bySize = withRuns(5, 100);
    await bySize.history.prune({ runs: 100, bytes: 250 });
    expect(readdirSync(bySize.folder).sort()).toEqual([`${idOf(3)}.jsonl`, `${idOf(4)}.jsonl`]);
  });

  it.runIf(process.platform !== 'win32')(
    'leaves everything alone that is no run, and looks behind no link (POSIX)',
    async () => {
      const { state, folder, history } = withRuns(1);
      writeFileSync(join(folder, 'notes.jsonl'), 'mine');
      writeFileSync(join(state, 'victim'), '{"a":1}\n');
      symlinkSync('../victim', join(folder, `${idOf(1)}.jsonl`));
      makePipe(join(folder, `${idOf(2)}.jsonl`));
      mkdirSync(join(folder, `${idOf(3)}.jsonl`));
      expect((await history.list()).map(({ id }) => id)).toEqual([idOf(0)]);
      for (const name of [idOf(1), idOf(2), idOf(3), '../victim', 'x'])
        expect(await history.read(name)).toBeUndefined();
      await history.prune({ runs: 0, bytes: 0 });
      expect(readdirSync(folder)).toHaveLength(4);
      symlinkSync('runs', join(state, 'linked'));
      const linked = new RunHistory(state, 'linked');
      expect(await linked.list()).toEqual([]);
      await linked.prune({ runs: 0, bytes: 0 });
      expect(readdirSync(folder)).toHaveLength(4);
      await expect(journalIn(join(state, 'victim'), 100)).rejects.toThrow();
    },
  );

  it('reads what is JSON of a damaged file, from its ends alone where it is long', async () => {
    const { folder, history } = withRuns(0);
    const lines = ['{"n":0}', '{"n":', 'null', `{"pad":"${'é'.repeat(200_000)}"}`, '{"n":1}', '{"n":2'];
    writeFileSync(join(folder, `${idOf(0)}.jsonl`), lines.join('\n'));
    expect(await history.readEnds(idOf(0))).toEqual([{ n: 0 }, { n: 1 }]);
    expect(await history.read(idOf(0))).toMatchObject([{ n: 0 }, { pad: expect.any(String) }, { n: 1 }]);
  });

  it('follows a run line by line, of which one may be written in two halves', async () => {
    const { folder, history } = withRuns(0);
    const path = join(folder, `${idOf(0)}.jsonl`);
    writeFileSync(path, '{"n":1}\n{"n":"ü');
    let position = 0;
    const more = async () => {
      const read = await history.readFrom(idOf(0), position);
      position = read?.next ?? position;
      return read?.values;
    };
    expect(await more()).toEqual([{ n: 1 }]);
    appendFileSync(path, 'b"}\n{"n":3');
    expect(await more()).toEqual([{ n: 'üb' }]);
    appendFileSync(path, '}\n');
    expect([await more(), await more()]).toEqual([[{ n: 3 }], []]);
  });
});
