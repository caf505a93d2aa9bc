export interface Approval {
  version: 1;
  plan: string;
  digest: string;
  lock: string;
  /** Digest of the account that pays, salted with the plan's digest. Omitted if the plan spends sandbox credits. */
  account?: string;
  campaign: string;
  what: string;
  by: string;
  at: string;
  until: string;
  /** Time at which a run under this approval finished. Omitted while the approval can still be used. */
  ended?: string;
}
