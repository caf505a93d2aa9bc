/** How long a yes counts where nobody says otherwise, in ms. */
export const usualValidMs = 7 * 86_400_000;

/** The yes of a person to one saved plan, for one lock. */
export interface Approval {
  version: 1;
  /** Absolute path of the plan when it was approved. */
  plan: string;
  /** Digest of all that the plan says. */
  digest: string;
  /** Real path of the lock that the plan was made for. */
  lock: string;
  /** Digest of the account that pays, salted with the plan's digest. Omitted for sandbox credits. */
  account?: string;
  campaign: string;
  /** The subject of the agreement, for people. */
  what: string;
  /** Who agreed, as they are called. */
  by: string;
  /** ISO 8601, UTC. */
  at: string;
  until: string;
  /** Time at which a run under it had done everything possible. Omitted while the approval is valid. */
  ended?: string;
}
