import { createHmac } from 'node:crypto';
import { sameAddress } from '../ground/same-address.ts';
import { accountName } from '../service/secrets.ts';

/** Whose credits are spent: a key at an address, or an embedded sandbox (absolute path of its folder), whose port changes. */
export type AccountFacts = { token: string; baseUrl: string } | { sandbox: string };

/** Name of an account on an engine, 32 hex digits. Nobody learns the key from it, not even by trying the keys of others. */
export function accountOf(facts: AccountFacts): string {
  const [key, of] =
    'sandbox' in facts
      ? ['sandbox', facts.sandbox]
      : [accountName(facts.token), sameAddress(facts.baseUrl) ?? facts.baseUrl];
  return createHmac('sha256', key).update(`mediabatch account\n${of}`).digest('hex').slice(0, 32);
}
