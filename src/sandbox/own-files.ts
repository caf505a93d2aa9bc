import type { Job } from './books.ts';
import type { Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import type { RenderOrder } from './kinds/kind.ts';
import { lifeOf } from './life.ts';
import { type OwnPath, readOwnUrl } from './own-url.ts';
import { findSample } from './samples.ts';
import { type Answer, answerBytes, answerContent, answerProblem, type Call, type Content, type Reply } from './wire.ts';

type Headers = Readonly<Record<string, string>>;

/** Serves an output or a sample without a credential. Supports range and conditional requests. */
export function handleOutput(context: Context, call: Call, path: OwnPath): Promise<Reply> | Reply {
  return serve(context, call, {
    file: findOutput(context, path),
    headers: { 'cache-control': 'private, max-age=31536000, immutable' },
  });
}

/** Serves an uploaded file. Browsers must not render the file as a page, because any user may have uploaded it. */
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
    const message = `The range is outside of the file, which has ${file.size} bytes.`;
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

/** Returns the byte range to send: the whole file for several ranges, another unit or an outdated If-Range. */
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

interface OwnFile {
  readonly mediaType: string;
  readonly size: number;
  readonly etag: string;
  readonly content: Content;
}

interface FoundFile {
  readonly kind: string;
  readonly text: string;
  readonly jobId?: string;
  open(): Promise<OwnFile | undefined>;
}

/** `open`: opens the file; resolves with undefined until the job is completed. */
function findOutput(context: Context, path: OwnPath): FoundFile | undefined {
  const sample = findSample(path);
  if (sample !== undefined) {
    const { mediaType, order } = sample;
    return { kind: 'sample', text: sample.fileName, open: () => render(context, order, { mediaType }) };
  }
  const job = context.books.findMaker(path);
  const plan = job?.files.find((file) => file.name === path.name);
  if (job === undefined || plan === undefined || context.books.isDeleted(job)) return undefined;
  return {
    kind: job.kind.name,
    text: JSON.stringify(job.body),
    jobId: job.entry.id,
    async open() {
      if (lifeOf(job, context.now(), context).status !== 'COMPLETED') return undefined;
      const { mediaType } = plan;
      return render(context, orderOf(job, plan.name), { mediaType, source: () => loadSource(context, job) });
    },
  };
}

function findUpload(context: Context, path: OwnPath): FoundFile | undefined {
  const blob = context.library.findBlob(`${path.token}/${path.name}`);
  if (blob === undefined) return undefined;
  return {
    kind: 'upload',
    text: blob.blobName,
    async open() {
      const { stored } = context.library.findBlob(blob.blobName) ?? blob;
      const content = stored === undefined ? undefined : context.blobs.content(stored);
      if (stored === undefined || content === undefined) return undefined;
      return { mediaType: stored.mediaType, size: stored.size, etag: stored.etag, content };
    },
  };
}

export function findOwnFile(context: Context, url: string): FoundFile | undefined {
  const path = readOwnUrl(url);
  return path === undefined ? undefined : (findOutput(context, path) ?? findUpload(context, path));
}

/** Returns whether a request may contain this URL although it is not public: an output or a complete upload has it. */
export function isOwnFile(context: Context, url: string): boolean {
  const path = readOwnUrl(url);
  if (path === undefined) return false;
  if (findOutput(context, path) !== undefined) return true;
  return context.library.findBlob(`${path.token}/${path.name}`)?.stored !== undefined;
}

async function render(
  context: Context,
  order: RenderOrder,
  options: { readonly mediaType: string; readonly source?: () => Promise<Uint8Array | undefined> },
): Promise<OwnFile> {
  const { mediaType, source } = options;
  const { bytes, etag } = await context.files.get(order, source);
  return { mediaType, size: bytes.length, etag, content: { type: 'bytes', bytes } };
}

function orderOf(job: Job, fileName: string): RenderOrder {
  const { kind, body, seed, take, sourceMs } = job;
  return { kind: kind.name, body, seed, take, sourceMs, fileName };
}

const largestSourceBytes = 64 * 1024 * 1024;

async function loadSource(context: Context, job: Job): Promise<Uint8Array | undefined> {
  const { source } = job;
  if (source === undefined) return undefined;
  const maker = context.books.findMaker(source);
  if (maker !== undefined) {
    const order = orderOf(maker, source.name);
    return (await context.files.get(order, () => loadSource(context, maker))).bytes;
  }
  const stored = context.library.findBlob(`${source.token}/${source.name}`)?.stored;
  if (stored === undefined || stored.size > largestSourceBytes || context.blobs.content(stored) === undefined) {
    return undefined;
  }
  return context.blobs.read(stored);
}
