import { systemClock } from '../contract/clock.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { kinds } from '../kinds/index.ts';
import { readServiceDocument } from '../kinds/service-document.ts';
import { isAssetUrl } from '../lock/check-line.ts';
import type { UploadRow } from '../report/tables/lists.ts';
import { readRecord } from '../service/fields.ts';
import { createHttp, requireAnswer } from '../service/http.ts';
import { Library, type ListedJob } from '../service/library.ts';
import { makeRedact } from '../service/secrets.ts';
import { openSandbox, sandboxKey } from './embed-sandbox.ts';
import { type Access, type Environment, requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';

export interface OpenAccess {
  access: Access;
  library: Library;
}

const requestTimeoutMs = 30_000;

/** Calls `use` with a connection to the service or sandbox. Throws if the key is refused or the connection fails. */
export async function withLibrary<T>(
  options: {
    environment: Environment;
    sandbox: boolean;
    folder: string;
    keeps: boolean;
  },
  use: (open: OpenAccess) => Promise<T>,
): Promise<T> {
  const embedded = options.sandbox ? await openSandbox(options.folder, options.keeps) : undefined;
  try {
    const access =
      embedded === undefined ? requireAccess(options.environment) : { baseUrl: embedded.url, token: sandboxKey };
    const library = new Library({ ...access, clock: systemClock, requestTimeoutMs });
    try {
      return await use({ access, library });
    } finally {
      await library.close();
    }
  } finally {
    await embedded?.close();
  }
}

export function withLibraryOf<T>(campaign: OpenCampaign, use: (open: OpenAccess) => Promise<T>): Promise<T> {
  const { environment, sandbox, paths } = campaign;
  return withLibrary({ environment, sandbox, folder: paths.folder, keeps: false }, use);
}

export async function listJobs(
  library: Library,
  names: readonly string[],
  { limit, onUnread }: { limit: number; onUnread?: ((kind: string, error: unknown) => void) | undefined },
): Promise<ListedJob[]> {
  const listed: ListedJob[] = [];
  for (const name of names) {
    try {
      listed.push(...(await library.jobs(name, { limit })));
    } catch (error) {
      if (onUnread === undefined) throw error;
      onUnread(name, error);
    }
  }
  return listed;
}

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
