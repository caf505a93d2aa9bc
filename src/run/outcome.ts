import type { CreateAnswer } from '../contract/answer.ts';
import type { StopReason } from '../contract/event.ts';
import { knownKeyError, recoveryOf } from '../plan/purchases/next.ts';

interface CreateSituation {
  /** True if the service answers a repeated idempotency key with the first answer. */
  replays: boolean;
  /** True if the service's list of jobs can show whether a request whose answer was lost made a job. */
  searches: boolean;
  /** True if an earlier request with this key may have reached the service, in this run or before. */
  maybeSent: boolean;
  /** Number of requests that this run sent for this purchase, including this one. */
  tries: number;
  /** Age in ms of the first request with this idempotency key, by the service's clock if known. */
  ageMs: number;
  /** Time in ms since the first request of this run. */
  elapsedMs: number;
  /** Longest wait for the service in ms that the user allows (`--patience`); at least 10 minutes. */
  patienceMs?: number | undefined;
}

/** Next act after an answer to a create request. `again` always sends the same bytes with the same idempotency key. */
export type Next =
  | { do: 'again'; afterMs: number; because: string; throttled?: true }
  /**
   * Nothing was charged. The run may try the next idempotency key: now if this key was refused before, otherwise in the
   * next run.
   */
  | { do: 'refuse'; error: string; stop?: StopReason; because?: 'no-operation' }
  /** Nothing was sent. `waitMs`: the wait that the service demands, set if it is longer than this run may wait. */
  | { do: 'drop'; error: string; stop?: StopReason; waitMs?: number }
  /** The request may have been charged, and this run cannot find out. The request stays unresolved in the lock. */
  | { do: 'give-up'; error: string; stop?: StopReason; waitMs?: number }
  /** The request was charged, but its job is unknown. No further request is sent for this purchase. */
  | { do: 'hold'; error: string }
  /** The request may have been charged: search the service's list for its job. */
  | { do: 'look-up'; error: string };

const longestReplayMs = 10 * 60_000;
const mostTries = 8; // I16 (tries)

/**
 * Decides what a run does after an answer to a create request; no other function decides this. After a search in the
 * service's list, `decideLookUp` decides.
 */
export function nextAfterCreate(answer: Exclude<CreateAnswer, { is: 'accepted' }>, situation: CreateSituation): Next {
  const { maybeSent, tries, elapsedMs } = situation;
  const enough = tries >= mostTries || elapsedMs >= longestReplayMs;
  switch (answer.is) {
    case 'not-sent':
      if (!enough) return { do: 'again', afterMs: backoffMs(tries), because: answer.message };
      return { do: maybeSent ? 'give-up' : 'drop', error: answer.message, stop: 'unreachable' };
    case 'throttled': {
      const longestMs = Math.max(longestReplayMs, situation.patienceMs ?? 0);
      const askedMs = answer.afterMs ?? 0;
      if (askedMs > longestMs) {
        return { do: maybeSent ? 'give-up' : 'drop', error: answer.message, stop: 'throttled', waitMs: askedMs };
      }
      if (elapsedMs < longestMs) {
        return {
          do: 'again',
          afterMs: clampRetryAfter(answer.afterMs, tries),
          because: answer.message,
          throttled: true,
        };
      }
      return { do: maybeSent ? 'give-up' : 'drop', error: answer.message, stop: 'unreachable' };
    }
    case 'refused':
    case 'no-route':
      return afterRefusal(answer, situation);
    case 'known':
      return { do: 'hold', error: describeKnown(answer) }; // I38 (hold)
    case 'in-progress':
    case 'ambiguous':
      if (canReplay(situation) && !enough) return { do: 'again', afterMs: backoffMs(tries), because: answer.message };
      return { do: situation.searches ? 'look-up' : 'give-up', error: answer.message };
    default:
      return answer satisfies never;
  }
}

function describeKnown({ message, mayBe }: Extract<CreateAnswer, { is: 'known' }>): string {
  return knownKeyError(mayBe === undefined ? message : `${message}; perhaps ${mayBe.jobId}`);
}

export function canReplay({ replays, ageMs }: Pick<CreateSituation, 'replays' | 'ageMs'>): boolean {
  return recoveryOf({ replays, ageMs }) === 'replay'; // I4
}

/**
 * A refusal proves only that its own request was not charged. An earlier request with the same idempotency key and a
 * lost answer stays open, because rules, links and balance may have changed between the two. A refusal of the bytes
 * (400) closes the earlier request only if the service's list has shown that it made no job.
 */
function afterRefusal(
  answer: Extract<CreateAnswer, { is: 'refused' | 'no-route' }>,
  { maybeSent, searches }: Pick<CreateSituation, 'maybeSent' | 'searches'>,
): Next {
  const why = answer.is === 'no-route' ? 'route' : answer.why;
  const isOpen = maybeSent && !(searches && (why === 'invalid' || why === 'route')); // I1
  const does = isOpen ? 'give-up' : 'refuse';
  const error = isOpen
    ? `${answer.message}; an earlier answer was lost, so the step may have been charged`
    : answer.message;
  switch (why) {
    case 'invalid':
      return { do: does, error };
    case 'route':
      return isOpen ? { do: 'give-up', error } : { do: 'refuse', error, because: 'no-operation' };
    case 'credits':
      return { do: does, error, stop: 'balance' }; // I15 (402)
    case 'auth':
    case 'user':
      return { do: does, error, stop: 'auth' }; // I15 (401)
    default:
      return why satisfies never;
  }
}

/** Returns the longest wait in ms before try `tries + 1`. The caller waits a random part of this time. */
function backoffMs(tries: number): number {
  return Math.min(30_000, 1000 * 2 ** (tries - 1));
}

/** Returns the wait in ms after a throttled try, between 1 s and 150 s. */
function clampRetryAfter(afterMs: number | null, tries: number): number {
  return Math.min(150_000, Math.max(1000, afterMs ?? 2000 * 2 ** Math.min(5, tries - 1))); // I16 (wait)
}
