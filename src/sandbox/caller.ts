import { timingSafeEqual } from 'node:crypto';
import { isObject } from './wire.ts';

/** User of the API key, and of each JWT without a subject. */
export const mainUser = 'sandbox-user';

/** Subject of a valid JWT whose user does not exist. */
export const unknownUser = 'unknown-user';

export interface Caller {
  readonly user: string;
  /** Type of credential. Idempotency keys count only with an API key. */
  readonly credential: 'api key' | 'jwt';
}

/** Returns `undefined` if the credential is missing or not accepted. */
export function identifyCaller(
  authorization: string | undefined,
  options: { apiKey: string; now: number },
): Caller | undefined {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  if (isSameText(token, options.apiKey)) return { user: mainUser, credential: 'api key' };
  const claims = readClaims(token);
  if (claims === undefined) return undefined;
  if (typeof claims.exp === 'number' && claims.exp * 1000 <= options.now) return undefined;
  const subject = typeof claims.sub === 'string' && claims.sub !== '' ? claims.sub : mainUser;
  return { user: subject, credential: 'jwt' };
}

function isSameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Does not check the signature, because the sandbox does not issue tokens. */
function readClaims(token: string) {
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined;
  const [header, claims] = parts.map(decodePart);
  return isObject(header) && isObject(claims) ? claims : undefined;
}

function decodePart(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
