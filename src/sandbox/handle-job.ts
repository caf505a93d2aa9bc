import { applyFault, type Handled } from './apply-fault.ts';
import { authenticate, type Context } from './context.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { describeJob, lifeOf } from './life.ts';
import { type Answer, answerJson, answerProblem, type Call, type Reply } from './wire.ts';

export async function handleStatus(context: Context, kind: SandboxKind, request: JobRequest): Promise<Reply> {
  const { call, id } = request;
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const job = context.books.find(authenticated.caller.user, kind, id);
  const text = job === undefined ? '' : JSON.stringify(job.entry.body);
  return applyFault(context.faults.next('status', { kind: kind.name, text }), (): Handled => {
    if (job === undefined) return { answer: answerUnknown(kind) };
    const life = lifeOf(job, context.now(), context);
    const { fileName } = kind.settle(job.entry.body).output;
    const data = describeJob(job, life, `${call.origin}/files/${job.token}/${fileName}`);
    return { answer: answerJson(200, { success: true, data }), jobId: id };
  });
}

export function handleDelete(context: Context, kind: SandboxKind, request: JobRequest): Reply {
  const authenticated = authenticate(context, request.call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const job = context.books.find(authenticated.caller.user, kind, request.id);
  if (job === undefined) return answerUnknown(kind);
  context.books.delete(job, context.now());
  return answerJson(200, { success: true, message: `The ${kind.name} generation was deleted.` });
}

interface JobRequest {
  readonly call: Call;
  readonly id: string;
}

function answerUnknown(kind: SandboxKind): Answer {
  const message = `There is no ${kind.name} generation with this id.`;
  return answerProblem({ status: 404, code: 'not_found', message });
}
