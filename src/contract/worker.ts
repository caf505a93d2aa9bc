/** News of a worker about itself while it works for an engine. */
export type WorkerNews =
  /** `store`: where files go, as a person named it; absent: it fetches none. `files`: how many at once. */
  | { is: 'started'; worker: string; account: string; service: string; server: string; store?: string; files: number }
  /** It begins as soon as its store is there. */
  | { is: 'no store'; why: string }
  /** It has the account now. `waitMs`: before it looks up or sends again creates of the last head; 0: nothing to wait for. */
  | { is: 'head'; epoch: number; runs: number; waitMs: number }
  /** It has the account no more: no run is open; it was asked to end; or another worker took it over. */
  | { is: 'head left'; why: 'no run is open' | 'handed over' | 'taken over' }
  /** Open runs that it takes nothing of, and why; told again when they change. */
  | { is: 'not for it'; why: NotForIt; runs: number }
  | { is: 'server away'; error: string }
  | { is: 'server back' }
  /** A run that the head cannot drive, while it goes on with the others. */
  | { is: 'put aside'; campaign: string; run: string; error: string; againAfterMs: number }
  /** It goes on by itself. */
  | { is: 'failed'; error: string; againAfterMs: number }
  /** It ends by a signal, or because nothing is left to do. */
  | { is: 'ending'; because: string };

/**
 * `account`: of another key or service. `protocol`: submitted by another version of mediabatch. `store`: their files go to
 * another store, or this worker has none.
 */
export type NotForIt = { is: 'account' } | { is: 'protocol'; theirs: number; own: number } | { is: 'store' };
