import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../rig/command.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { serviceHere } from '../rig/service-here.ts';

const task = (name: string) => `  ${name}: { kind: image, with: { prompt: a ${name}, resolution: 1k } }\n`;
const manifest = (...names: string[]) => `version: 1\nname: spring\ntasks:\n${names.map(task).join('')}`;

/** A campaign whose last record is of a step that is bought, in a repository that has its lock. */
async function place({ git = true } = {}) {
  const home = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    home.remove();
  });
  const at = (name: string) => join(home.path, name);
  const runGit = (...words: string[]) =>
    execFileSync('git', words, { cwd: home.path, env: gitEnvironment, stdio: 'pipe' });
  const lockPath = at('campaign.lock.jsonl');
  const run = (...args: string[]) => command(args, { cwd: home.path, env: service.env });
  const apply = (...args: string[]) => run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args);
  const buy = async (...names: string[]) => {
    writeFileSync(at('campaign.yaml'), manifest(...names));
    expect((await apply()).code).toBe(0);
    if (git) {
      runGit('add', '-A');
      runGit('commit', '-qm', names.join());
    }
  };
  if (git) runGit('init', '-q');
  await buy('hero');
  await buy('hero', 'vase');
  return {
    at,
    run,
    apply,
    buy,
    git: runGit,
    lockPath,
    lock: () => readFileSync(lockPath, 'utf8'),
    spends: () => service.ledger().length,
  };
}

/** The file with its last bytes taken away, or turned into zeros. */
const cuts: [string, (text: string) => string][] = [
  ['a last line that is cut before its state', (text) => text.slice(0, text.lastIndexOf('"state"') + 3)],
  ['a last line that is cut after the id of its job', (text) => text.slice(0, text.lastIndexOf('"credits"') + 3)],
  ['a last line that is gone', (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
  [
    'a last line that is zero bytes',
    (text) => {
      const end = text.lastIndexOf('\n', text.length - 2) + 1;
      return text.slice(0, end) + '\0'.repeat(text.length - end);
    },
  ],
  ['fewer zero bytes than there were', (text) => `${text.slice(0, -200)}${'\0'.repeat(20)}`],
  ['no byte', () => ''],
  ['only zero bytes', (text) => '\0'.repeat(text.length)],
];

test.each(cuts)('I12 a finished lock with %s is damage: nothing is sent, and git has it', async (_what, cut) => {
  const { run, apply, git, lockPath, lock, spends } = await place();
  const before = lock();
  const left = cut(before);
  // Whole lines that git has are a version of it.
  if (left.endsWith('\n')) git('update-ref', '-d', 'HEAD');
  if (left.endsWith('\n')) rmSync(join(lockPath, '..', '.git'), { recursive: true });
  writeFileSync(lockPath, left);
  for (const { code, err } of [await run('plan', 'campaign.yaml'), await apply()]) {
    expect([code, err]).toEqual([65, expect.stringContaining('MB3415')]);
    if (!left.endsWith('\n')) expect(err).toContain('git has all of it: git checkout HEAD -- campaign.lock.jsonl');
  }
  expect([spends(), lock()]).toEqual([2, left]);
  if (left.endsWith('\n')) return;
  git('checkout', 'HEAD', '--', 'campaign.lock.jsonl');
  expect((await apply()).code).toBe(0);
  expect([spends(), lock()]).toEqual([2, before]);
});

test('an earlier version from git is no damage, nor is a merge, an edit, or a file that is meant', async () => {
  const { at, run, apply, buy, git, lockPath, lock, spends } = await place();
  const whole = lock();
  git('checkout', '-q', 'HEAD~1');
  expect(whole.startsWith(lock())).toBe(true);
  expect((await apply()).code).toBe(0);
  git('checkout', '-q', '-');
  await buy('hero', 'vase', 'zoo');
  expect(spends()).toBe(3);
  git('checkout', 'HEAD~2', '--', 'campaign.lock.jsonl');
  expect((await run('plan', 'campaign.yaml')).out).toContain('2 to create');
  // What nobody has anywhere is refused, until somebody says that it is meant.
  git('checkout', 'HEAD', '--', 'campaign.lock.jsonl');
  expect((await apply('--redo', 'zoo')).code).toBe(0);
  const redone = lock();
  writeFileSync(lockPath, redone.slice(0, redone.lastIndexOf('\n', redone.length - 2) + 1));
  git('checkout', 'HEAD~1', '--', 'campaign.lock.jsonl');
  expect((await run('plan', 'campaign.yaml')).code).toBe(0);
  writeFileSync(lockPath, redone.slice(0, -30));
  const { code, err } = await run('plan', 'campaign.yaml');
  expect([code, err]).toEqual([65, expect.stringContaining('git has an older version')]);
  rmSync(at('.mediabatch/campaign.lock.jsonl.written'));
  expect(await run('plan', 'campaign.yaml')).toMatchObject({ code: 65, err: expect.stringContaining('git restore') });
});

test('in a fresh clone a last line that is the beginning of a record is damage; of an append it is not', async () => {
  const { at, run, lockPath, lock } = await place();
  rmSync(at('.mediabatch'), { recursive: true });
  const text = lock();
  for (const left of [
    text.slice(0, text.lastIndexOf('"state"') + 3),
    `${text.slice(0, -200).replace(/\{[^{]*$/, '')}\0\0`,
  ]) {
    writeFileSync(lockPath, left);
    const { code, err } = await run('plan', 'campaign.yaml');
    expect([code, err]).toEqual([65, expect.stringContaining('the end of the file is lost')]);
  }
  writeFileSync(lockPath, `${text}{"kind":"image","address":"he`);
  const { code, err } = await run('plan', 'campaign.yaml');
  expect([code, err]).toEqual([0, expect.stringContaining('MB2004')]);
});

test('an append that was cut off is recovered, at every byte', async () => {
  const { apply, lockPath, lock, spends } = await place();
  const text = lock();
  for (const tail of ['{"kind":"image","address":"vase","fing', '\0\0\0\0', '{', '{"kind"']) {
    writeFileSync(lockPath, text + tail);
    expect((await apply()).code).toBe(0);
    expect([spends(), lock()]).toEqual([2, text]);
  }
  truncateSync(lockPath, text.length - 1);
  expect((await apply()).code).toBe(0);
  expect(spends()).toBe(2);
});
