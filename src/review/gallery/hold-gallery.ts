import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { systemClock } from '../../contract/clock.ts';
import { UnsafeFileError } from '../../contract/errors.ts';
import { takeGuard } from '../../disk/lock/guard.ts';
import { unwritten } from './gallery-folder.ts';

/**
 * The right to be the only report that writes a folder: each removes what its own page does not show, and would remove what
 * another one is about to. Returns its end. MB3301 while another process writes it; one that was killed holds nobody off.
 * `state`: the `.mediabatch/` of the campaign; where it cannot be written nothing is held. `shown`: as a person knows it.
 */
export async function holdGallery(state: string, { path, shown }: Place): Promise<() => Promise<void>> {
  const name = `report-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;
  const answer = await takeGuard(join(dirname(state), name), { waitMs: 0, clock: systemClock }).catch(orUnheld);
  if (answer?.is === 'held') {
    const { by, note } = answer;
    const who = note ?? `process ${by.pid} on ${by.host}, since ${by.since}`;
    throw unwritten(
      shown,
      `is being written by another report: ${who}`,
      'wait for it, or give another place with --out',
    );
  }
  return async () => answer?.guard.release();
}

interface Place {
  path: string;
  shown: string;
}

function orUnheld(error: unknown): undefined {
  if (error instanceof UnsafeFileError || (error instanceof Error && 'syscall' in error)) return undefined;
  throw error;
}
