import { createHmac } from 'node:crypto';
import { accountName } from '../service/secrets.ts';

/** Whose credits are spent: a key at an address, or an embedded sandbox (absolute path of its folder), whose port changes. */
export type AccountFacts = { token: string; baseUrl: string } | { sandbox: string };

/** Name of an account on an engine, 32 hex digits. Nobody learns the key from it, not even by trying the keys of others. */
export function accountOf(facts: AccountFacts): string {
  const [key, of] =
    'sandbox' in facts ? ['sandbox', facts.sandbox] : [accountName(facts.token), normalised(facts.baseUrl)];
  return createHmac('sha256', key).update(`mediabatch account\n${of}`).digest('hex').slice(0, 32);
}

/** However it is spelled: two names of one account would have two heads, and pay twice. */
function normalised(baseUrl: string): string {
  return (URL.canParse(baseUrl) ? new URL(baseUrl).href : baseUrl).replace(/\/+$/, '');
}
