import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, command, temporaryFolder } from '../rig/command.ts';
import { type Ended, runProgram } from '../rig/run-program.ts';
import { has } from '../rooms/disk/tools.ts';

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
