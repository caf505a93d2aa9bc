import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { systemClock } from '../contract/clock.ts';
import { CampaignError } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { type EngineNote, readEngineNote } from '../disk/lock/engine-note.ts';
import { type Guard, type GuardAnswer, takeGuard } from '../disk/lock/guard.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import { clockText } from '../report/numbers.ts';
import { shownPath } from './paths.ts';
import { requireLockFolder } from './read-lock.ts';

/**
 * Acquires the exclusive right to run on this lock, or ends with exit 75 and the name of its holder. Shows the holder
 * before waiting. `forEngine`: the caller attaches to the engine's run; while an engine has an open run of the
 * campaign, no other caller may write the lock.
 */
export async function holdGuard(
  lockPath: string,
  waitMs: number,
  tell: Tell,
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
    tell({ is: 'waiting', text: `for ${who}; ${Math.round(waitMs / 1000)} s at most (--lock-timeout)` });
    answer = await takeGuard(lockPath, { waitMs, clock: systemClock });
  }
  if (answer.is === 'held') throw heldError(shown, answer);
  if (answer.tookOver !== undefined) {
    const { host } = answer.tookOver;
    tell({ is: 'notice', text: `took over the lock of a dead run on ${host}` });
  }
  const note = forEngine ? undefined : readEngineNote(lockPath);
  if (note !== undefined) {
    await answer.guard.release();
    throw elsewhereError(shown, note);
  }
  return answer.guard;
}

/**
 * Error for a campaign whose run is on an engine. Two runs of one campaign would use the same idempotency keys, and
 * buy the jobs of a list kind twice.
 */
function elsewhereError(shown: string, { engine, since, run }: EngineNote): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: `${shown} belongs to a run that was submitted to ${engine} at ${clockText(since, systemClock.now())}`,
    hint: [
      way('to attach to the run, and download its outputs', call('apply', '--engine', engine)),
      way('to stop it', call('cancel', '--engine', engine)),
      way('if that engine is gone for good', call('unlock', '--id', run)),
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

/**
 * Returns what to do about the holder. A holder on this machine is alive, because the claim of a dead process would
 * have been taken over.
 */
function hintOf(by: Held['by']): Advice {
  const wait = 'wait for it to end (--lock-timeout waits longer)';
  if (by.host === hostname()) return `${wait}, or end it: it is process ${by.pid} of this machine`;
  return [wait, way('if it is certainly gone', call('unlock', '--id', by.id))];
}
