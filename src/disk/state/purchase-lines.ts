import type { ReserveOptions } from '../../contract/ports.ts';
import type { LockLine, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';

/** Returns whether a line ends a create request without a charge: it was refused, did not leave, or made no job. */
export function isUnsent(line: LockLine): boolean {
  if (line.jobId !== undefined) return false;
  return line.state === 'refused' || ('send' in line && line.closes?.includes(line.send ?? '') === true);
}

/**
 * Returns whether an idempotency key must not be sent: it has a job, or a create request of a run that has ended
 * (`isOurs`: no other run has reserved it). A step that `asks` needs the end of its own create request.
 */
export function isAnswered(
  records: readonly StepRecord[],
  { fingerprint, asks, isOurs, isClosed }: Omit<ReserveOptions, 'isStopped'> & { isOurs: boolean },
): boolean {
  if (asks !== undefined) return records.some(({ closes }) => closes?.includes(asks));
  const made = records.flatMap(({ purchases }) => purchases.filter((one) => one.fingerprint === fingerprint));
  return made.some(
    (one) => (isJob(one) && one.forgotten !== true) || (isOurs && isOpenSend(one) && !isClosed(one.send)),
  );
}
