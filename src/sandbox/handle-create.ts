import { applyFault, type Handled } from './apply-fault.ts';
import { bodyText, type Job } from './books.ts';
import type { Caller } from './caller.ts';
import { authenticate, type Context } from './context.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { findSchemaProblem } from './schema.ts';
import { answerJson, answerProblem, type Call, isObject, type Json, type JsonObject, type Reply } from './wire.ts';

const replayWindowMs = 24 * 60 * 60 * 1000;
const longestKey = 128;

export async function handleCreate(context: Context, kind: SandboxKind, call: Call): Promise<Reply> {
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const { caller } = authenticated;

  const waitSeconds = context.limit.admit(caller.user, context.now());
  if (waitSeconds > 0) {
    const message = `Too many create requests; try again in ${waitSeconds} s.`;
    const headers = { 'retry-after': String(waitSeconds) };
    return answerProblem({ status: 429, code: 'rate_limit_exceeded', message, headers });
  }

  const parsed = parseBody(call);
  if (parsed.type === 'refused') return parsed.reply;
  const { body, text } = parsed;

  const key = caller.credential === 'api key' ? (call.header('idempotency-key') ?? '').trim() : '';
  if (key.length > longestKey) {
    const message = `Idempotency-Key has ${key.length} characters; at most ${longestKey} are allowed.`;
    return answerProblem({ status: 400, code: 'idempotency_key_too_long', message });
  }
  const keyInHand = JSON.stringify([caller.user, key]);
  if (key !== '' && context.keysInHand.has(keyInHand)) {
    const message = 'A request with this Idempotency-Key is still being handled.';
    return answerProblem({ status: 409, code: 'idempotency_key_in_progress', message });
  }
  if (key !== '') context.keysInHand.add(keyInHand);
  // Let go once and only once: after that the key may be in the hand of another request.
  let inHand = key !== '';
  const letGo = () => {
    if (inHand) context.keysInHand.delete(keyInHand);
    inHand = false;
  };

  let reply: Reply | undefined;
  try {
    const action = context.faults.next('create', { kind: kind.name, text });
    reply = await applyFault(action, () => {
      const handled = accept(context, { kind, caller, key: key === '' ? null : key, body });
      letGo();
      return handled;
    });
  } finally {
    if (reply?.type !== 'hang') letGo();
  }
  return reply.type === 'hang' ? { type: 'hang', abandoned: letGo } : reply;
}

interface Create {
  readonly kind: SandboxKind;
  readonly caller: Caller;
  /** `null`: none was sent, or it does not count. */
  readonly key: string | null;
  readonly body: Json;
}

/** All in one turn of the event loop: nothing can come between looking at the balance and booking. */
function accept(context: Context, create: Create): Handled {
  const { kind, caller, key, body } = create;
  const now = context.now();
  const earlier = key === null ? undefined : context.books.findByKey(caller.user, key);
  if (earlier !== undefined && now - Date.parse(earlier.entry.at) < replayWindowMs) {
    if (earlier.kind === kind && bodyText(earlier.entry.body) === bodyText(body)) return describeCreated(earlier);
    const message = 'This Idempotency-Key was used with another request within the last 24 hours.';
    return { answer: answerProblem({ status: 409, code: 'idempotency_key_reused', message }) };
  }

  const problem = findSchemaProblem(body, kind.body);
  if (problem !== undefined || !isObject(body)) return refuseBody(problem ?? 'The body must be a JSON object.');
  const ruleProblem = kind.findProblem(body, { isOwnOutput: (url) => isOwnOutput(context, url) });
  if (ruleProblem !== undefined) return refuseBody(ruleProblem);

  const { credits } = kind.settle(body);
  const balance = context.books.balance(caller.user);
  if (balance < credits) {
    const message = `This costs ${credits} credits; the balance is ${balance}.`;
    return { answer: answerProblem({ status: 402, code: 'insufficient_credits', message }) };
  }
  return book(context, create, body);
}

function book(context: Context, create: Create, body: JsonObject): Handled {
  try {
    const { caller, kind, key } = create;
    return describeCreated(context.books.book(caller.user, kind, { now: context.now(), key, body }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The ledger could not be written, so nothing was booked: ${reason}`;
    return { answer: answerProblem({ status: 500, code: 'server_error', message }) };
  }
}

/** A function of the ledger's entry, so a replay after a restart is the very same answer. */
function describeCreated(job: Job): Handled {
  const { id, credits, balance, body } = job.entry;
  const described = job.kind.describeCreated(id, body);
  const answer = answerJson(200, {
    success: true,
    ...described,
    creditsDeducted: credits,
    creditsRemaining: balance,
  });
  return { answer, jobId: id };
}

function refuseBody(message: string): Handled {
  return { answer: answerProblem({ status: 400, code: 'validation_error', message }) };
}

function isOwnOutput(context: Context, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const token = /^\/files\/([0-9a-f]+)\/[^/]+$/.exec(new URL(url).pathname)?.[1];
  return token !== undefined && context.books.findByToken(token) !== undefined;
}

function parseBody(call: Call) {
  if (call.body === 'too large') {
    const message = 'The body is larger than 10 MB.';
    return { type: 'refused', reply: answerProblem({ status: 413, code: 'body_too_large', message }) } as const;
  }
  const refuse = (code: string, message: string) =>
    ({ type: 'refused', reply: answerProblem({ status: 400, code, message }) }) as const;
  if (!/^application\/json\s*(;|$)/i.test(call.header('content-type') ?? '')) {
    return refuse('invalid_content_type', 'The header Content-Type must be application/json.');
  }
  const text = call.body.toString('utf8');
  try {
    const body: Json = JSON.parse(text);
    return { type: 'body', body, text } as const;
  } catch {
    return refuse('invalid_json', 'The body is not valid JSON.');
  }
}
