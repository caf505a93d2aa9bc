import type { CreateAnswer } from '../contract/answer.ts';
import type { StopReason } from '../contract/event.ts';
import { knownKeyError, recoveryOf } from '../plan/purchases/next.ts';

interface CreateSituation {
  /** Whether the service answers a repeated idempotency key with the first answer. */
  replays: boolean;
  /** Whether the list of jobs shows the result of a request whose answer was lost. */
  searches: boolean;
  /** True if an earlier request with this key may have reached the service, in this run or before. */
  maybeSent: boolean;
  /** Requests that this run sent for this purchase, including this one. */
  tries: number;
  /** Age in ms of the first request with this idempotency key, by the service's clock if known. */
  ageMs: number;
  /** Time in ms since the first request of this run. */
  elapsedMs: number;
  /** Longest wait in ms that the user allows; at least 10 minutes. */
  patienceMs?: number | undefined;
}

/** `again` always sends the same bytes with the same idempotency key. */
export type Next =
  | { do: 'again'; afterMs: number; because: string; throttled?: true }
  /**
   * Nothing was charged. The next idempotency key may be tried: now if this key was refused before, otherwise in the
   * next run.
   */
  | { do: 'refuse'; error: string; stop?: StopReason; because?: 'no-operation' }
  /** Nothing was sent. `waitMs`: the wait that the service requested, set if it is too long for the run. */
  | { do: 'drop'; error: string; stop?: StopReason; waitMs?: number }
  /** The request may have been charged, and this run cannot find out. The lock keeps the create request. */
  | { do: 'give-up'; error: string; stop?: StopReason; waitMs?: number }
  /** The request was charged, but its job is unknown. No further request is sent for this purchase. */
  | { do: 'hold'; error: string }
  /** The request may have been charged: search the service's list for its job. */
  | { do: 'look-up'; error: string };

const longestReplayMs = 10 * 60_000;
const mostTries = 8; // I16 (tries)

/**
 * Decides what follows an answer to a create request; no other function does. After a search through the service's
 * list, `decideLookUp` decides.
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
 * A refusal settles only its own request. An earlier request with the same idempotency key and a lost answer stays
 * open, because rules, links and balance may have changed between the two. A refusal of the bytes (400) settles the
 * earlier request only if a list has shown that no job was made.
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

/** Longest wait in ms before try `tries + 1`. The caller waits a random part of this time. */
function backoffMs(tries: number): number {
  return Math.min(30_000, 1000 * 2 ** (tries - 1));
}

/** Wait in ms after a throttled try, between 1 s and 150 s. */
function clampRetryAfter(afterMs: number | null, tries: number): number {
  return Math.min(150_000, Math.max(1000, afterMs ?? 2000 * 2 ** Math.min(5, tries - 1))); // I16 (wait)
}
