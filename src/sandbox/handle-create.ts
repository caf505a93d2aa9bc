import type { Job } from './books.ts';
import type { Caller } from './caller.ts';
import { admitCreate, authenticate, type Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { viewCreated } from './life.ts';
import { isOwnFile } from './own-files.ts';
import { bodyText } from './own-url.ts';
import { answerInvalid, checkBody, readJson } from './read-body.ts';
import { anyBody } from './schema.ts';
import { type Answer, answerJson, answerProblem, type Call, type Json, type JsonObject, type Reply } from './wire.ts';

const replayWindowMs = 24 * 60 * 60 * 1000;
const longestKey = 128;

export async function handleCreate(context: Context, kind: SandboxKind, call: Call): Promise<Reply> {
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const { caller } = authenticated;

  const tooMany = admitCreate(context, caller);
  if (tooMany !== undefined) return tooMany;

  const read = readJson(call);
  if (read.type === 'refused') return read.answer;
  const { body, text } = read;

  const counts = kind.create.replays && caller.credential === 'api key';
  const given = kind.create.replays ? (call.header('idempotency-key') ?? '').trim() : '';
  const key = counts ? given : '';
  if (given.length > longestKey) {
    const message = `Idempotency-Key has ${given.length} characters; at most ${longestKey} are allowed.`;
    return answerProblem({ status: 400, code: 'idempotency_key_too_long', message });
  }
  const keyInHand = JSON.stringify([caller.user, key]);
  if (key !== '' && context.keysInHand.has(keyInHand)) {
    const message = 'A request with this Idempotency-Key is still being handled.';
    return answerProblem({ status: 409, code: 'idempotency_key_in_progress', message });
  }
  if (key !== '') context.keysInHand.add(keyInHand);
  // Releases the idempotency key only once: after that, another request may use it.
  let inHand = key !== '';
  const letGo = () => {
    if (inHand) context.keysInHand.delete(keyInHand);
    inHand = false;
  };

  let reply: Reply | undefined;
  try {
    const action = context.faults.next('create', { kind: kind.name, text });
    reply = await applyFault(action, () => {
      const handled = accept(context, { kind, caller, key: key === '' ? null : key, body, origin: call.origin });
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
  /** Idempotency key; `null` if none was sent, or it does not count. */
  readonly key: string | null;
  readonly body: Json;
  readonly origin: string;
}

/**
 * Accepts or refuses a create request synchronously, so that nothing can happen between checking the balance and
 * booking.
 */
function accept(context: Context, create: Create): Handled {
  const { kind, caller, key, body, origin } = create;
  const now = context.now();
  const earlier = key === null ? undefined : context.books.findByKey(caller.user, key);
  if (earlier !== undefined && now - Date.parse(earlier.entry.at) < replayWindowMs) {
    if (earlier.kind === kind && bodyText(earlier.entry.body) === bodyText(body))
      return describeCreated(earlier, origin);
    const message = 'This Idempotency-Key was used with another request within the last 24 hours.';
    return { answer: answerProblem({ status: 409, code: 'idempotency_key_reused', message }) };
  }

  const checked = checkBody(body, context.rehearses ? anyBody : kind.create.body);
  if (checked.type === 'refused') return { answer: checked.answer };
  const problem = context.rehearses
    ? undefined
    : kind.findProblem(checked.body, { isOwnFile: (url) => isOwnFile(context, url) });
  if (problem !== undefined) return { answer: answerInvalid(problem) };

  const credits = context.books.price(kind, checked.body);
  const balance = context.books.balance(caller.user);
  if (balance < credits) {
    const message = `This costs ${credits} credits; the balance is ${balance}.`;
    return { answer: answerProblem({ status: 402, code: 'insufficient_credits', message }) };
  }
  return book(context, create, checked.body);
}

function book(context: Context, create: Create, body: JsonObject): Handled {
  try {
    const { caller, kind, key, origin } = create;
    return describeCreated(context.books.book(caller.user, kind, { now: context.now(), key, body }), origin);
  } catch (error) {
    return { answer: answerUnwritten(error) };
  }
}

export function answerUnwritten(error: unknown): Answer {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The ledger could not be written, so nothing was booked: ${reason}`;
  return answerProblem({ status: 500, code: 'server_error', message });
}

/** Computes the answer from the ledger entry alone, so that a replay after a restart gives the same answer. */
function describeCreated(job: Job, origin: string): Handled {
  const { id, credits, balance } = job.entry;
  const answer = answerJson(200, {
    success: true,
    ...job.kind.create.describe(viewCreated(job, origin)),
    creditsDeducted: credits,
    creditsRemaining: balance,
  });
  return { answer, jobId: id };
}
