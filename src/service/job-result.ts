import type { JobResult } from '../contract/answer.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import { readAt, readText } from './fields.ts';

/** Most parts of a result, more than a kind may produce: longer lists are cut here, and nothing waits for the rest. */
const mostParts = 1000;

/** Result of a finished job, from the `data` of its status; undefined while a link is missing. */
export function readResult(kind: Kind, data: Json): JobResult | undefined {
  return kind.parts === undefined ? readSingle(kind, data) : readParts(kind.parts.name, data);
}

function readSingle(kind: Kind, data: Json): JobResult | undefined {
  const url = linkIn(data, envelope.job.link);
  if (url === undefined) return undefined;
  const values: { [field: string]: string } = { url };
  const thumbnail = linkIn(data, envelope.job.thumbnail);
  if (kind.outputs.includes('thumbnailUrl') && thumbnail !== undefined) values.thumbnailUrl = thumbnail;
  return { values, files: [url] };
}

/** A list of parts in the order that they state themselves, `order` counted from 0. */
function readParts(name: string, data: Json): JobResult | undefined {
  const { part } = envelope;
  const list = readAt(data, name);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const parts = list.slice(0, mostParts).map((item, index) => {
    const order = readAt(item, part.order);
    const id = readText(item, part.id, 256);
    return { order: typeof order === 'number' ? order : index, index, id, url: linkIn(item, part.link) };
  });
  parts.sort((a, b) => a.order - b.order || a.index - b.index);
  const values: { [field: string]: string } = {};
  const files: string[] = [];
  for (const [index, { id, url }] of parts.entries()) {
    if (url === undefined) return undefined;
    files.push(url);
    values[`${name}.${index}.url`] = url;
    if (id !== undefined) values[`${name}.${index}.id`] = id;
  }
  values.url = files[0] ?? '';
  return { values, files, parts: files.length };
}

/** The whole link: a cut one leads nowhere. */
function linkIn(value: Json, names: readonly string[]): string | undefined {
  return readText(value, names, Number.POSITIVE_INFINITY);
}
