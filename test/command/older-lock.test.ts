import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findOwnFolder } from '../../src/disk/state/own-secret.ts';
import { digestOfLock } from '../../src/disk/state/spending-files.ts';
import { command, temporaryFolder } from '../rig/command.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { serviceHere } from '../rig/service-here.ts';

const head = 'version: 1\nname: spring\ntasks:\n  hero: { kind: image, with: { prompt: a hero, resolution: 1k } }\n';
const film = '  film: { kind: video, with: { prompt: a film } }\n';
const vase = '  vase: { kind: image, with: { prompt: a vase, resolution: 1k } }\n';

/** A campaign in git whose first picture is bought. */
async function place({ ownState = false } = {}) {
  const home = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    home.remove();
  });
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: home.path, env: gitEnvironment, stdio: 'pipe' });
  const env: Record<string, string> = {
    ...service.env,
    ...(ownState && { XDG_STATE_HOME: join(home.path, '.git', 'state') }),
  };
  const run = (...args: string[]) => command(args, { cwd: home.path, env });
  const apply = (...args: string[]) => run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args);
  const write = (text: string) => writeFileSync(join(home.path, 'campaign.yaml'), text);
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'x');
  };
  const refuse = () =>
    service.addFaults([{ on: 'create', do: { type: 'status', status: 402, body: { success: false, error: 'none' } } }]);
  git('init', '-q');
  write(head);
  expect((await apply()).code).toBe(0);
  commit();
  return { home: home.path, env, git, run, apply, write, commit, spends: () => service.ledger().length, refuse };
}

/** As if everything that this person has bought for a lock had been bought so many hours earlier. */
function age(lock: string, hours: number): void {
  const folder = join(findOwnFolder() ?? '', 'spending');
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    const older = lines.map((line) =>
      line.includes(`"lock":"${digestOfLock(lock)}"`)
        ? line.replace(/(?<="at":")[^"]+/, (at) => new Date(Date.parse(at) - hours * 3_600_000).toISOString())
        : line,
    );
    writeFileSync(join(folder, name), older.join('\n'));
  }
}

test('what was bought for a lock is not bought again when an older version of it is put back', async () => {
  const { git, run, apply, write, commit, spends } = await place();
  write(head + film);
  expect((await apply()).code).toBe(0);
  expect(spends()).toBe(2);
  git('stash');
  write(head + film);
  for (const args of [[], ['--on-error', 'finish']]) {
    const { code, err } = await apply(...args);
    expect([code, err]).toEqual([65, expect.stringContaining('MB3409')]);
    expect(err).toMatch(/seems to be an older version of itself, .*bought film/);
  }
  const planned = await run('plan', 'campaign.yaml');
  expect([planned.code, planned.err]).toEqual([0, expect.stringContaining('apply would end with exit code 65')]);
  expect(spends()).toBe(2);
  // The printed way back is free, and so is the other one.
  const [, id = ''] = /mediabatch import campaign.yaml film (\S+)/.exec((await apply()).err) ?? [];
  expect((await run('import', 'campaign.yaml', 'film', id)).code).toBe(0);
  expect((await apply()).code).toBe(0);
  git('checkout', '-q', '--', 'campaign.lock.jsonl', 'campaign.yaml');
  git('stash', 'pop');
  expect((await apply()).code).toBe(0);
  commit();
  git('checkout', 'HEAD~1', '--', 'campaign.lock.jsonl');
  expect((await apply()).err).toContain('git restore campaign.lock.jsonl');
  expect(spends()).toBe(2);
});

test('it is bought again by who says so, once', async () => {
  const { git, apply, write, spends } = await place();
  write(head + film + film.replaceAll('film', 'trailer'));
  await apply();
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  const again = await apply('--new', '--select', 'film');
  expect(again.err).not.toContain('--new has no part in this');
  expect([again.code, spends()]).toEqual([0, 4]);
  expect([(await apply()).code, spends()]).toEqual([0, 5]);
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  expect([(await apply()).code, spends()]).toEqual([65, 5]);
});

test('what another working tree of the repository was charged is not bought again in this one', async () => {
  const { home, env, git, apply, write, spends } = await place();
  git('worktree', 'add', '-q', join(home, '.git', 'tree'));
  write(head + film);
  expect((await apply()).code).toBe(0);
  const tree = join(home, '.git', 'tree');
  const there = (...args: string[]) =>
    command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args], { cwd: tree, env });
  writeFileSync(join(tree, 'campaign.yaml'), head + film);
  const { code, err } = await there();
  expect([code, err, spends()]).toEqual([65, expect.stringMatching(/MB3409.*bought film/s), 2]);
  expect([(await there('--new')).code, spends()]).toEqual([0, 3]);
});

test('a picture comes back by its key for a day, and is asked about then, also where nothing else is left', async () => {
  const { home, git, apply, write, commit, spends } = await place();
  write(head + vase);
  await apply();
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  expect([(await apply()).code, spends()]).toEqual([0, 2]);
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  age(join(home, 'campaign.lock.jsonl'), 23);
  expect([(await apply()).code, spends()]).toEqual([65, 2]);
  commit();
  git('rm', '-rqf', '.');
  git('update-ref', '-d', 'HEAD');
  for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true });
  write(head + vase);
  const { code, err } = await apply();
  expect([code, err]).toEqual([65, expect.stringMatching(/has no lock, and .* bought hero, vase/)]);
  expect(spends()).toBe(2);
});

test('what the lock knows at another address is not missed: a step that shared a job, or whose twin was forgotten', async () => {
  const { run, apply, write, spends } = await place();
  const twin = film.replace('film:', 'trailer:');
  write(head + film + twin);
  expect([(await apply()).code, spends()]).toEqual([0, 2]);
  expect([(await apply('--redo', 'film')).code, spends()]).toEqual([0, 3]);
  expect([(await apply('--redo', 'trailer')).code, spends()]).toEqual([0, 4]);
  write(head);
  expect((await run('forget', 'campaign.yaml', '--orphans')).code).toBe(0);
  write(head + film.replace('film:', 'teaser:'));
  expect([(await apply()).code, spends()]).toEqual([0, 5]);
});

test('what was refused before it was bought is not bought again, either', async () => {
  const { git, apply, write, commit, spends, refuse } = await place();
  write(head + film);
  refuse();
  expect((await apply()).code).not.toBe(0);
  commit();
  expect([(await apply()).code, spends()]).toEqual([0, 2]);
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  expect([(await apply()).code, spends()]).toEqual([65, 2]);
});

test('a post that is out is not sent again', async () => {
  const { git, run, apply, write } = await place();
  const [, account] = /(acc_\w+)/.exec((await run('list', 'accounts', '--json')).out) ?? [];
  write(`${head}  tell: { kind: post, with: { caption: Hello, accountIds: [${account}] } }\n`);
  expect((await apply('--publish')).out + (await apply('--publish')).err).not.toContain('1 to create, 1');
  git('checkout', '-q', '--', 'campaign.lock.jsonl');
  const { code, err } = await apply('--publish');
  expect([code, err]).toEqual([65, expect.stringMatching(/bought before: .*tell/)]);
});

test('where what was spent cannot be read, a plan goes on, and nothing is bought', async () => {
  const { run, apply, write, spends, env } = await place({ ownState: true });
  write(head + film);
  const spending = join(env.XDG_STATE_HOME ?? '', 'mediabatch/spending');
  rmSync(spending, { recursive: true });
  writeFileSync(spending, '');
  expect((await run('plan', 'campaign.yaml')).code).toBe(0);
  const { code, err } = await apply();
  expect([code, err, spends()]).toEqual([73, expect.stringContaining('spending is no folder'), 1]);
});
