import type { IncomingMessage } from 'node:http';
import type { WantedVerdict } from '../../contract/review.ts';
import type { Json } from '../../ground/json.ts';
import { isPlainText } from '../../ground/plain-text.ts';
import { isMap } from '../../ground/values.ts';
import { mostNote } from '../../lock/decisions.ts';

const mostBytes = 64 * 1024;
/** UTF-16 code units of an address and of an id: more than any has. */
const mostName = 4096;

/** Reads the body of a request. `too large`: the rest of it is not read. Rejects when the sender goes away. */
export async function readBody(request: IncomingMessage): Promise<string | 'too large'> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return 'too large';
  const pieces: Buffer[] = [];
  let length = 0;
  // The answer goes out on the same connection, so that it stays open.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > mostBytes) return 'too large';
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** `{ "verdicts": [{ "address", "is", "job", "note"? }] }`; undefined for anything else. */
export function readVerdicts(text: string): WantedVerdict[] | undefined {
  const document = parse(text);
  if (!isMap(document) || !Array.isArray(document.verdicts)) return undefined;
  const verdicts = document.verdicts.map(readVerdict);
  return verdicts.every((one) => one !== undefined) ? verdicts : undefined;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readVerdict(value: Json): WantedVerdict | undefined {
  if (!isMap(value)) return undefined;
  const { address, is, job, note } = value;
  if (is !== 'picked' && is !== 'rejected' && is !== 'undecided') return undefined;
  if (!isPlainText(address, mostName) || !isPlainText(job, mostName)) return undefined;
  if (note !== undefined && note !== '' && !isPlainText(note, mostNote)) return undefined;
  return { address, is, job, ...(typeof note === 'string' && { note }) };
}
