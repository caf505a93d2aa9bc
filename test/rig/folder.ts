import { execFileSync } from 'node:child_process';
import { linkSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that is gone after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'mediabatch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

let pipe: string | undefined;

/** A named pipe at a path. Node cannot make one: all of a process are links to the first. */
export function makePipe(path: string): void {
  if (pipe === undefined) {
    pipe = join(mkdtempSync(join(process.env.MEDIABATCH_TEST_FILES ?? tmpdir(), 'pipe-')), 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
  }
  linkSync(pipe, path);
}
