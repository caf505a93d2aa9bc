import type { Job } from './books.ts';
import type { Context } from './context.ts';
import type { RenderOrder } from './kinds/kind.ts';
import { lifeOf } from './life.ts';
import { type OwnPath, readOwnUrl } from './own-url.ts';
import { findSample } from './samples.ts';
import type { Content } from './wire.ts';

export interface OwnFile {
  readonly mediaType: string;
  readonly size: number;
  readonly etag: string;
  readonly content: Content;
}

export interface FoundFile {
  readonly kind: string;
  readonly text: string;
  readonly jobId?: string;
  open(): Promise<OwnFile | undefined>;
}

/** `open` resolves with undefined until the job is completed. */
export function findOutput(context: Context, path: OwnPath): FoundFile | undefined {
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

export function findUpload(context: Context, path: OwnPath): FoundFile | undefined {
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

/**
 * Returns whether a request may refer to this URL although the URL is not public: it is an output or a complete upload.
 */
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
