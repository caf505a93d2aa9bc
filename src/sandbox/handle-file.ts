import { applyFault, type Handled } from './apply-fault.ts';
import type { Context } from './context.ts';
import { type FoundFile, findOutput, findUpload, type OwnFile } from './own-files.ts';
import type { OwnPath } from './own-url.ts';
import { type Answer, answerBytes, answerContent, answerProblem, type Call, type Content, type Reply } from './wire.ts';

type Headers = Readonly<Record<string, string>>;

/** An output or a sample: whoever has the URL may read it; ranges and validators work as HTTP has them. */
export function handleOutput(context: Context, call: Call, path: OwnPath): Promise<Reply> | Reply {
  return serve(context, call, {
    file: findOutput(context, path),
    headers: { 'cache-control': 'private, max-age=31536000, immutable' },
  });
}

/** Uploaded bytes under their public URL. Anybody may have made them, so a browser must not take them for a page. */
export function handleUploaded(context: Context, call: Call, path: OwnPath): Promise<Reply> | Reply {
  return serve(context, call, {
    file: findUpload(context, path),
    headers: {
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    },
  });
}

function serve(
  context: Context,
  call: Call,
  found: { readonly file: FoundFile | undefined; readonly headers: Headers },
): Promise<Reply> | Reply {
  const { file, headers } = found;
  if (file === undefined) return answerNoFile();
  const action = context.faults.next('file', { kind: file.kind, text: file.text });
  return applyFault(action, async (): Promise<Handled> => {
    const opened = await file.open();
    if (opened === undefined) return { answer: answerNoFile() };
    return { answer: answerFile(call, opened, headers), ...(file.jobId !== undefined && { jobId: file.jobId }) };
  });
}

function answerFile(call: Call, file: OwnFile, more: Headers): Answer {
  const headers = { 'content-type': file.mediaType, etag: file.etag, 'accept-ranges': 'bytes', ...more };
  if (listsTag(call.header('if-none-match'), file.etag)) return answerBytes(304, headers, Buffer.alloc(0));
  const range = call.method === 'GET' ? readRange(call, file.etag, file.size) : 'whole';
  if (range === 'whole') return answerContent(200, headers, file.content);
  if (range === 'outside') {
    const message = `The file has ${file.size} bytes; the range lies outside.`;
    const problemHeaders = { 'content-range': `bytes */${file.size}` };
    return answerProblem({ status: 416, code: 'range_not_satisfiable', message, headers: problemHeaders });
  }
  const contentRange = `bytes ${range.first}-${range.last}/${file.size}`;
  return answerContent(206, { ...headers, 'content-range': contentRange }, takePart(file.content, range));
}

function takePart(content: Content, { first, last }: { first: number; last: number }): Content {
  if (content.type === 'bytes') return { type: 'bytes', bytes: content.bytes.subarray(first, last + 1) };
  return { ...content, first: content.first + first, size: last + 1 - first };
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
