import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { foldersOfPattern } from '../../../src/disk/fs/folders.ts';
import { WatchedFiles } from '../../../src/disk/watch/watched-files.ts';
import { temporaryFolder } from '../../rig/command.ts';

type Listen = NonNullable<NonNullable<ConstructorParameters<typeof WatchedFiles>[1]>['listen']>;

function folder(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  return path;
}

/** Watches paths; `changed` resolves at the next change. */
function watchPaths(
  paths: readonly string[],
  listen: Listen = watch,
): { changed(): Promise<void>; files: WatchedFiles } {
  let wake = () => {};
  const files = new WatchedFiles(() => wake(), { lookEveryMs: 50, listen });
  onTestFinished(() => files.close());
  files.watch(paths);
  const changed = () =>
    new Promise<void>((done) => {
      wake = done;
    });
  return { changed, files };
}

test.each([
  ['report', watch],
  [
    'do not report, and are looked at',
    () => {
      throw Object.assign(new Error('no more watchers'), { code: 'ENOSPC' });
    },
  ],
] satisfies [string, Listen][])(
  'folders %s: a file that changes, goes, and comes with its folder',
  async (_how, listen) => {
    const path = join(folder(), 'new/file');
    const { changed } = watchPaths([path], listen);
    mkdirSync(join(path, '..'));
    writeFileSync(path, 'a');
    await changed();
    const written = changed();
    writeFileSync(path, 'bc');
    await written;
    const gone = changed();
    rmSync(join(path, '..'), { recursive: true });
    await gone;
    const back = changed();
    mkdirSync(join(path, '..'));
    writeFileSync(path, 'bc');
    await back;
  },
);

test('a folder that another one replaces reports again', async () => {
  const place = folder();
  const path = join(place, 'in/file');
  for (const name of ['in', 'other']) {
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, 'file'), name);
  }
  const { changed } = watchPaths([path]);
  const replaced = changed();
  renameSync(join(place, 'in'), join(place, 'old'));
  renameSync(join(place, 'other'), join(place, 'in'));
  await replaced;
  const written = changed();
  writeFileSync(path, 'again');
  await written;
});

test('a link that leads elsewhere is followed there, long before anybody looks', async () => {
  const place = folder();
  for (const name of ['a', 'b']) {
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, 'file'), name);
  }
  symlinkSync('a/file', join(place, 'link'));
  const listen = vi.fn<Listen>(watch);
  const { changed } = watchPaths([join(place, 'link')], listen);
  const turned = changed();
  symlinkSync('b/file', join(place, 'link~'));
  renameSync(join(place, 'link~'), join(place, 'link'));
  await turned;
  await vi.waitFor(() => expect(listen.mock.calls.map(([path]) => path)).toContain(realpathSync(join(place, 'b'))));
  const written = changed();
  writeFileSync(join(place, 'b/file'), 'again');
  await written;
});

test('what a file and a link to it are told by one report is not told once more by looking', async () => {
  const place = folder();
  writeFileSync(join(place, 'file'), 'a');
  symlinkSync('file', join(place, 'link'));
  let report: (event: string, name: string | null) => void = () => {};
  const listen: Listen = (path, onReport) => {
    report = onReport;
    return watch(path, () => {});
  };
  let calls = 0;
  const files = new WatchedFiles(
    () => {
      calls += 1;
    },
    { lookEveryMs: 20, listen },
  );
  onTestFinished(() => files.close());
  files.watch([join(place, 'file'), join(place, 'link')]);
  writeFileSync(join(place, 'file'), 'bc');
  report('change', 'file');
  await new Promise((done) => setTimeout(done, 150));
  expect(calls).toBe(1);
});

test('a folder changes with its entries, and nothing else in it matters to a file', async () => {
  const place = folder();
  writeFileSync(join(place, 'file'), 'a');
  let calls = 0;
  const files = new WatchedFiles(() => {
    calls += 1;
  });
  onTestFinished(() => files.close());
  files.watch([join(place, 'file')]);
  writeFileSync(join(place, 'other'), 'a');
  // Looked at all the same, and found to be as it was.
  await new Promise((done) => setTimeout(done, 50));
  expect(calls).toBe(0);
  const { changed } = watchPaths([place]);
  const entered = changed();
  writeFileSync(join(place, 'third'), 'a');
  await entered;
  expect(calls).toBe(0);
});

test('folders of a pattern: those in which a file may match', async () => {
  const place = folder();
  for (const name of ['in/a/b', 'in/.git', 'in/node_modules/x', 'out'])
    mkdirSync(join(place, name), { recursive: true });
  const found = async (pattern: string) =>
    (await foldersOfPattern(place, pattern)).map((path) => path.slice(place.length + 1));
  expect(await found('in/*.png')).toEqual(['in']);
  expect(await found('./in/*/*.png')).toEqual(['in', 'in/a']);
  expect(await found('in/**/*.png')).toEqual(['in', 'in/a', 'in/a/b']);
  expect(await found('later/*.png')).toEqual(['later']);
  expect(await found('*.png')).toEqual(['']);
});
