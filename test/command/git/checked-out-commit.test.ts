import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findCheckedOutCommit } from '../../../src/disk/git/git-command.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';

function repository() {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: path, env: gitEnvironment, encoding: 'utf8', stdio: 'pipe' }).trim();
  git('init', '-q', '-b', 'main');
  return { path, git, commit: () => git('commit', '-q', '--allow-empty', '-m', 'x') };
}

test('finds the checked-out commit in a folder, a linked work tree and a detached head', async () => {
  const { path, git, commit } = repository();
  const inner = join(path, 'campaigns', 'spring');
  mkdirSync(inner, { recursive: true });
  expect(await findCheckedOutCommit(inner)).toBeUndefined();
  commit();
  expect(await findCheckedOutCommit(inner)).toBe(git('rev-parse', 'main'));
  git('worktree', 'add', '-q', '-b', 'other', 'linked', 'main');
  git('checkout', '-q', '--detach', 'main');
  commit();
  expect(await findCheckedOutCommit(inner)).toBe(git('rev-parse', 'HEAD'));
  expect(await findCheckedOutCommit(join(path, 'linked'))).toBe(git('rev-parse', 'other'));
});

test('starts no git outside of a repository', async () => {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const bin = join(path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch ${join(path, 'started')}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await findCheckedOutCommit(path)).toBeUndefined();
  expect(existsSync(join(path, 'started'))).toBe(false);
  mkdirSync(join(path, '.git'));
  await findCheckedOutCommit(path);
  expect(existsSync(join(path, 'started'))).toBe(true);
});
