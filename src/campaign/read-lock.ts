import { basename, dirname, relative } from 'node:path';
import { CampaignError, type Failure } from '../contract/failure.ts';
import type { LockFile } from '../contract/ports.ts';
import { isKnownToGit, readCommittedFile } from '../disk/git/git-command.ts';
import { openLockFile, readLockBytes } from '../disk/lock/lock-file.ts';
import { compareWithSeen, readSeenLock, type SeenLock, seenLockPath } from '../disk/lock/seen-lock.ts';
import { type Digest, digestOf } from '../disk/outputs/hash-file.ts';
import { type Advice, call, shell, way } from '../ground/advice.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { messageOf } from '../ground/values.ts';
import { compareVersions } from '../ground/version.ts';
import { newestVersion } from '../lock/join.ts';
import { type LockReading, readLock } from '../lock/read.ts';
import { newerProgram } from '../lock/read-problems.ts';
import type { Lock } from '../lock/record.ts';
import { emptyLock, writeHeader } from '../lock/write.ts';
import { belongingOf, refuseElsewhere, withoutTwoServices } from './lock-service.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { ownVersion } from './own-version.ts';

export interface LoadedLock {
  lock: Lock;
  /** Digest of the bytes that were read, to notice a change; absent when there is no file. */
  read?: Digest;
  tornTailAt?: number;
  needsRewrite: boolean;
  /** Whether something was told of it. */
  isNotable: boolean;
  /** Whether it has purchases of another address, and `--service-moved` was given: a person has to agree. */
  isMoved: boolean;
  /** Whether its header in the file is not that of this service yet: it must be, durably, before anything is bought. */
  isOfAnother: boolean;
}

/**
 * The lock, or the end of the command before anything is sent. `service` is the digest that the lock must belong to;
 * undefined when nobody knows where the service is. With `serviceMoved` it may have been made against another address:
 * whoever writes asks a person first (`agreeToMove`).
 */
export async function requireLock(
  { paths, tell }: Pick<OpenCampaign, 'paths' | 'tell'>,
  service: string | undefined,
  { serviceMoved = false, isOnlyRead = false }: { serviceMoved?: boolean | undefined; isOnlyRead?: boolean } = {},
): Promise<LoadedLock> {
  const shown = relative('', paths.lock) || paths.lock;
  let bytes: Buffer | undefined;
  try {
    bytes = await readLockBytes(paths.lock);
  } catch (error) {
    throw new CampaignError({
      code: 'MB3407',
      message: `the lock ${shown} cannot be read: ${messageOf(error)}`,
      lock: shown,
    });
  }
  if (bytes === undefined) {
    const lock: Lock = { ...emptyLock(), writtenBy: ownVersion(), ...(service !== undefined && { service }) };
    return {
      lock,
      needsRewrite: false,
      isNotable: false,
      isMoved: false,
      isOfAnother: false,
    };
  }
  const seen = await readSeenLock(paths.lock);
  const seenAs = seen === undefined ? 'other' : compareWithSeen(bytes, seen);
  if (seen !== undefined && seenAs === 'cut') await refuseCutLock(bytes, { seen, path: paths.lock, shown });
  const reading = readLock(shown, bytes, { isOwnTail: seenAs === 'grown', isOnlyRead });
  if (hasErrors(reading.diagnostics) && !/"mediabatch"/.test(bytes.toString('utf8').replaceAll('\0', ''))) {
    throw new CampaignError({
      code: 'MB3407',
      message: `${shown} is not a lock of mediabatch: it has no header line`,
      hint: 'the lock stands beside the manifest, as campaign.lock.jsonl. One that was damaged is put back from git; nothing was sent, and nothing was changed',
      lock: shown,
    });
  }
  const diagnostics = withoutTwoServices([...reading.diagnostics, ...findNewerProgram(shown, reading)], serviceMoved);
  if (hasErrors(diagnostics)) throw new CampaignError(lockFailure(shown, diagnostics));
  if (diagnostics.length > 0) tell({ is: 'diagnostics', diagnostics, sources: new Map() });
  const belonging = belongingOf(reading, service);
  if (belonging === 'elsewhere' && service !== undefined) refuseElsewhere(reading, { shown, service, serviceMoved });
  const { needsRewrite, tornTailAt } = reading;
  return {
    lock: {
      ...reading.lock,
      writtenBy: newestVersion(reading.lock.writtenBy, ownVersion()) ?? ownVersion(),
      ...(service !== undefined && { service }),
    },
    read: digestOf(bytes),
    needsRewrite,
    isNotable: diagnostics.length > 0,
    isMoved: belonging === 'elsewhere',
    isOfAnother: belonging !== 'ours',
    ...(tornTailAt !== undefined && { tornTailAt }),
  };
}

/** Opens the lock that was read for writing. Rejects with `LockChangedError` when it is another one by now. */
export function openLoadedLock(path: string, loaded: LoadedLock, lock: Lock = loaded.lock): Promise<LockFile> {
  return openLockFile(path, {
    header: writeHeader(lock),
    read: loaded.read ?? null,
    ...(loaded.tornTailAt !== undefined && { cutAt: loaded.tornTailAt }),
  });
}

function findNewerProgram(shown: string, { lock: { writtenBy } }: LockReading): Diagnostic[] {
  const isNewer = writtenBy !== undefined && compareVersions(writtenBy, ownVersion()) > 0;
  return isNewer ? [newerProgram(shown, writtenBy)] : [];
}

function lockFailure(lock: string, diagnostics: readonly Diagnostic[]): Failure {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  const code = first?.code === 'MB2002' || first?.code === 'MB2003' ? first.code : 'MB2001';
  return { code, message: first?.message ?? `the lock ${lock} is damaged`, lock, diagnostics, sources: new Map() };
}

/**
 * Refuses a lock that is a part of what this machine wrote last: whatever it does not tell of would be bought, and
 * posted, again. Whole lines that git has are an earlier version that somebody took from there.
 */
async function refuseCutLock(
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
  const restore = shell('git', 'checkout', 'HEAD', '--', shown);
  const meant = way('if it is meant to be like this', shell('rm', relative('', seenLockPath(path))));
  if (committed === undefined) {
    const copy = 'git does not have the file: take it from a copy';
    return [copy, way('then find what no copy has at the service', call('adopt')), meant];
  }
  if (digestOf(committed).sha256 === seen.sha256) return [way('git has all of it', restore), meant];
  const since = way('then find what was bought since at the service', call('adopt'));
  return [way('git has an older version; to put it back', restore), since, meant];
}
