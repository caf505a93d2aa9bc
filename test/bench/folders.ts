import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** More files than this are removed when all is measured. */
const fewFiles = 100;
const leftForLater: string[] = [];

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'mediabatch-bench-'));
}

/**
 * ext4 gives no inode away again for a minute or more after a file was deleted, and each new file looks at all of those that
 * it must not have: a run right after a thousand files were removed pays for that, and users do not.
 */
export function removeFolder(folder: string, files: number): void {
  if (files <= fewFiles) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  else leftForLater.push(folder);
}

process.once('exit', () => {
  for (const folder of leftForLater) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
