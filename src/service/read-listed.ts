import type { ListedJob } from '../contract/listed-job.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import { readAt, readCredits, readText } from './fields.ts';

const longestText = 2000;

/** The readable items of a page; others are left out. */
export function readListed(kind: Kind, items: readonly Json[]): ListedJob[] {
  const { job } = envelope;
  return items.flatMap((item): ListedJob[] => {
    const text = (names: string | readonly string[]) => readText(item, names, longestText);
    const own = readAt(item, job.id);
    const named = readAt(item, kind.list?.jobId ?? job.id) ?? own;
    if (!isJobId(named)) return [];
    return [
      {
        kind: kind.name,
        jobId: named,
        ...(isJobId(own) && own !== named && { recordId: own }),
        status: text(job.status) ?? 'unknown',
        ...optional('createdAt', text(job.createdAt)),
        ...optional('model', text(job.model)),
        ...optional('prompt', text(job.prompt)),
        ...optional('credits', readCredits(item, job.credits)),
        ...optional('error', text(job.error)),
        echoes: readEchoes(kind, item),
        ...optional('url', text(job.listedLink)),
      },
    ];
  });
}

function readEchoes(kind: Kind, item: Json): { [field: string]: Json } {
  const echoes: { [field: string]: Json } = {};
  for (const [field, name] of Object.entries(kind.list?.echoes ?? {})) {
    const value = readAt(item, name);
    if (value !== undefined && value !== null) echoes[field] = value;
  }
  return echoes;
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value };
}
