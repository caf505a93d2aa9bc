import type { LedgerEntry } from './books.ts';
import { admitCreate, type Caller, type Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import { accountId } from './handle-catalog.ts';
import { orUnwritten } from './handle-create.ts';
import { readText, readTexts } from './kinds/kind.ts';
import { findUrlsProblem } from './kinds/public-url.ts';
import { bodyNotShown } from './kinds/schemas.ts';
import { isOwnFile } from './own-files.ts';
import { anyBody, type BodySchema, checkBody, invalid, readJson } from './read-body.ts';
import { accounts } from './samples.ts';
import { answerJson, type Call, type Json, type JsonObject, type Reply } from './wire.ts';

export const postBody: BodySchema = {
  type: 'object',
  required: ['accountIds'],
  properties: {
    accountIds: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description: 'Where it is published: ids of connected accounts.',
    },
    caption: { type: 'string', description: 'The text of the post.' },
    media: { type: 'array', items: { type: 'string' }, description: 'Public https URLs of pictures and videos.' },
    scheduledAt: {
      type: 'string',
      format: 'date-time',
      description: 'ISO 8601 with a zone. Absent or past: published at once.',
    },
  },
  ...bodyNotShown,
};

/** Books a post free of charge. Ignores an Idempotency-Key. */
export async function handlePost(context: Context, call: Call): Promise<Reply> {
  const caller = admitCreate(context, call);
  const { body, text } = readJson(call);
  const action = context.faults.next('post', { kind: 'post', text });
  return applyFault(action, () => accept(context, caller, body));
}

function accept(context: Context, caller: Caller, given: Json): Handled {
  const body = checkBody(given, context.rehearses ? anyBody : postBody);
  const problem = context.rehearses ? undefined : findPostProblem(context, body);
  if (problem !== undefined) throw invalid(problem);
  const entry = orUnwritten(() => context.books.bookPost(caller.user, { now: context.now(), body }));
  const data = describePost(entry, Date.parse(entry.at));
  return { answer: answerJson(200, { success: true, data }), jobId: entry.id };
}

function findPostProblem(context: Context, body: JsonObject): string | undefined {
  const known = accounts.map(accountId);
  const unknown = readTexts(body, 'accountIds').findIndex((id) => !known.includes(id));
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
