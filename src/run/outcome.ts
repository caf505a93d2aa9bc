import type { CreateAnswer } from '../contract/answer.ts';
import type { StopReason } from '../contract/event.ts';
import { isReplayed, knownKeyError } from '../plan/purchases/open-sends.ts';

/** Facts known when a create call has returned. */
export interface CreateSituation {
  /** A lost answer can be requested again with the same key. */
  replays: boolean;
  /** A lost answer can be looked up in the service's list of jobs. */
  searches: boolean;
  /** An earlier request with this key may have reached the service, in this run or one before. */
  maybeSent: boolean;
  /** Requests sent in this run for this purchase, including this one. */
  tries: number;
  /** Age of the first request ever sent with this key, by the service's clock as far as it is known. */
  ageMs: number;
  /** Time since the first request of this run. */
  elapsedMs: number;
  /** How long somebody is ready to wait; more than 10 minutes count. */
  patienceMs?: number | undefined;
}

/** Consequence of an answer. `again` always means the same key and the same bytes. */
export type Next =
  | { do: 'again'; afterMs: number; because: string; throttled?: true }
  /** Nothing was charged; the next key may be tried, in this run if this one was refused before. */
  | { do: 'refuse'; error: string; stop?: StopReason; because?: 'no-operation' }
  /** Nothing was sent at all: as if it had never begun. `waitMs`: what the service asks to wait, which is too long. */
  | { do: 'drop'; error: string; stop?: StopReason; waitMs?: number }
  /** It may have been charged, and this cannot be found out now. The intent stays on record. */
  | { do: 'give-up'; error: string; stop?: StopReason; waitMs?: number }
  /** It was charged, under this very key, and nothing tells which job it is. No key of this purchase is sent again. */
  | { do: 'hold'; error: string }
  /** It may have been charged; the service's list will tell. */
  | { do: 'look-up'; error: string };

const longestReplayMs = 10 * 60_000;
const mostTries = 8; // I16 (tries)

/**
 * The only table of what to do after a create. Rows are answers, columns are situations; nothing else in the program
 * decides to send a paid request again.
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

/** True while resending the same key still finds the first purchase instead of making a second one. */
export function canReplay({ replays, ageMs }: Pick<CreateSituation, 'replays' | 'ageMs'>): boolean {
  return replays && isReplayed(ageMs); // I4
}

/**
 * Settles this request, but not an earlier one of the same key whose answer was lost: a request refused today (empty
 * account, expired link, another rule) may have been accepted and charged before. Only if a list has shown that nothing
 * came of the earlier one does a refusal of the bytes (400) settle it too.
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

/** A Retry-After is trusted between 1 s and 150 s. */
export function clampRetryAfter(afterMs: number | null, tries: number): number {
  return Math.min(150_000, Math.max(1000, afterMs ?? 2000 * 2 ** Math.min(5, tries - 1))); // I16 (wait)
}
