import { statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { CampaignError, type Failure } from '../contract/failure.ts';
import type { LockFile } from '../contract/ports.ts';
import { openLockFile, readLockBytes } from '../disk/lock/lock-file.ts';
import { type Digest, digestOf } from '../disk/outputs/hash-file.ts';
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
import { sandboxService } from './paths.ts';

export interface LoadedLock {
  lock: Lock;
  /** Digest of the bytes that were read, to detect a change; omitted when there is no file. */
  read?: Digest;
  tornTailAt?: number;
  needsRewrite: boolean;
  /** Whether a notice about the lock was shown. */
  isNotable: boolean;
  /** Whether the lock has purchases of another address and `--service-moved` was given, so that the user must agree. */
  isMoved: boolean;
  /**
   * Whether the header in the file does not name this service yet. It must do so, durably, before anything is bought.
   */
  isOfAnother: boolean;
  /** Whether the lock has purchases that the file lacks. They must be written before anything is bought. */
  isLonger?: boolean;
}

/** Throws MB3407 if the folder cannot contain a lock. */
export function requireLockFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const shown = relative('', path) || path;
  throw new CampaignError({
    code: 'MB3407',
    message: `the lock ${shown} cannot be used: ${relative('', folder) || folder} is not a folder`,
    hint: 'make the folder, or give --lock a file in a folder that exists',
    lock: shown,
  });
}

/**
 * Reads the lock, or ends the command before anything is sent. `given` is the digest of the service that the lock
 * must belong to; undefined if no address is known. With `serviceMoved` the lock may belong to another address:
 * before writing, the caller asks the user (`agreeToMove`).
 */
export async function requireLock(
  { paths, sandbox, tell }: Pick<OpenCampaign, 'paths' | 'sandbox' | 'tell'>,
  given: string | undefined,
  { serviceMoved = false, isOnlyRead = false }: { serviceMoved?: boolean | undefined; isOnlyRead?: boolean } = {},
): Promise<LoadedLock> {
  const shown = relative('', paths.lock) || paths.lock;
  // Decisions need no service, but a rehearsal must not record decisions in the lock of a real service.
  const service = sandbox ? sandboxService : given;
  requireLockFolder(paths.lock);
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
  const reading = readLock(shown, bytes, { isOnlyRead });
  if (hasErrors(reading.diagnostics) && !/"mediabatch"/.test(bytes.toString('utf8').replaceAll('\0', ''))) {
    throw new CampaignError({
      code: 'MB3407',
      message: `${shown} is not a lock of mediabatch: it has no header line`,
      hint: 'the lock is next to the manifest, as campaign.lock.jsonl. Restore a damaged lock from git; nothing was sent or changed',
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

/** Opens the lock for writing. Rejects with `LockChangedError` if the file has changed since it was read. */
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
