import type { JobResult } from '../contract/answer.ts';
import type { Json } from '../ground/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { readRecord } from './fields.ts';

/** More than a kind may give: an answer that lists more is cut here, and nothing waits for the rest. */
const mostParts = 1000;

/** What a finished job gives, from the `data` of its status; undefined while a link is missing. */
export function readResult(kind: Kind, data: { [key: string]: Json }): JobResult | undefined {
  return kind.parts === undefined ? readSingle(kind, data) : readParts(kind.parts.name, data);
}

function readSingle(kind: Kind, data: { [key: string]: Json }): JobResult | undefined {
  const url = linkIn(data.outputUrl) ?? linkIn(readRecord(data.outputAsset)?.url);
  if (url === undefined) return undefined;
  const values: { [field: string]: string } = { url };
  const thumbnail = linkIn(data.thumbnailUrl) ?? linkIn(readRecord(data.thumbnailAsset)?.url);
  if (kind.outputs.includes('thumbnailUrl') && thumbnail !== undefined) values.thumbnailUrl = thumbnail;
  return { values, files: [url] };
}

/** A list of parts in the order that they give themselves, `order` counted from 0. */
function readParts(name: string, data: { [key: string]: Json }): JobResult | undefined {
  const list = data[name];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const parts = list.slice(0, mostParts).map((item, index) => {
    const part = readRecord(item);
    const order = typeof part?.order === 'number' ? part.order : index;
    return { order, index, id: part?.id, url: linkIn(readRecord(part?.outputAsset)?.url) ?? linkIn(part?.url) };
  });
  parts.sort((a, b) => a.order - b.order || a.index - b.index);
  const values: { [field: string]: string } = {};
  const files: string[] = [];
  for (const [index, { id, url }] of parts.entries()) {
    if (url === undefined) return undefined;
    files.push(url);
    values[`${name}.${index}.url`] = url;
    if (typeof id === 'string' && id !== '') values[`${name}.${index}.id`] = id.slice(0, 256);
  }
  values.url = files[0] ?? '';
  return { values, files, parts: files.length };
}

function linkIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
