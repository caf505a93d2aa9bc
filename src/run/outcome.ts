import type { CreateAnswer } from '../contract/answer.ts';
import type { StopReason } from '../contract/event.ts';
import { knownKeyError, recoveryOf } from '../plan/purchases/next.ts';

interface CreateSituation {
  /** True if a lost answer can be requested again with the same idempotency key. */
  replays: boolean;
  /** True if a lost answer can be looked up in the service's list of jobs. */
  searches: boolean;
  /** True if an earlier request with this key may have reached the service, in this run or an earlier one. */
  maybeSent: boolean;
  /** Number of requests sent in this run for this purchase, including this request. */
  tries: number;
  /** Age in ms of the first request ever sent with this idempotency key, by the service's clock if known. */
  ageMs: number;
  /** Time in ms since the first request of this run. */
  elapsedMs: number;
  /** Longest wait in ms that the user accepts; values below 10 minutes have no effect. */
  patienceMs?: number | undefined;
}

/** Action after an answer. `again` always means the same idempotency key and the same bytes. */
export type Next =
  | { do: 'again'; afterMs: number; because: string; throttled?: true }
  /** Nothing was charged; the next idempotency key may be tried, in this run if this one was refused before. */
  | { do: 'refuse'; error: string; stop?: StopReason; because?: 'no-operation' }
  /**
   * Nothing was sent, as if the purchase had never begun. `waitMs`: wait that the service requests, which is too long.
   */
  | { do: 'drop'; error: string; stop?: StopReason; waitMs?: number }
  /** The request may have been charged, and this cannot be found out now. The intent stays on record. */
  | { do: 'give-up'; error: string; stop?: StopReason; waitMs?: number }
  /**
   * The request was charged under this idempotency key, but its job is unknown. No key of this purchase is sent again.
   */
  | { do: 'hold'; error: string }
  /** The request may have been charged; the service's list is searched for its job. */
  | { do: 'look-up'; error: string };

const longestReplayMs = 10 * 60_000;
const mostTries = 8; // I16 (tries)

/**
 * The only table that decides what follows an answer to a create request. Rows are answers, columns are situations.
 * After a search in the service's list, `decideLookUp` decides.
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

/** Returns whether a resent idempotency key still returns the first purchase instead of making a second one. */
export function canReplay({ replays, ageMs }: Pick<CreateSituation, 'replays' | 'ageMs'>): boolean {
  return recoveryOf({ replays, ageMs }) === 'replay'; // I4
}

/**
 * Decides after a refusal. It settles this request, but not an earlier one with the same idempotency key whose answer
 * was lost: a request refused today (empty account, expired link, another rule) may have been accepted and charged
 * before. A refusal of the bytes (400) settles the earlier request, too, only if a list has shown that no job was made.
 */
function afterRefusal(
  answer: Extract<CreateAnswer, { is: 'refused' | 'no-route' }>,
  { maybeSent, searches }: Pick<CreateSituation, 'maybeSent' | 'searches'>,
): Next {
  const why = answer.is === 'no-route' ? 'route' : answer.why;
  const isOpen = maybeSent && !(searches && (why === 'invalid' || why === 'route')); // I1
  const does = isOpen ? 'give-up' : 'refuse';
  const error = isOpen ? `${answer.message}; an earlier answer was lost, so it may have been charged` : answer.message;
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

/** Upper bound of the backoff before try `tries + 1`; the caller takes a random share of it (full jitter). */
function backoffMs(tries: number): number {
  return Math.min(30_000, 1000 * 2 ** (tries - 1));
}

/** Wait in ms after a throttled try: a Retry-After is limited to between 1 s and 150 s. */
export function clampRetryAfter(afterMs: number | null, tries: number): number {
  return Math.min(150_000, Math.max(1000, afterMs ?? 2000 * 2 ** Math.min(5, tries - 1))); // I16 (wait)
}
