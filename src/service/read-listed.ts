import type { ListedJob } from '../contract/listed-job.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { readRecord } from './fields.ts';

const longestText = 2000;

/** The items of a page that can be read; others are left out. */
export function readListed(kind: Kind, items: readonly Json[]): ListedJob[] {
  return items.flatMap((item): ListedJob[] => {
    const record = readRecord(item);
    if (record === undefined) return [];
    const own = record.id;
    const named = kind.list?.jobId === 'jobId' ? (record.jobId ?? own) : own;
    if (!isJobId(named)) return [];
    const texts = [record.prompt, record.text, record.title, record.videoUrl].map(textOf);
    const asset = readRecord(record.outputAsset);
    return [
      {
        kind: kind.name,
        jobId: named,
        ...(isJobId(own) && own !== named && { recordId: own }),
        status: textOf(record.status) ?? 'unknown',
        ...optional('createdAt', textOf(record.createdAt)),
        ...optional('model', textOf(record.model)),
        ...optional(
          'prompt',
          texts.find((text) => text !== undefined),
        ),
        ...optional('credits', creditsOf(record.creditsUsed ?? record.credits)),
        ...optional('error', textOf(record.error)),
        echoes: readEchoes(kind, record),
        ...optional('url', textOf(asset?.url) ?? textOf(record.image) ?? textOf(record.outputUrl)),
      },
    ];
  });
}

function readEchoes(kind: Kind, record: { [key: string]: Json }): { [field: string]: Json } {
  const echoes: { [field: string]: Json } = {};
  for (const [field, name] of Object.entries(kind.list?.echoes ?? {})) {
    const value = record[name];
    if (value !== undefined && value !== null) echoes[field] = value;
  }
  return echoes;
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, longestText) : undefined;
}

function creditsOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
