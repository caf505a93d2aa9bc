import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateHome } from './environment.ts';

/** The tests that run the command run what users get: the built files. */
export function setup(): () => void {
  // Drawn once for all tests of a run: the same request gives the same bytes.
  const files = mkdtempSync(join(tmpdir(), 'mediabatch-files-'));
  process.env.MEDIABATCH_TEST_FILES = files;
  const root = fileURLToPath(new URL('..', import.meta.url));
  if (!process.env.MEDIABATCH_TEST_NO_BUILD && !isBuilt(root)) {
    const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, encoding: 'utf8' });
    if (status !== 0) {
      // Vitest would go on to say that there are no tests, with a list of all patterns: its last line is what people read.
      process.stderr.write(`${stdout ?? ''}${stderr ?? ''}\nThe build failed, so no test ran: npm run build\n`);
      process.exit(1);
    }
  }
  return () => {
    for (const folder of [files, stateHome]) rmSync(folder, { recursive: true, force: true });
  };
}

/** True when nothing that a build reads was changed, added or removed since what was built. */
function isBuilt(root: string): boolean {
  const changedAt = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs;
  const builtAt = changedAt('dist/cli/bin.js');
  if (builtAt === undefined) return false;
  const folders = ['src', 'schemas'];
  const within = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  return [...folders, ...within, 'package.json', 'package-lock.json'].every(
    (path) => (changedAt(path) ?? 0) <= builtAt,
  );
}
