import { hash } from 'node:crypto';
import { canonicalJson } from '../json.ts';
import { flatText } from '../manifest/flat-text.ts';

/**
 * The idempotency key of one create: a pure function of what is bought, so that a lost lock, a second clone or a
 * repeated request name the same purchase. 44 ASCII characters; the service allows 128.
 *
 * `repeat` counts the purchases of this very fingerprint, from 1: it goes up only when the same request is bought once
 * more on purpose. `attempt` goes up after a definite refusal, because the service may replay the stored error.
 */
export function idempotencyKey(purchase: {
  campaign: string;
  fingerprint: string;
  repeat: number;
  attempt: number;
}): string {
  const text = canonicalJson([1, purchase.campaign, purchase.fingerprint, purchase.repeat, purchase.attempt]);
  return flatText('mb1-', hash('sha256', text).slice(0, 40));
}
