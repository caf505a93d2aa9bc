import type { Job, LedgerEntry } from './books.ts';
import { admitCreate, type Caller, type Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import { readText, readTexts, type SandboxKind } from './kinds/kind.ts';
import { findUrlsProblem } from './kinds/public-url.ts';
import { bodyNotShown } from './kinds/schemas.ts';
import { viewCreated } from './life.ts';
import { isOwnFile } from './own-files.ts';
import { bodyText } from './own-url.ts';
import { anyBody, type BodySchema, checkBody, invalid, readJson } from './read-body.ts';
import { accountIds } from './samples.ts';
import { answerJson, type Call, type Json, type JsonObject, Refusal, type Reply } from './wire.ts';

const replayWindowMs = 24 * 60 * 60 * 1000;
const longestKey = 128;

export async function handleCreate(context: Context, kind: SandboxKind, call: Call): Promise<Reply> {
  const caller = admitCreate(context, call);
  const { body, text } = readJson(call);
  const counts = kind.create.replays && caller.credential === 'api key';
  const given = kind.create.replays ? (call.header('idempotency-key') ?? '').trim() : '';
  const key = counts ? given : '';
  if (given.length > longestKey) {
    const message = `Idempotency-Key has ${given.length} characters; at most ${longestKey} are allowed.`;
    throw new Refusal({ status: 400, code: 'idempotency_key_too_long', message });
  }
  const keyInHand = JSON.stringify([caller.user, key]);
  if (key !== '' && context.keysInHand.has(keyInHand)) {
    const message = 'A request with this Idempotency-Key is still in progress.';
    throw new Refusal({ status: 409, code: 'idempotency_key_in_progress', message });
  }
  if (key !== '') context.keysInHand.add(keyInHand);
  // Releases the idempotency key only once. After the release, another request may use the key.
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
  readonly key: string | null;
  readonly body: Json;
  readonly origin: string;
}

/** Checks and books synchronously, so that no other request can spend the balance between the two. */
function accept(context: Context, create: Create): Handled {
  const { kind, caller, key, body, origin } = create;
  const now = context.now();
  const earlier = key === null ? undefined : context.books.findByKey(caller.user, key);
  if (earlier !== undefined && now - Date.parse(earlier.entry.at) < replayWindowMs) {
    if (earlier.kind === kind && bodyText(earlier.entry.body) === bodyText(body))
      return describeCreated(earlier, origin);
    const message = 'This Idempotency-Key was used with another request within the last 24 hours.';
    throw new Refusal({ status: 409, code: 'idempotency_key_reused', message });
  }

  const checked = checkBody(body, context.rehearses ? anyBody : kind.create.body);
  const problem = context.rehearses
    ? undefined
    : kind.findProblem(checked, { isOwnFile: (url) => isOwnFile(context, url) });
  if (problem !== undefined) throw invalid(problem);

  const credits = context.books.price(kind, checked);
  const balance = context.books.balance(caller.user);
  if (balance < credits) {
    const message = `The request costs ${credits} credits; the balance is ${balance}.`;
    throw new Refusal({ status: 402, code: 'insufficient_credits', message });
  }
  return orUnwritten(() => describeCreated(context.books.book(caller.user, kind, { now, key, body: checked }), origin));
}

function orUnwritten<Booked>(book: () => Booked): Booked {
  try {
    return book();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The ledger could not be written, so nothing was booked: ${reason}`;
    throw new Refusal({ status: 500, code: 'server_error', message });
  }
}

/** Builds the answer to a create request from its ledger entry alone, so that a replay after a restart is the same. */
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

export const postBody: BodySchema = {
  type: 'object',
  required: ['accountIds'],
  properties: {
    accountIds: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description: 'IDs of the connected accounts on which to publish the post.',
    },
    caption: { type: 'string', description: 'The text of the post.' },
    media: { type: 'array', items: { type: 'string' }, description: 'Public https URLs of pictures and videos.' },
    scheduledAt: {
      type: 'string',
      format: 'date-time',
      description: 'ISO 8601 with a zone. If omitted or in the past, the post is published at once.',
    },
  },
  ...bodyNotShown,
};

/** Books a post free of charge. Ignores an Idempotency-Key. */
export async function handlePost(context: Context, call: Call): Promise<Reply> {
  const caller = admitCreate(context, call);
  const { body, text } = readJson(call);
  const action = context.faults.next('post', { kind: 'post', text });
  return applyFault(action, () => acceptPost(context, caller, body));
}

function acceptPost(context: Context, caller: Caller, given: Json): Handled {
  const body = checkBody(given, context.rehearses ? anyBody : postBody);
  const problem = context.rehearses ? undefined : findPostProblem(context, body);
  if (problem !== undefined) throw invalid(problem);
  const entry = orUnwritten(() => context.books.bookPost(caller.user, { now: context.now(), body }));
  const data = describePost(entry, Date.parse(entry.at));
  return { answer: answerJson(200, { success: true, data }), jobId: entry.id };
}

function findPostProblem(context: Context, body: JsonObject): string | undefined {
  const unknown = readTexts(body, 'accountIds').findIndex((id) => !accountIds.includes(id));
  if (unknown >= 0) return `accountIds[${unknown}] is not the id of a connected account.`;
  const scheduledAt = readText(body, 'scheduledAt', '');
  if (Object.hasOwn(body, 'scheduledAt') && !isTime(scheduledAt)) {
    return `scheduledAt must be a time such as 2030-01-31T09:00:00Z; got ${JSON.stringify(scheduledAt.slice(0, 80))}.`;
  }
  return findUrlsProblem('media', readTexts(body, 'media'), { isOwnFile: (url) => isOwnFile(context, url) });
}

function isTime(text: string): boolean {
  const shape = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i;
  return shape.test(text) && !Number.isNaN(Date.parse(text));
}

export function describePost({ id, at, body }: LedgerEntry, now: number): JsonObject {
  const scheduledAt = readText(body, 'scheduledAt', '');
  return {
    id,
    status: scheduledAt !== '' && Date.parse(scheduledAt) > now ? 'SCHEDULED' : 'PUBLISHED',
    accountIds: readTexts(body, 'accountIds'),
    caption: readText(body, 'caption', '') || null,
    media: readTexts(body, 'media'),
    scheduledAt: scheduledAt || null,
    createdAt: at,
  };
}
