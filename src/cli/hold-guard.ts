import { dirname, relative } from 'node:path';
import { type Guard, type GuardAnswer, takeGuard } from '../disk/guard.ts';
import { findWayOut } from '../disk/own-tree.ts';
import { safeText } from '../report/safe-text.ts';
import { systemClock } from '../run/clock.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** The right to be the only run on this lock, or exit 75 naming who has it. */
export async function holdGuard(lockPath: string, waitMs: number, terminal: Terminal): Promise<Guard> {
  const shown = relative(process.cwd(), lockPath) || lockPath;
  const wayOut = findWayOut(dirname(lockPath));
  if (wayOut !== undefined) {
    throw new CommandError(
      exitCodes.cannotWrite,
      `the lock ${safeText(shown)} is not written: ${wayOut}`,
      'name the manifest, or the lock, where it really is',
    );
  }
  const answer = await takeGuard(lockPath, { waitMs, clock: systemClock });
  if (answer.is === 'held') throw heldError(shown, answer);
  if (answer.tookOver !== undefined) {
    const { host, pid } = answer.tookOver;
    terminal.err(`${terminal.style.yellow('notice')} took over from a run that is gone (process ${pid} on ${host})\n`);
  }
  return answer.guard;
}

function heldError(shown: string, { by, note }: Extract<GuardAnswer, { is: 'held' }>): CommandError {
  if (note !== undefined) return new CommandError(exitCodes.lockHeld, `${shown} may be held by another run`, note);
  return new CommandError(
    exitCodes.lockHeld,
    `another run holds ${shown}: process ${by.pid} on ${by.host}, since ${by.since}`,
    `wait for it to end (--lock-timeout waits longer); if it is certainly gone and was not on this machine: mediabatch unlock FILE --id ${by.id}`,
  );
}
