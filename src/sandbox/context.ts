import type { BlobStore } from './blob-store.ts';
import type { Books } from './books.ts';
import { type Caller, identifyCaller, unknownUser } from './caller.ts';
import type { FaultScript } from './faults.ts';
import type { Library } from './library.ts';
import type { OutputFiles } from './output-files.ts';
import { type Call, Refusal } from './wire.ts';

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
  /** Whether the caller has already checked each request against the rules of another service. */
  readonly rehearses: boolean;
  readonly now: () => number;
}

export function authenticate(context: Context, call: Call): Caller {
  const authorization = call.header('authorization');
  const caller = identifyCaller(authorization, { apiKey: context.apiKey, now: context.now() });
  if (caller?.user === unknownUser) {
    const unknown = 'There is no user with the subject of this token.';
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

  /** Returns 0 if the request is allowed. Otherwise, returns the number of seconds to wait. */
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
