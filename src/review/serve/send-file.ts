import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ReviewFile } from '../../contract/review.ts';
import { openPlainFile } from '../../disk/fs/plain-file.ts';
import { hashHandle } from '../../disk/outputs/hash-file.ts';
import { answer, answerProblem, safeHeaders, sandboxedPolicy } from './answer.ts';

/**
 * Media types that browsers display without running scripts. Files of other types are sent as downloads, because the
 * type comes from the lock, and a branch may set any.
 */
const shown: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'],
  ...['audio/mpeg', 'audio/wav', 'audio/flac', 'audio/ogg', 'audio/mp4'],
  ...['video/mp4', 'video/webm', 'video/quicktime', 'video/x-matroska'],
];

export async function sendFile(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  file: ReviewFile,
  { path, whole }: { path: string | undefined; whole: WholeFiles },
): Promise<void> {
  const handle = path === undefined ? undefined : await open(path);
  if (handle === undefined) return notThere(response, file);
  try {
    if (!(await whole.isWhole(handle, file))) return notThere(response, file);
    await sendBytes({ request, response }, { handle, size: file.bytes, type: file.mediaType });
  } finally {
    await handle.close().catch(() => undefined);
  }
}

async function open(path: string): Promise<FileHandle | undefined> {
  try {
    return await openPlainFile(path, constants.O_RDONLY);
  } catch {
    return undefined;
  }
}

function notThere(response: ServerResponse, { path }: ReviewFile): void {
  answerProblem(response, 404, `${path} is not here, or was changed`, 'the next apply fetches it for free');
}

async function sendBytes(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { handle, size, type }: { handle: FileHandle; size: number; type: string },
): Promise<void> {
  const range = readRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    const headers = { 'Content-Range': `bytes */${size}` };
    return answer(response, { status: 416, type: 'text/plain; charset=utf-8', body: '', headers });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  response.writeHead(range === undefined ? 200 : 206, {
    ...safeHeaders,
    // I29
    ...(shown.includes(type)
      ? { 'Content-Type': type }
      : {
          'Content-Type': 'application/octet-stream',
          'Content-Disposition': 'attachment',
          'Content-Security-Policy': sandboxedPolicy,
        }),
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(range !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  // Browsers often abort the download of a film; that is not an error.
  const stream = handle.createReadStream({ start, end, autoClose: false });
  await pipeline(stream, response, { end: false }).catch(() => undefined);
  // The file has become shorter. Without closing the connection, the next response would be read as the rest of it.
  if (stream.bytesRead < end - start + 1) response.destroy();
  else response.end();
}

function readRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/**
 * Checks whether files have the bytes that were bought: they may come with a branch, and a reviewer must see what the
 * verdict is about. The result is cached until the file changes.
 */
export class WholeFiles {
  readonly #read = new Map<string, { stamp: string; isWhole: Promise<boolean> }>();

  async isWhole(handle: FileHandle, { bytes, sha256 }: Pick<ReviewFile, 'bytes' | 'sha256'>): Promise<boolean> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
    if (size !== BigInt(bytes)) return false;
    const name = `${dev} ${ino} ${sha256}`;
    const stamp = `${size} ${mtimeNs} ${ctimeNs}`;
    const known = this.#read.get(name);
    if (known?.stamp === stamp) return known.isWhole;
    const isWhole = hashHandle(handle).then((digest) => digest.sha256 === sha256); // I29 (bytes)
    this.#read.set(name, { stamp, isWhole });
    // A failure is not cached, because the disk may work the next time.
    isWhole.catch(() => this.#read.delete(name));
    return isWhole;
  }
}
