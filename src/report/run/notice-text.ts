import type { RunEvent } from '../../contract/event.ts';

/** Outcome of a send that was asked about beside the steps. */
export function settledText({ outcome, jobId, error }: Extract<RunEvent, { event: 'send-settled' }>): string {
  if (jobId !== undefined) return `an earlier create of it was made: job ${jobId}, which is on record now`;
  if (outcome === 'done') return 'an earlier create of it made nothing, and was not charged';
  return `an earlier create of it stays open${error === undefined ? '' : `: ${error}`}`;
}

/** A notice with its step. */
export function noticeText(notice: { address?: string; message: string }): string {
  return notice.address === undefined ? notice.message : `${notice.address}: ${notice.message}`;
}
