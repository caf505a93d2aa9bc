/** A user's approval of one saved plan, for one lock. */
export interface Approval {
  version: 1;
  /** Absolute path of the plan when it was approved. */
  plan: string;
  digest: string;
  /** Real path of the lock that the plan was made for. */
  lock: string;
  /** Digest of the account, salted with the plan's digest. Omitted for sandbox credits. */
  account?: string;
  campaign: string;
  what: string;
  by: string;
  /** Time in ISO 8601, UTC. */
  at: string;
  until: string;
  /** Time at which a run under this approval was complete. Omitted while the approval is valid. */
  ended?: string;
}
