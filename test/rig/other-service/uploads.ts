import { problem, type Reply } from './answers.ts';
import type { Books } from './books.ts';
import type { Call, OtherService } from './other-service.ts';

/** Files that were put into storage and not registered. */
const stored = new WeakMap<Books, Map<string, { bytes: number; type: string }>>();

export function storeFile(books: Books, pathname: string, file: { bytes: Buffer; type: string | undefined }): Reply {
  const files = stored.get(books) ?? new Map<string, { bytes: number; type: string }>();
  files.set(decodeURIComponent(pathname.replace('/storage/', '')), {
    bytes: file.bytes.length,
    type: file.type ?? 'application/octet-stream',
  });
  stored.set(books, files);
  return { status: 200, json: {} };
}

/** The three calls below `/uploads`. A URL is taken at its word: nothing is fetched. */
export function receiveUpload(service: OtherService, { path, text, user }: Call): Reply {
  const { books, origin } = service;
  const body = JSON.parse(text) as { [field: string]: unknown };
  const nth = books.assets.length + 1;
  if (path === '/uploads/signed-url') {
    const blobName = `${nth}-${body.fileName}`;
    const place = encodeURIComponent(blobName);
    const data = {
      blobName,
      token: 't',
      publicUrl: `${origin}/library/${place}`,
      uploadUrl: `${origin}/storage/${place}?t`,
    };
    return { status: 200, json: { data, success: true } };
  }
  if (path === '/uploads/complete') {
    const blob = stored.get(books)?.get(String(body.blobName));
    if (blob === undefined) return problem(404, 'BLOB_NOT_FOUND', 'Upload it first');
    const name = String(body.fileName ?? body.blobName);
    books.assets.push({ id: String(nth), user, name, path: String(body.blobName), from: 'storage', ...blob });
    return { status: 200, json: { success: true } };
  }
  const { url, base64, fileName } = body;
  if ((url === undefined) === (base64 === undefined)) return problem(422, 'ONE_SOURCE', 'Give url or base64');
  const name = String(fileName ?? 'file');
  const bytes = typeof base64 === 'string' ? Buffer.from(base64.replace(/^data:.*?,/, ''), 'base64').length : 1;
  books.assets.push({ id: String(nth), user, name, path: name, type: 'IMAGE', bytes, from: String(url ?? 'base64') });
  const data = {
    fileSize: bytes,
    type: 'IMAGE',
    mimeType: 'image/png',
    createdAt: service.manners.time(new Date()),
    url: `${origin}/library/${nth}`,
    name,
    id: `asset-${nth}`,
  };
  return { status: 201, json: { data, success: true } };
}
