import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../rig/command.ts';
import { has, start } from '../rooms/disk/tools.ts';

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
const manifest = 'version: 1\nname: spring\ntasks:\n  pic: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n';

function place(): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'campaign.yaml'), manifest);
  return path;
}

const apply = (folder: string) => [process.execPath, bin, 'apply', join(folder, 'campaign.yaml'), '--sandbox', '--yes'];

test.runIf(has.strace).each(['EXDEV', 'EMLINK', 'EACCES', 'EPERM', 'ENOSYS'])(
  'where a link is refused with %s the guard takes the other way',
  async (code) => {
    const folder = place();
    const inject = ['-e', 'trace=link,linkat', '-e', `inject=link,linkat:error=${code}`];
    const ended = await start(['strace', '-f', '-qq', '-o', '/dev/null', ...inject, ...apply(folder)]).ended;
    expect([ended.code, ended.err]).toEqual([0, expect.not.stringContaining('internal error')]);
  },
  120_000,
);

test.runIf(has.strace)(
  'a disk that takes no guard at all: words, and exit code 73',
  async () => {
    const folder = place();
    const inject = ['-e', 'trace=link,linkat', '-e', 'inject=link,linkat:error=EIO'];
    const ended = await start(['strace', '-f', '-qq', '-o', '/dev/null', ...inject, ...apply(folder)]).ended;
    expect([ended.code, ended.err]).toEqual([73, expect.stringContaining('MB3301')]);
    expect(ended.err).not.toContain('internal error');
  },
  120_000,
);

test.each([['--version'], ['--help'], ['plan', 'campaign.yaml', '--json'], ['status', 'campaign.yaml', '--json']])(
  'output that cannot be written ends with 73 and one line: %s',
  async (...words) => {
    const folder = place();
    const script = `cd ${folder} && exec "$@" > /dev/full`;
    const { code, err } = await start(['bash', '-c', script, 'bash', process.execPath, bin, ...words]).ended;
    expect([code, err]).toEqual([73, expect.stringMatching(/stdout cannot be written: ENOSPC/)]);
    expect(err).not.toMatch(/^ +at /m);
  },
);

test('a working folder that was deleted: words, and a code from the table', async () => {
  const folder = place();
  const gone = join(folder, 'gone');
  const run = (...words: string[]) => {
    mkdirSync(gone);
    const script = `cd ${gone} && rmdir ${gone} && exec "$@"`;
    return start(['bash', '-c', script, 'bash', process.execPath, bin, ...words]).ended;
  };
  for (const words of [['plan', 'campaign.yaml'], apply(folder).slice(2), ['init'], ['doctor'], ['status', '--json']]) {
    const { code, err } = await run(...words);
    expect([code, err]).toEqual([65, expect.stringContaining('MB3416')]);
    expect(err).not.toContain('internal error');
  }
  for (const words of [['--help'], ['--version'], ['help', 'exit']]) expect((await run(...words)).code).toBe(0);
}, 120_000);
