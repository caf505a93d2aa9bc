import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { systemClock } from '../contract/clock.ts';
import { LockChangedError } from '../contract/errors.ts';
import type { RunFact } from '../contract/event.ts';
import { CampaignError, type Failure } from '../contract/failure.ts';
import type { Notify } from '../contract/notice.ts';
import type { LockFile } from '../contract/ports.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { type EngineNote, readEngineNote } from '../disk/lock/engine-note.ts';
import { type Guard, type GuardAnswer, takeGuard } from '../disk/lock/guard.ts';
import { openLockFile, readLockBytes } from '../disk/lock/lock-file.ts';
import { type Digest, digestOf } from '../disk/outputs/hash-file.ts';
import type { LocalLedger } from '../engine/local-ledger.ts';
import type { GraphOutline } from '../graph/graph.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { defined, messageOf } from '../ground/values.ts';
import { compareVersions } from '../ground/version.ts';
import { joinLocks, newestVersion } from '../lock/join.ts';
import { type LockReading, newerProgram, readLock } from '../lock/read.ts';
import { type Lock, lockVersion, type Purchase } from '../lock/record.ts';
import { emptyLock, writeHeader, writeLines } from '../lock/write.ts';
import { withoutMovedAway } from '../plan/rows/orphans.ts';
import { clockText } from '../report/numbers.ts';
import { requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { ownVersion } from './own-version.ts';
import { sandboxService, shownPath } from './paths.ts';

export interface LoadedLock {
  lock: Lock;
  read?: Digest;
  tornTailAt?: number;
  needsRewrite: boolean;
  isNotable: boolean;
  /** True if the lock belongs to another URL and the user gave `--service-moved`, but must still confirm the URL. */
  isMoved: boolean;
  /** True if the run must write this service to the lock's header before the first create request. */
  isOfAnother: boolean;
  /** True if the purchase journal added jobs, which the run must write to the file before the first create request. */
  isLonger?: boolean;
}

function requireLockFolder(path: string): void {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const shown = shownPath(path);
  const message = `the lock ${shown} cannot be used: ${shownPath(folder)} is not a folder`;
  throw unusable(shown, message, 'create the folder, or give --lock a file in an existing folder');
}

function unusable(lock: string, message: string, hint?: string): CampaignError {
  return new CampaignError({ code: 'MB3407', message, lock, ...defined({ hint }) });
}

/**
 * Reads the lock, or throws if it is unusable. `given`: digest of the service's URL, undefined if unknown. With
 * `serviceMoved`, accepts another URL, and the caller must call `agreeToMove` before it writes to the lock.
 */
export async function requireLock(
  { paths, sandbox, notify }: Pick<OpenCampaign, 'paths' | 'sandbox' | 'notify'>,
  given: string | undefined,
  { serviceMoved = false, isOnlyRead = false }: { serviceMoved?: boolean | undefined; isOnlyRead?: boolean } = {},
): Promise<LoadedLock> {
  const shown = shownPath(paths.lock);
  // A decision needs no service, but a sandbox decision must not be recorded in the lock of a real service.
  const service = sandbox ? sandboxService : given;
  requireLockFolder(paths.lock);
  const bytes = await readLockBytes(paths.lock).catch((error: unknown) => {
    throw unusable(shown, `the lock ${shown} cannot be read: ${messageOf(error)}`);
  });
  if (bytes === undefined) {
    const lock: Lock = { ...emptyLock(), writtenBy: ownVersion(), ...defined({ service }) };
    return { lock, needsRewrite: false, isNotable: false, isMoved: false, isOfAnother: false };
  }
  const reading = readLock(shown, bytes, { isOnlyRead });
  if (hasErrors(reading.diagnostics) && !/"mediabatch"/.test(bytes.toString('utf8').replaceAll('\0', ''))) {
    const hint =
      'by default, the lock is campaign.lock.jsonl next to the manifest. Restore a damaged lock from git; nothing was sent or changed';
    throw unusable(shown, `${shown} is not a lock of mediabatch: it has no header line`, hint);
  }
  const { writtenBy } = reading.lock;
  const isNewer = writtenBy !== undefined && compareVersions(writtenBy, ownVersion()) > 0;
  const found = [...reading.diagnostics, ...(isNewer ? [newerProgram(shown, writtenBy)] : [])];
  const diagnostics = found.filter(({ code }) => !serviceMoved || code !== 'MB2003');
  if (hasErrors(diagnostics)) throw new CampaignError(lockFailure(shown, diagnostics));
  if (diagnostics.length > 0) notify({ is: 'diagnostics', diagnostics, sources: new Map() });
  const belonging = belongingOf(reading, service);
  if (belonging === 'elsewhere' && service !== undefined) refuseRunOnEngine(reading, { shown, service, serviceMoved });
  const { needsRewrite, tornTailAt } = reading;
  return {
    lock: {
      ...reading.lock,
      writtenBy: newestVersion(writtenBy, ownVersion()) ?? ownVersion(),
      ...defined({ service }),
    },
    read: digestOf(bytes),
    needsRewrite,
    isNotable: diagnostics.length > 0,
    isMoved: belonging === 'elsewhere',
    isOfAnother: belonging !== 'ours',
    ...defined({ tornTailAt }),
  };
}

/** Rejects with `LockChangedError` if the file has changed since it was read. */
export function openLoadedLock(path: string, loaded: LoadedLock, lock: Lock = loaded.lock): Promise<LockFile> {
  return openLockFile(path, {
    header: writeHeader(lock),
    read: loaded.read ?? null,
    ...defined({ cutAt: loaded.tornTailAt }),
  });
}

function lockFailure(lock: string, diagnostics: readonly Diagnostic[]): Failure {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  const code = first?.code === 'MB2002' || first?.code === 'MB2003' ? first.code : 'MB2001';
  return { code, message: first?.message ?? `the lock ${lock} is damaged`, lock, diagnostics, sources: new Map() };
}

type Belonging = 'ours' | 'unclaimed' | 'elsewhere';

/** `service`: digest of the service's URL. If it is undefined, returns `ours`. */
export function belongingOf({ lock, services }: LockReading, service: string | undefined): Belonging {
  if (service === undefined) return 'ours';
  const others = services.filter((one) => one !== service);
  // Even a lock with only refusals belongs to the other service: only that service has seen its idempotency keys.
  if (others.length > 0) return lock.steps.size > 0 ? 'elsewhere' : 'unclaimed';
  // A lock with decisions but no service had no run yet. It is not a sandbox lock, which always names its service.
  if (service === sandboxService && services.length === 0 && lock.steps.size > 0) return 'elsewhere';
  return services.length === 0 ? 'unclaimed' : 'ours';
}

function refuseRunOnEngine(
  { services, lock: { steps } }: Pick<LockReading, 'services' | 'lock'>,
  from: { shown: string; service: string; serviceMoved: boolean },
): void {
  const { shown, service, serviceMoved } = from;
  const refuse = (message: string, hint: string) => {
    throw new CampaignError({ code: 'MB2003', message: `the lock ${shown} ${message}`, hint, lock: shown });
  };
  if (service === sandboxService) {
    refuse(
      'was made against a real service, so --sandbox cannot use it',
      'omit --lock: --sandbox uses its own lock. Nothing was sent',
    );
  }
  if (services.includes(sandboxService)) {
    refuse(
      'was made with --sandbox, so no real service has its jobs',
      'add --sandbox, or name another file with --lock FILE; nothing was sent',
    );
  }
  if (serviceMoved) return;
  const isRefused = ({ state, decided }: Purchase) => state === 'refused' && decided === undefined;
  const isUnused = [...steps.values()].every(
    ({ purchases, decisions }) => decisions === undefined && purchases.every(isRefused),
  );
  const [because, first] = isUnused
    ? [
        'which refused every create request',
        'if the address of the lock was wrong, delete the lock: it has no purchases. Otherwise ',
      ]
    : ['so its job ids are not valid at this address', ''];
  refuse(
    `was made against another service address, ${because}`,
    `${first}set MEDIABATCH_BASE_URL to the address of the lock, or use a separate lock for this service: --lock FILE --new. If the same service has a new address, add --service-moved. Nothing was sent`,
  );
}

export interface MoveQuestion {
  lock: string;
  steps: number;
  baseUrl: string;
}

export type Answer = 'yes' | 'no' | 'interrupted';

/**
 * Throws unless the user confirms that the URL belongs to the same service. At another service, unresolved create
 * requests could be paid twice.
 */
export async function agreeToMove(
  loaded: Pick<LoadedLock, 'isMoved' | 'lock'>,
  { environment, paths }: Pick<OpenCampaign, 'environment' | 'paths'>,
  ask: (question: MoveQuestion) => Promise<Answer>,
): Promise<void> {
  if (!loaded.isMoved) return;
  const { baseUrl } = requireAccess(environment);
  const lock = shownPath(paths.lock);
  const agreed = await ask({ lock, steps: loaded.lock.steps.size, baseUrl });
  if (agreed === 'yes') return;
  throw new CampaignError({
    code: agreed === 'no' ? 'MB2003' : 'MB3501',
    message: 'the service address in the lock was not changed; nothing was sent',
    hint: 'use a separate lock for this service: --lock FILE',
    lock,
  });
}

/**
 * Opens the lock for a run. First writes the service's digest, so that even after a crash each job is recorded under
 * the service that charged it.
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

interface Settling {
  ledger: Pick<LocalLedger, 'lock' | 'recorded'>;
  outline: GraphOutline;
  loaded: Pick<LoadedLock, 'needsRewrite'>;
  emit(fact: RunFact): void;
}

/** Rewrites the lock after a run, with one sorted record per step. Does nothing if the run recorded nothing. */
export async function settleLock(file: LockFile, { ledger, outline, loaded, emit }: Settling): Promise<void> {
  if (!ledger.recorded && !loaded.needsRewrite) return;
  try {
    await file.replace(writeLines(withoutMovedAway(ledger.lock, outline)));
  } catch (error) {
    if (!(error instanceof LockChangedError)) throw error;
    await joinWithChanged(file.path, ledger.lock, outline);
    const message = 'the lock was changed by another program during the run; both versions were joined';
    emit({ event: 'noticed', message });
  }
}

async function joinWithChanged(path: string, lock: Lock, outline: GraphOutline): Promise<void> {
  const bytes = await readLockBytes(path);
  const reading = bytes === undefined ? undefined : readLock(path, bytes);
  if (hasErrors(reading?.diagnostics ?? [])) throw new LockChangedError(path);
  const joined = reading === undefined ? lock : joinLocks(reading.lock, lock); // I7
  // If the jobs belong to two services, the lock names both services, and the next run reports the error.
  const { service } = lock;
  const other = reading?.services.find((one) => one !== service);
  const read = bytes === undefined ? null : digestOf(bytes);
  const file = await openLockFile(path, { header: writeHeader(joined), read });
  try {
    const lines = writeLines(withoutMovedAway({ ...joined, ...defined({ service }) }, outline));
    await file.replace(other === undefined ? lines : [writeHeader({ version: lockVersion, service: other }), ...lines]);
  } finally {
    await file.close();
  }
}

/**
 * Locks the campaign for one run. Throws MB3401 (exit 75) if another run has locked it. Throws MB3704 if the campaign
 * has a run on an engine, unless `forEngine` is set.
 */
export async function holdGuard(
  lockPath: string,
  waitMs: number,
  notify: Notify,
  { forEngine = false }: { forEngine?: boolean } = {},
): Promise<Guard> {
  const shown = shownPath(lockPath);
  const wayOut = findWayOut(dirname(lockPath));
  if (wayOut !== undefined) {
    throw new CampaignError({
      code: 'MB3301',
      message: `the lock ${shown} cannot be written: ${wayOut}`,
      hint: 'use the real path of the manifest or the lock',
      path: shown,
    });
  }
  requireLockFolder(lockPath);
  const first = await takeGuard(lockPath, { waitMs: 0, clock: systemClock });
  let answer = first;
  if (first.is === 'held' && waitMs > 0) {
    const who = first.note === undefined ? `process ${first.by.pid} on ${first.by.host}` : 'another run';
    notify({ is: 'waiting', text: `for ${who}; ${Math.round(waitMs / 1000)} s at most (--lock-timeout)` });
    answer = await takeGuard(lockPath, { waitMs, clock: systemClock });
  }
  if (answer.is === 'held') throw heldError(shown, answer);
  if (answer.tookOver !== undefined) {
    const { host } = answer.tookOver;
    notify({ is: 'notice', text: `took over the lock of a dead run on ${host}` });
  }
  const note = forEngine ? undefined : readEngineNote(lockPath);
  if (note !== undefined) {
    await answer.guard.release();
    throw runOnEngineError(shown, note);
  }
  return answer.guard;
}

function runOnEngineError(shown: string, { engine, since, run }: EngineNote): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `${shown} belongs to a run that was submitted to ${engine} at ${clockText(since, systemClock.now())}`,
    hint: [
      way('to attach to the run, and download its outputs', call('apply', '--engine', engine)),
      way('to cancel the run, and collect its running jobs', call('cancel', '--engine', engine)),
      way('if the engine no longer exists', call('unlock', '--id', run)),
    ],
    lock: shown,
  });
}

type Held = Extract<GuardAnswer, { is: 'held' }>;

function heldError(shown: string, { by, note }: Held): CampaignError {
  const message =
    note === undefined
      ? `another run holds ${shown}: process ${by.pid} on ${by.host}, since ${clockText(by.since, systemClock.now())}`
      : `${shown} may be held by another run`;
  return new CampaignError({
    ...{ code: 'MB3401', message, hint: note ?? hintOf(by), lock: shown },
    ...(note === undefined && { holder: by }),
  });
}

/** A process on this machine that locks the campaign is alive, because a run takes over the lock of a dead process. */
function hintOf(by: Held['by']): Advice {
  const wait = 'wait for the run to end (--lock-timeout waits longer)';
  if (by.host === hostname()) return `${wait}, or end process ${by.pid} on this machine`;
  return [wait, way('if the run has certainly ended', call('unlock', '--id', by.id))];
}
