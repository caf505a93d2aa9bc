/** Default validity of an approval, in ms. */
export const usualValidMs = 7 * 86_400_000;

/** A person's approval of one saved plan, for one lock. */
export interface Approval {
  version: 1;
  /** Absolute path of the plan when it was approved. */
  plan: string;
  /** Digest of the plan's whole content. */
  digest: string;
  /** Real path of the lock that the plan was made for. */
  lock: string;
  /** Digest of the account that pays, salted with the plan's digest. Omitted for sandbox credits. */
  account?: string;
  campaign: string;
  /** Description of what was approved, for people. */
  what: string;
  /** Name of the person who approved. */
  by: string;
  /** Time in ISO 8601, UTC. */
  at: string;
  until: string;
  /** Time at which a run under this approval had done everything possible. Omitted while the approval is valid. */
  ended?: string;
}
