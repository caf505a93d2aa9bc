import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The tests that run the command run what users get: the built files. */
export function setup(): () => void {
  // Drawn once for all tests of a run: the same request gives the same bytes.
  const files = mkdtempSync(join(tmpdir(), 'mediabatch-files-'));
  process.env.MEDIABATCH_TEST_FILES = files;
  if (!process.env.MEDIABATCH_TEST_NO_BUILD) {
    const root = fileURLToPath(new URL('..', import.meta.url));
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return () => rmSync(files, { recursive: true, force: true });
}
