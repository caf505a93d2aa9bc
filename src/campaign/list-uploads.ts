import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { kinds } from '../kinds/index.ts';
import { readServiceDocument } from '../kinds/service-document.ts';
import { isAssetUrl } from '../lock/check-line.ts';
import type { UploadRow } from '../report/tables/jobs-text.ts';
import { readRecord } from '../service/fields.ts';
import { createHttp, requireAnswer } from '../service/http.ts';
import type { Library } from '../service/library.ts';
import { makeRedact } from '../service/secrets.ts';
import type { Access } from './environment.ts';

/**
 * Lists the media library of the service. The list is undocumented, so it is requested only if the service's own
 * document has it; otherwise undefined.
 */
export async function listUploads(library: Library, access: Access): Promise<UploadRow[] | undefined> {
  const { operations } = readServiceDocument(await library.document(), kinds);
  if (!operations.includes('GET /uploads')) return undefined;
  const redact = makeRedact(access.token);
  const http = createHttp({ ...access, redact });
  try {
    const answer = await http.call({ method: 'GET', path: '/uploads', deadlineMs: 30_000 });
    return readUploads(requireAnswer(answer, redact));
  } finally {
    await http.close();
  }
}

function readUploads(json: Json): UploadRow[] {
  const body = readRecord(json);
  const list = [json, body?.data, body?.uploads, body?.assets].find(Array.isArray) ?? [];
  return list.flatMap((item): UploadRow[] => {
    const asset = readRecord(item);
    const { id, url, name, fileSize, createdAt } = asset ?? {};
    if (!isJobId(id) || !isAssetUrl(url)) return [];
    return [
      {
        name: typeof name === 'string' ? name : '',
        url,
        id,
        ...(typeof fileSize === 'number' && fileSize >= 0 && { bytes: fileSize }),
        ...(typeof createdAt === 'string' && { createdAt }),
      },
    ];
  });
}
