import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The tests that run the command run what users get: the built files. */
export function setup(): void {
  if (process.env.MEDIABATCH_TEST_NO_BUILD) return;
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
