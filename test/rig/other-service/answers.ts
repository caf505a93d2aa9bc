import type { Booked, Books } from './books.ts';
import type { Manners } from './manners.ts';

interface Answer {
  status: number;
  json: object;
  headers?: Record<string, string>;
}

/** A JSON answer, the bytes of a file, or a connection that breaks. */
export type Reply = Answer | { status: number; bytes: Buffer; type: string } | 'break';

/** What the answers are made with. `link`: the place of a file, signed again whenever it is asked for. */
export interface Facts {
  manners: Manners;
  books: Books;
  link: (job: Booked, index?: number) => string;
}

export function problem(status: number, code: string, message: string): Answer {
  return { status, json: { message, code, success: false, error: code.toLowerCase().replaceAll('_', ' ') } };
}

/** Booked already: what the caller is told of it. */
export function createdAnswer(job: Booked, { manners, books }: Facts): Reply {
  const { kind } = job;
  const charge = manners.tellsCharge.includes(kind) ? { creditsDeducted: job.credits } : {};
  const balance = { creditsRemaining: books.balance };
  if (kind === 'image' || kind === 'music') {
    return {
      status: 201,
      json: { ...balance, ...charge, generation: { status: 'QUEUED', id: job.id }, success: true },
    };
  }
  const told = { status: 'QUEUED', ...idsOf(job, manners) };
  const holder = manners.holder === undefined ? told : { [manners.holder]: told };
  return { status: 201, json: { ...balance, ...charge, success: true, ...holder } };
}

function idsOf(job: Booked, { thumbnail }: Manners): object {
  if (job.kind !== 'thumbnail') return { id: job.id };
  if (thumbnail.create === 'both') return { jobId: job.id, id: job.recordId };
  return { id: thumbnail.create === 'record' ? job.recordId : job.id };
}

/** `isSynced`: the status has been asked for; lists of records do not do that. */
const isDone = (job: Booked) => job.looks > 1;

function common(job: Booked, { manners }: Facts) {
  const at = manners.time(job.at);
  return { updatedAt: at, createdAt: at, error: null, status: isDone(job) ? 'COMPLETED' : 'QUEUED' };
}

/** The documented fields of a status, without any that may be absent. */
export function statusView(job: Booked, facts: Facts, shownId: string): object {
  const { kind, body } = job;
  if (kind === 'clipping') return { ...clippingView(job, facts), id: shownId };
  return {
    ...common(job, facts),
    ...(isDone(job) && { outputUrl: facts.link(job) }),
    ...(isDone(job) && kind === 'video' && { thumbnailUrl: facts.link(job, 1) }),
    ...(kind === 'voiceover' && { voiceId: body.voice_id ?? 'Aria' }),
    id: shownId,
  };
}

/** Not in their order: each says its own. */
export function clippingView(job: Booked, facts: Facts): object {
  const clip = (order: number) => ({ outputAsset: { url: facts.link(job, order) }, order, id: `${order}` });
  return {
    ...common(job, facts),
    clips: isDone(job) ? [clip(1), clip(0)] : [],
    videoUrl: job.body.videoUrl,
    id: job.id,
  };
}

/** An item of a list. */
export function listItem(job: Booked, facts: Facts): object {
  const { kind, body } = job;
  const asset = (index: number) => (isDone(job) ? { url: facts.link(job, index), id: `${job.id}${index}` } : null);
  const shared = common(job, facts);
  switch (kind) {
    case 'video':
      return {
        ...shared,
        id: job.id,
        prompt: body.prompt,
        ratio: body.ratio ?? body.aspectRatio ?? '16:9',
        duration: body.duration ?? 5,
        model: body.model ?? 'film-1',
        creditsUsed: job.credits,
        outputAsset: asset(0),
        thumbnailAsset: asset(1),
      };
    case 'voiceover':
      return {
        ...shared,
        id: job.id,
        text: body.text,
        voiceId: body.voice_id ?? 'Aria',
        model: 'speech-9',
        outputFormat: body.output_format ?? 'mp3',
        outputAsset: asset(0),
      };
    case 'thumbnail':
      return {
        ...shared,
        id: job.recordId,
        userId: job.user,
        jobId: job.id,
        title: body.title,
        description: body.description ?? null,
        link: body.link ?? null,
        image: body.image ?? (isDone(job) ? facts.link(job) : ''),
        completedAt: null,
      };
    default:
      return clippingView(job, facts);
  }
}
