import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCheckedOutCommit } from '../../../src/disk/git/repository.ts';
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

test('the commit is read from the files of git as git itself says it', () => {
  const { path, git, commit } = repository();
  const inner = join(path, 'campaigns', 'spring');
  mkdirSync(inner, { recursive: true });
  const isSame = (folder = inner, head = git('rev-parse', 'HEAD')) => expect(readCheckedOutCommit(folder)).toBe(head);
  expect(readCheckedOutCommit(inner)).toBeUndefined();
  commit();
  isSame();
  git('checkout', '-q', '-b', 'feature/teaser');
  commit();
  isSame();
  git('pack-refs', '--all');
  isSame();
  commit();
  isSame();
  git('worktree', 'add', '-q', '-b', 'other', 'linked', 'main');
  isSame(join(path, 'linked'), git('rev-parse', 'other'));
  git('checkout', '-q', '--detach', 'main');
  isSame();
});

test('what is no repository, or pretends to be one, has none', () => {
  const { path } = repository();
  const head = join(path, '.git', 'HEAD');
  writeFileSync(join(path, 'secret'), 'a'.repeat(40));
  for (const text of ['ref: refs/../../secret', 'ref: ../secret', 'ref: refs/heads/none', 'x', '']) {
    writeFileSync(head, text);
    expect(readCheckedOutCommit(path), text).toBeUndefined();
  }
  writeFileSync(head, 'c'.repeat(40));
  expect(readCheckedOutCommit(path)).toBe('c'.repeat(40));
});
