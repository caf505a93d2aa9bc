import { createHmac } from 'node:crypto';
import { sameAddress } from '../ground/same-address.ts';
import { accountName } from '../service/secrets.ts';

export interface AccountFacts {
  token: string;
  baseUrl: string;
}

/**
 * Returns the name of an account on an engine, 32 hex digits. It is a keyed hash, so the API key cannot be derived or
 * guessed from it.
 */
export function accountOf({ token, baseUrl }: AccountFacts): string {
  const of = sameAddress(baseUrl) ?? baseUrl;
  return createHmac('sha256', accountName(token)).update(`mediabatch account\n${of}`).digest('hex').slice(0, 32);
}
