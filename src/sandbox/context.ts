import { timingSafeEqual } from 'node:crypto';
import type { BlobStore } from './blob-store.ts';
import type { Books } from './books.ts';
import type { FaultScript } from './faults.ts';
import type { Library } from './library.ts';
import type { OutputFiles } from './output-files.ts';
import { type Call, isObject, Refusal } from './wire.ts';

export interface Context {
  readonly books: Books;
  readonly faults: FaultScript;
  readonly limit: CreatesLimit;
  readonly files: OutputFiles;
  readonly library: Library;
  readonly blobs: BlobStore;
  readonly keysInHand: Set<string>;
  readonly apiKey: string;
  readonly startingCredits: number;
  readonly speed: number;
  readonly failRate: number;
  /** True if the caller has already checked each request against the rules of another service. */
  readonly rehearses: boolean;
  readonly now: () => number;
}

export function authenticate(context: Context, call: Call): Caller {
  const authorization = call.header('authorization');
  const caller = identifyCaller(authorization, { apiKey: context.apiKey, now: context.now() });
  if (caller?.user === unknownUser) {
    const unknown = 'No user has the subject of this token.';
    throw new Refusal({ status: 404, code: 'user_not_found', message: unknown });
  }
  if (caller !== undefined) return caller;
  const message =
    authorization === undefined
      ? 'The header Authorization is missing; send "Authorization: Bearer <API key>".'
      : 'The API key or token is not valid.';
  throw new Refusal({ status: 401, code: 'unauthorized', message });
}

export function admitCreate(context: Context, call: Call): Caller {
  const caller = authenticate(context, call);
  const waitSeconds = context.limit.admit(caller.user, context.now());
  if (waitSeconds === 0) return caller;
  const message = `Too many create requests; try again in ${waitSeconds} s.`;
  const headers = { 'retry-after': String(waitSeconds) };
  throw new Refusal({ status: 429, code: 'rate_limit_exceeded', message, headers });
}

export interface CreatesRule {
  readonly creates: number;
  readonly perMs: number;
}

export class CreatesLimit {
  private rule: CreatesRule | undefined;
  private readonly timesByUser = new Map<string, number[]>();

  set(rule: CreatesRule): void {
    this.rule = rule;
  }

  /** Returns the number of seconds to wait before the request is allowed, 0 if it is allowed now. */
  admit(user: string, now: number): number {
    if (this.rule === undefined) return 0;
    const { creates, perMs } = this.rule;
    const recent = (this.timesByUser.get(user) ?? []).filter((time) => time > now - perMs);
    this.timesByUser.set(user, recent);
    const [oldest = now] = recent;
    if (recent.length >= creates) return Math.max(1, Math.ceil((oldest + perMs - now) / 1000));
    recent.push(now);
    return 0;
  }
}

/** User to which the API key and each JWT without a subject belong. */
export const mainUser = 'sandbox-user';

/** A valid JWT with this subject has no user. */
const unknownUser = 'unknown-user';

export interface Caller {
  readonly user: string;
  /** Type of credential. The sandbox ignores idempotency keys of requests with a JWT. */
  readonly credential: 'api key' | 'jwt';
}

/** Returns the caller, or `undefined` if the credential is missing or not accepted. */
function identifyCaller(
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

/** Returns the subject of a JWT. Does not check the signature, because the sandbox does not issue tokens. */
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
