import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, temporaryFolder } from '../rig/command.ts';
import { type Ended, runProgram } from '../rig/run-program.ts';
import { has, start } from '../rooms/disk/tools.ts';

describe('odd disk', () => {
  const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));
  const manifest =
    'version: 1\nname: spring\ntasks:\n  pic: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n';

  function place(): string {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    writeFileSync(join(path, 'campaign.yaml'), manifest);
    return path;
  }

  const apply = (folder: string) => [
    process.execPath,
    bin,
    'apply',
    join(folder, 'campaign.yaml'),
    '--sandbox',
    '--yes',
  ];

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
    for (const words of [
      ['plan', 'campaign.yaml'],
      apply(folder).slice(2),
      ['init'],
      ['doctor'],
      ['status', '--json'],
    ]) {
      const { code, err } = await run(...words);
      expect([code, err]).toEqual([65, expect.stringContaining('MB3416')]);
      expect(err).not.toContain('internal error');
    }
    for (const words of [['--help'], ['--version'], ['help', 'exit']]) expect((await run(...words)).code).toBe(0);
  }, 120_000);
});

const manifest = `version: 1
name: looked-at
budget: { credits: 20 }
tasks:
  pic: { kind: image, foreach: rows.csv, key: "{{row.k}}", with: { prompt: "a {{row.k}}", resolution: 1k } }
`;

/** Commands that only look, in a campaign of which some is bought. */
const looking = [
  'validate campaign.yaml',
  'plan campaign.yaml',
  'plan campaign.yaml --json',
  'plan campaign.yaml --sandbox',
  'apply campaign.yaml --dry-run',
  'status campaign.yaml --sandbox',
  'outputs campaign.yaml --sandbox',
  'explain campaign.yaml pic@a --sandbox',
  'explain campaign.yaml pic@b',
  'explain campaign.yaml pic@a --request',
  'explain campaign.yaml --origins',
  'pin campaign.yaml pic@a --sandbox --dry-run',
  'forget campaign.yaml pic@a --sandbox --dry-run',
];

/** Commands that write, or would. */
const writing = ['apply campaign.yaml --sandbox --yes', 'pin campaign.yaml pic@a --sandbox'];

/** A campaign in which `pic@a` was bought with sandbox credits, and `pic@b` is new. */
async function boughtFolder(): Promise<string> {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'campaign.yaml'), manifest);
  writeFileSync(join(path, 'rows.csv'), 'k\na\n');
  const bought = await command(['apply', 'campaign.yaml', '--sandbox', '--yes'], { cwd: path });
  expect(bought.code, bought.err).toBe(0);
  writeFileSync(join(path, 'rows.csv'), 'k\na\nb\n');
  return path;
}

/** Everything below a folder, with the times at which it was changed. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs, ctimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs} ${ctimeMs}`;
    });
}

function run(words: string[], cwd: string): Promise<Ended> {
  return runProgram(words, { cwd, env: { HOME: '/nonexistent' } });
}

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, bin];

function canBeNobody(): boolean {
  try {
    const [program = '', ...rest] = nobody;
    execFileSync(program, [...rest, '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** `before`: what a command is started with. */
async function expectOnlyLooking(folder: string, before: string[]): Promise<void> {
  const was = listing(folder);
  for (const words of looking) {
    const { code, said } = await run([...before, ...words.split(' ')], folder);
    expect(code, `${words}: ${said}`).toBe(0);
    expect(said).not.toMatch(/EROFS|EACCES|internal error/);
  }
  expect(listing(folder)).toEqual(was);
}

describe('read-only commands', () => {
  test('leave no file behind and change none', async () => {
    const folder = await boughtFolder();
    await expectOnlyLooking(folder, [process.execPath, bin]);
    const { said } = await run([process.execPath, bin, 'plan', 'campaign.yaml'], folder);
    expect(said).not.toContain('cannot be written');
  });

  test.runIf(has.root && has.mounts)('work on a file system that is mounted for reading (root)', async () => {
    const folder = await boughtFolder();
    const script = 'mount --bind "$PWD" "$PWD" && mount -o remount,bind,ro "$PWD" && cd "$PWD" && exec "$@"';
    const before = ['unshare', '--mount', 'sh', '-c', script, 'sh', process.execPath, bin];
    await expectOnlyLooking(folder, before);
    const { said } = await run([...before, 'plan', 'campaign.yaml'], folder);
    expect(said).toContain('the folder output cannot be written, and pic@a is to be saved there: apply would end with');
    for (const words of writing) expect((await run([...before, ...words.split(' ')], folder)).code, words).toBe(73);
  });

  test.runIf(has.root ? canBeNobody() : true)(
    'work in somebody else’s folder, whose state nobody may read',
    async () => {
      const folder = await boughtFolder();
      chmodSync(join(folder, '.mediabatch'), 0o000);
      chmodSync(folder, 0o555);
      onTestFinished(() => {
        chmodSync(folder, 0o755);
        chmodSync(join(folder, '.mediabatch'), 0o755);
      });
      const before = has.root ? nobody : [process.execPath, bin];
      for (const words of looking) {
        const { code, said } = await run([...before, ...words.split(' ')], folder);
        expect(code, `${words}: ${said}`).toBe(0);
      }
      for (const words of writing) expect((await run([...before, ...words.split(' ')], folder)).code, words).toBe(73);
    },
  );
});
