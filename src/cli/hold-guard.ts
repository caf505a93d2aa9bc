import { relative } from 'node:path';
import { type Guard, takeGuard } from '../disk/guard.ts';
import { systemClock } from '../run/clock.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** The right to be the only run on this lock, or exit 75 naming who has it. */
export async function holdGuard(lockPath: string, waitMs: number, terminal: Terminal): Promise<Guard> {
  const answer = await takeGuard(lockPath, { waitMs, clock: systemClock });
  const shown = relative(process.cwd(), lockPath) || lockPath;
  if (answer.is === 'held') {
    const { host, pid, since } = answer.by;
    const note = answer.note === undefined ? '' : `; ${answer.note}`;
    throw new CommandError(
      exitCodes.lockHeld,
      `another run holds ${shown}: process ${pid} on ${host}, since ${since}${note}`,
      'wait for it to end (--lock-timeout waits longer), or end it; a run whose process is gone is taken over by itself',
    );
  }
  if (answer.tookOver !== undefined) {
    const { host, pid } = answer.tookOver;
    terminal.err(`${terminal.style.yellow('notice')} took over from a run that is gone (process ${pid} on ${host})\n`);
  }
  return answer.guard;
}
