import { defined } from '../../ground/values.ts';
import type { Job, OpenSend, Purchase, Refusal } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';

export interface SendFacts {
  /** Whether the service answers a repeated idempotency key with the stored answer. `unknown` if no API key is set. */
  replays: 'yes' | 'no' | 'unknown';
  /** If the answer to a create request was lost: with `hold`, a user decides; `ask` (default) queries the service. */
  onUnknown?: 'ask' | 'hold';
  /** Time in ms since 1970. */
  now: number;
  /** Returns a digest of the request's ID and the current API key, or `undefined` without an API key. */
  accountOf?: (send: string) => string | undefined;
}

interface RetryFacts {
  retries: { left: number; credits: number | null } | undefined;
  price: number | null;
  isOpen: boolean;
}

/** Next action for a purchase. Only `create` and `again` may cause a charge that is not in the lock. */
export type Act =
  /** Nothing was charged, so a create request may be sent. `refused`: the newest refusal by the service. */
  | { do: 'create'; refused?: Refusal }
  /** A charge is possible. The run recovers the answer before it buys anything for the step. */
  | { do: 'ask'; send: OpenSend; reason: string }
  /** A charge is possible, and only a user can determine whether the service charged the request. */
  | { do: 'hold'; send: OpenSend; reason: string; isKeyKnown?: true }
  | { do: 'collect'; job: Job }
  | { do: 'save'; job: Job }
  | { do: 'again'; job: Job }
  | { do: 'end'; job: Job; why: RetryRefusal };

/**
 * Decides the next action for a recorded purchase, for a plan or for a process that continues another process's run.
 * While a request is in flight, `run/outcome.ts` decides. `redo`: the user requested another purchase.
 */
export function next(purchase: Purchase | undefined, facts: SendFacts & RetryFacts & { redo: boolean }): Act {
  switch (purchase?.state) {
    case undefined:
      return { do: 'create' };
    case 'refused':
      return { do: 'create', refused: purchase };
    case 'intent':
    case 'unresolved': {
      const settling = settlingOf(purchase, facts);
      const { reason } = settling;
      if (settling.by !== 'person') return { do: 'ask', send: purchase, reason };
      return { do: 'hold', send: purchase, reason, ...defined({ isKeyKnown: settling.isKeyKnown }) };
    }
    case 'running':
      // A run collects a paid job before it buys a new job, because the user may have repeated an interrupted command.
      return { do: 'collect', job: purchase }; // I1 (running)
    case 'lost':
      return { do: facts.redo && !facts.isOpen ? 'again' : 'collect', job: purchase };
    case 'done':
      return { do: facts.redo ? 'again' : 'save', job: purchase };
    case 'failed': {
      if (facts.isOpen) return { do: 'end', job: purchase, why: 'open-send' }; // I1 (open)
      const { error, credits } = purchase;
      const why = facts.redo ? undefined : whyNotAgain(facts.retries, { error, charged: credits, price: facts.price });
      return why === undefined ? { do: 'again', job: purchase } : { do: 'end', job: purchase, why };
    }
    default:
      return purchase satisfies never;
  }
}

/**
 * Selects the purchase that determines the next action. Order of precedence: a finished or running job, an unresolved
 * create request, the newest failed job, the newest refusal. With `facts`, a request that a run can recover comes
 * before a request that needs a user. Skips a request whose generation already has a job, because another create
 * request would buy that generation twice. `openSendRows` handles the skipped request.
 */
export function currentPurchase(purchases: readonly Purchase[], facts?: SendFacts): Purchase | undefined {
  const made = new Set(purchases.filter(isJob).map(({ generation }) => generation));
  const open = purchases.filter(isOpenSend).filter(({ generation }) => !made.has(generation)); // I1 (job)
  return (
    purchases.find(({ state }) => state === 'done' || state === 'running') ??
    (facts && open.find((one) => settlingOf(one, facts).by !== 'person')) ??
    open[0] ??
    purchases.find(isJob) ??
    purchases.find(({ state }) => state === 'refused')
  );
}

/** Returns whether this purchase, or an earlier purchase of its fingerprint, has an unresolved create request. */
export function hasOpenSend(
  purchases: readonly Purchase[],
  { fingerprint, generation }: Pick<Purchase, 'fingerprint' | 'generation'>,
): boolean {
  const open = purchases.filter(isOpenSend).filter((one) => !one.forgotten && one.fingerprint === fingerprint);
  return open.some((one) => one.generation <= generation);
}

export type RetryRefusal = 'open-send' | 'not-asked' | 'prompt' | 'attempts' | 'credits';

export function whyNotAgain(
  retries: RetryFacts['retries'],
  failed: { error: string | undefined; charged: number | null | undefined; price: number | null },
): RetryRefusal | undefined {
  if (retries === undefined) return 'not-asked';
  if (isPromptRefused(failed.error)) return 'prompt';
  if (retries.left <= 0) return 'attempts';
  return retries.credits !== null && costOfAnother(failed) > retries.credits ? 'credits' : undefined;
}

export function costOfAnother({
  charged,
  price,
}: {
  charged: number | null | undefined;
  price: number | null;
}): number {
  return Math.max(1, price ?? 0, charged ?? 0);
}

/** The service replays an idempotency key for 24 hours. One hour less allows for clock differences. */
const replayWindowMs = 23 * 3_600_000;

/** Tolerated clock difference, for a request that was sent at a time in the future. */
const clockSlackMs = 5 * 60_000;

export function isReplayed(ageMs: number): boolean {
  return ageMs >= -clockSlackMs && ageMs < replayWindowMs; // I4
}

/** Returns how a run can recover a lost answer without a user: `search` the service's list, or `replay` the key. */
export function recoveryOf(sent: {
  fence?: string | undefined;
  replays: boolean;
  ageMs: number;
}): 'search' | 'replay' | undefined {
  if (sent.fence !== undefined) return 'search';
  return sent.replays && isReplayed(sent.ageMs) ? 'replay' : undefined;
}

/** Returns whether a create request was sent with the current API key. If this is unknown, returns true. */
export function isOwnSend({ send, account }: OpenSend, accountOf: SendFacts['accountOf']): boolean {
  if (account === undefined) return true;
  const own = accountOf?.(send);
  return own === undefined || own === account; // I21
}

export function knownKeyError(said?: string): string {
  const words = said === undefined ? '' : ` (${said})`;
  return `the service reports a purchase with the same idempotency key, but no job id${words}`;
}

/** `replay`: the run sends the same key again, for one charge. `search`: the run searches the service's list. */
type Settling = { by: 'replay' | 'search'; reason: string } | { by: 'person'; reason: string; isKeyKnown?: true };

export function settlingOf(purchase: OpenSend, facts: SendFacts): Settling {
  const person = (reason: string) => ({ by: 'person' as const, reason });
  if (facts.onUnknown === 'hold') {
    return person('the answer to the create request was lost, and is not requested again (--on-unknown hold)');
  }
  if (!isOwnSend(purchase, facts.accountOf)) {
    return person(
      'the create request was sent with another API key, and the current key cannot show whether the other account was charged',
    );
  }
  const { state, keyKnown, error, fence, since } = purchase;
  if (state === 'unresolved' && keyKnown) return { ...person(error ?? knownKeyError()), isKeyKnown: true };
  const ageMs = since === undefined ? Number.NaN : facts.now - Date.parse(since);
  const replays = state === 'intent' && facts.replays !== 'no';
  switch (recoveryOf({ fence, replays, ageMs })) {
    case 'search':
      return {
        by: 'search',
        reason:
          "the answer to the create request was lost; the service's list is searched first, so the request is charged once",
      };
    case 'replay':
      return {
        by: 'replay',
        reason: 'the answer to the create request was lost; the same key is sent again, so the request is charged once',
      };
    default:
  }
  if (state === 'unresolved') {
    return person(`it is not known whether the create request was charged${error === undefined ? '' : `: ${error}`}`);
  }
  if (!replays) {
    return person(
      'the answer to the create request was lost, and this credential cannot request the answer again (only an API key can)',
    );
  }
  const when = ageMs < 0 ? 'at a time in the future (check the clock of this machine)' : 'more than 23 hours ago';
  return person(`the answer to the create request was lost ${when}, and the service no longer replays the answer`);
}

const refusal =
  /moderat|polic(?:y|ies)|prohibited|nsfw|unsafe|inappropriate|sensitive|flagged|safety|violat|guidelines|harmful|reject|block/i;
const ofOutput =
  /\boutput\b|did not generate|(?:generated|resulting) (?:image|picture|video|audio|speech|content|media|result)|\bresponse violated/i;
const ofInput = /\b(?:prompt|request|input)\b/i;
const ofRequest = /invalid(?! response)|\btoo (?:long|large|small|short)\b|unsupported|content checker/i;

/**
 * Returns whether a job failed because of its prompt or reference. Examines the error message, because the service
 * documents no error codes. True for an ambiguous message, because the next refusal could be charged.
 */
export function isPromptRefused(error = ''): boolean {
  if (!refusal.test(error)) return ofRequest.test(error);
  return !ofOutput.test(error) || ofInput.test(error);
}
