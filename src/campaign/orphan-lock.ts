import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { listFolder } from '../disk/fs/list-folder.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { longestLock } from './find-locks.ts';
import type { CampaignPaths } from './paths.ts';

const ending = /\.lock\.jsonl$/;
const sandboxEnding = '.sandbox.lock.jsonl';

/**
 * Refuses to begin without a lock where one with jobs of the same service has lost its manifest: whoever renames a manifest
 * and leaves the lock behind would buy, and post, everything again. A lock that was named (`--lock`) is meant.
 */
export async function refuseOrphanLock(paths: CampaignPaths, service: string): Promise<void> {
  const { folder, lock, manifest, isLockNamed } = paths;
  if (isLockNamed || lock.endsWith(sandboxEnding)) return;
  const names = (await listFolder(folder)).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  for (const name of names.filter((one) => ending.test(one) && !one.endsWith(sandboxEnding))) {
    const path = join(folder, name);
    if (['.yaml', '.yml', '.json'].some((one) => existsSync(path.replace(ending, one)))) continue;
    const bytes = await readLockBytes(path, longestLock).catch(() => undefined);
    if (bytes === undefined || !bytes.includes(`"service":"${service}"`) || !bytes.includes('"jobId"')) continue;
    const [shown, own] = [path, lock].map((one) => relative('', one) || one) as [string, string];
    throw new CampaignError({
      code: 'MB3407',
      message: `${manifest} has no lock, and ${shown} has no manifest: what that one tells of may be bought again`,
      hint: `when the manifest was renamed, rename its lock as well: git mv ${shown} ${own}. When this is another campaign, say so once, by naming its lock: --lock ${own}`,
      lock: shown,
    });
  }
}
