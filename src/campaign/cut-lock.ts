import { basename, dirname, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { isKnownToGit, readCommittedFile } from '../disk/git/known-blob.ts';
import { type SeenLock, seenLockPath } from '../disk/lock/seen-lock.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { type Advice, advise, call } from '../plan/advice.ts';
import { shellWord } from '../report/shell-word.ts';

/**
 * Refuses a lock that is a part of what this machine wrote last: whatever it does not tell of would be bought, and
 * posted, again. Whole lines that git has are an earlier version that somebody took from there.
 */
export async function refuseCutLock(
  bytes: Buffer,
  { seen, path, shown }: { seen: SeenLock; path: string; shown: string },
): Promise<void> {
  const folder = dirname(path);
  if (bytes.at(-1) === 0x0a && (await isKnownToGit(folder, bytes))) return;
  const zeros = bytes.length - bytes.toString('latin1').replace(/\0+$/, '').length;
  const left = bytes.length - zeros;
  throw new CampaignError({
    code: 'MB3415',
    message: `the end of the lock ${shown} is lost: of the ${seen.bytes} bytes that were written here last, ${left} are left${zeros > 0 ? `, and ${zeros} zero bytes` : ''}; nothing was sent`,
    hint: wayBack(await readCommittedFile(folder, basename(path)), { seen, path, shown }),
    lock: shown,
  });
}

function wayBack(
  committed: Buffer | undefined,
  { seen, path, shown }: { seen: SeenLock; path: string; shown: string },
): Advice {
  const [note, own] = [relative('', seenLockPath(path)), shown].map((one) => shellWord(one));
  const meant = `If it is meant to be like this: rm ${note}`;
  if (committed !== undefined && digestOf(committed).sha256 === seen.sha256) {
    return `git has all of it: git checkout HEAD -- ${own}. ${meant}`;
  }
  const older = `git has an older version: git checkout HEAD -- ${own} puts it back, and what was bought since then`;
  const start = committed === undefined ? 'git does not have the file: take it from a copy. What no copy has' : older;
  return advise`${start} is found at the service by ${call('adopt')}. ${meant}`;
}
