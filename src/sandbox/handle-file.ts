import { applyFault, type Handled } from './apply-fault.ts';
import type { Job } from './books.ts';
import type { Context } from './context.ts';
import { lifeOf } from './life.ts';
import { type Answer, answerBytes, answerProblem, type Call, type Reply } from './wire.ts';

/** An output file. Whoever has the URL may read it; ranges and validators work as HTTP has them. */
export async function handleFile(
  context: Context,
  call: Call,
  parameters: { readonly token: string; readonly name: string },
): Promise<Reply> {
  const job = context.books.findByToken(parameters.token);
  const output = job?.kind.settle(job.entry.body).output;
  if (job === undefined || output?.fileName !== parameters.name) return answerNoFile();
  const text = JSON.stringify(job.entry.body);
  return applyFault(context.faults.next('file', { kind: job.kind.name, text }), async (): Promise<Handled> => {
    if (lifeOf(job, context.now(), context).status !== 'COMPLETED') return { answer: answerNoFile() };
    return { answer: await answerFile(context, call, job), jobId: job.entry.id };
  });
}

async function answerFile(context: Context, call: Call, job: Job): Promise<Answer> {
  const { seed, take, kind, entry } = job;
  const { fileName, mediaType } = kind.settle(entry.body).output;
  const file = await context.files.get({ kind: kind.name, body: entry.body, seed, take }, fileName);
  const headers = {
    'content-type': mediaType,
    etag: file.etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=31536000, immutable',
  };
  if (listsTag(call.header('if-none-match'), file.etag)) return answerBytes(304, headers, Buffer.alloc(0));
  const range = call.method === 'GET' ? readRange(call, file.etag, file.bytes.length) : 'whole';
  if (range === 'whole') return answerBytes(200, headers, file.bytes);
  if (range === 'outside') {
    const message = `The file has ${file.bytes.length} bytes; the range lies outside.`;
    const problemHeaders = { 'content-range': `bytes */${file.bytes.length}` };
    return answerProblem({ status: 416, code: 'range_not_satisfiable', message, headers: problemHeaders });
  }
  const contentRange = `bytes ${range.first}-${range.last}/${file.bytes.length}`;
  const part = file.bytes.subarray(range.first, range.last + 1);
  return answerBytes(206, { ...headers, 'content-range': contentRange }, part);
}

/** One range of bytes. Several ranges, another unit or a stale If-Range give the whole file, as HTTP allows. */
function readRange(call: Call, etag: string, size: number) {
  const ifRange = call.header('if-range');
  if (ifRange !== undefined && ifRange !== etag) return 'whole';
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(call.header('range') ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'whole';
  return first > last ? 'outside' : { first, last };
}

function listsTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function answerNoFile(): Answer {
  return answerProblem({ status: 404, code: 'not_found', message: 'There is no such file.' });
}
