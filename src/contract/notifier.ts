/** Reasons for telling that a run has ended: it is done, steps failed, credits ran out, or it waits for a person. */
export const notifyReasons = ['done', 'failed', 'budget', 'gate'] as const;
export type NotifyReason = (typeof notifyReasons)[number];

/** Tells somebody elsewhere, at most so often as it takes to be heard once. */
export interface Notifier {
  /** Sends a JSON document. Never rejects; what it says of a failure names neither the address nor a part of it. */
  send(body: string): Promise<{ is: 'sent' } | { is: 'unsent'; why: string }>;
}
