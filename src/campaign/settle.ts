import { LockChangedError } from '../contract/errors.ts';
import type { RunFact } from '../contract/event.ts';
import type { LockFile } from '../contract/ports.ts';
import { openLockFile, readLockBytes } from '../disk/lock/lock-file.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import type { LocalLedger } from '../engine/local-ledger.ts';
import type { GraphOutline } from '../graph/graph.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { joinLocks } from '../lock/join.ts';
import { readLock } from '../lock/read.ts';
import { type Lock, lockVersion } from '../lock/record.ts';
import { writeHeader, writeLines } from '../lock/write.ts';
import { withoutMovedAway } from '../plan/rows/orphans.ts';
import { type LoadedLock, openLoadedLock } from './read-lock.ts';

/**
 * Opens the lock for a run. Before the first purchase is recorded, the file contains the restored purchases and a
 * header with the service, so that even after a crash each purchase is recorded under the service that charged it.
 */
export async function openRunLock(
  path: string,
  { loaded, lock, claims }: { loaded: LoadedLock; lock: Lock; claims: boolean },
): Promise<LockFile> {
  const file = await openLoadedLock(path, loaded, lock);
  const isClaimed = claims && loaded.isOfAnother; // I22
  if (!isClaimed && loaded.isLonger !== true) return file;
  try {
    await file.replace(writeLines(lock));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

type Recorded = Pick<LocalLedger, 'lock' | 'recorded'>;

/** Rewrites the lines of an ended run as one sorted record per step. A run that recorded nothing writes nothing. */
export async function settleLock(
  file: LockFile,
  context: {
    ledger: Recorded;
    outline: GraphOutline;
    loaded: Pick<LoadedLock, 'needsRewrite'>;
    emit(fact: RunFact): void;
  },
): Promise<void> {
  const { ledger, outline, loaded, emit } = context;
  if (!ledger.recorded && !loaded.needsRewrite) return;
  const own = withoutMovedAway(ledger.lock, outline);
  try {
    await file.replace(writeLines(own));
  } catch (error) {
    if (!(error instanceof LockChangedError)) throw error;
    await joinWithChanged(file.path, { ledger, outline });
    emit({
      event: 'noticed',
      message: 'the lock was changed by another program during the run; both versions were joined',
    });
  }
}

/** Joins the run's lock with a lock that another program (git, an editor) wrote meanwhile. Nothing is dropped. */
async function joinWithChanged(
  path: string,
  { ledger, outline }: { ledger: Recorded; outline: GraphOutline },
): Promise<void> {
  const bytes = await readLockBytes(path);
  const reading = bytes === undefined ? undefined : readLock(path, bytes);
  if (hasErrors(reading?.diagnostics ?? [])) throw new LockChangedError(path);
  const joined = reading === undefined ? ledger.lock : joinLocks(reading.lock, ledger.lock); // I7
  // Jobs of two services cannot be sorted here, so both services are named, and the next run reports it.
  const { service } = ledger.lock;
  const own = service === undefined ? {} : { service };
  const other = reading?.services.find((one) => one !== service);
  const file = await openLockFile(path, {
    header: writeHeader(joined),
    read: bytes === undefined ? null : digestOf(bytes),
  });
  try {
    const lines = writeLines(withoutMovedAway({ ...joined, ...own }, outline));
    await file.replace(other === undefined ? lines : [writeHeader({ version: lockVersion, service: other }), ...lines]);
  } finally {
    await file.close();
  }
}
