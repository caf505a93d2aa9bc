import { isObject, type JsonObject } from './wire.ts';

/**
 * One accepted create request. The ledger is the authoritative record of spending: an entry is written before its
 * answer is sent, and never changed.
 */
export interface LedgerEntry {
  /** Time of acceptance, ISO 8601. */
  readonly at: string;
  readonly id: string;
  readonly user: string;
  /** The kind of the job, or `post`. */
  readonly kind: string;
  /** The idempotency key, or `null` if none was sent or it does not count. */
  readonly key: string | null;
  readonly credits: number;
  readonly balance: number;
  /** The request body as sent, including unknown fields. */
  readonly body: JsonObject;
}

export function readEntry(line: JsonObject): LedgerEntry {
  const { at, id, user, kind, key, credits, balance, body } = line;
  if (
    typeof at === 'string' &&
    typeof id === 'string' &&
    typeof user === 'string' &&
    typeof kind === 'string' &&
    (typeof key === 'string' || key === null) &&
    typeof credits === 'number' &&
    typeof balance === 'number' &&
    isObject(body)
  ) {
    return { at, id, user, kind, key, credits, balance, body };
  }
  throw new Error(`the ledger holds an entry that is not one: ${JSON.stringify(line).slice(0, 200)}`);
}
