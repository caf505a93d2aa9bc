import { applyFault, type Handled } from './apply-fault.ts';
import { authenticate, type Context } from './context.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { shownLife, syncLife } from './life.ts';
import { viewJob } from './view-job.ts';
import { type Answer, answerJson, answerProblem, type Call, type Reply } from './wire.ts';

export interface JobRequest {
  readonly call: Call;
  readonly id: string;
  /** Kinds that share the path. */
  readonly kinds: readonly SandboxKind[];
}

/** Where a job stands. Brings it up to date first, should its kind need that. */
export function handleStatus(context: Context, request: JobRequest): Promise<Reply> | Reply {
  return showJob(context, request, syncLife);
}

/** The record as it stands, which may be behind. */
export function handleRecord(context: Context, request: JobRequest): Promise<Reply> | Reply {
  return showJob(context, request, shownLife);
}

function showJob(context: Context, { call, id, kinds }: JobRequest, lifeOf: typeof syncLife): Promise<Reply> | Reply {
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const refusesBlank = kinds.some((kind) => kind.status.blankId === 'refused');
  if (refusesBlank && id.trim() === '')
    return answerProblem({ status: 400, code: 'missing_id', message: 'The id is missing.' });
  const { user } = authenticated.caller;
  // The id of any create's answer will do: of a thumbnail that is the record's, too.
  const job =
    context.books.find(user, kinds, { id, by: 'job' }) ?? context.books.find(user, kinds, { id, by: 'record' });
  const about = { kind: (job?.kind ?? kinds[0])?.name ?? '', text: job === undefined ? '' : JSON.stringify(job.body) };
  return applyFault(context.faults.next('status', about), (): Handled => {
    if (job === undefined || context.books.isDeleted(job)) return { answer: answerUnknown(kinds) };
    const data = job.kind.status.describe(viewJob(job, lifeOf(job, context), call.origin));
    return { answer: answerJson(200, { success: true, data }), jobId: id };
  });
}

/** Removes the record and its files for good. Credits stay spent. `by`: whose id the path holds. */
export function handleDelete(
  context: Context,
  { call, id, kinds }: JobRequest,
  by: 'job' | 'record',
): Promise<Reply> | Reply {
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const job = context.books.find(authenticated.caller.user, kinds, { id, by });
  if (job === undefined) return answerUnknown(kinds);
  const about = { kind: job.kind.name, text: JSON.stringify(job.body) };
  return applyFault(context.faults.next('delete', about), (): Handled => {
    if (context.books.isDeleted(job)) return { answer: answerUnknown(kinds) };
    context.books.delete(job, context.now());
    const message = `The ${job.kind.name} generation was deleted.`;
    return { answer: answerJson(200, { success: true, message }), jobId: job.entry.id };
  });
}

function answerUnknown(kinds: readonly SandboxKind[]): Answer {
  const names = kinds.map(({ name }) => name).join(' or ');
  return answerProblem({ status: 404, code: 'not_found', message: `There is no ${names} generation with this id.` });
}
