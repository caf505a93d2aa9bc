import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { orForgotten } from './kept-json.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

/** Cached answers of a service: its OpenAPI document, its models, and the accounts for posts. */
type Kept = 'document' | 'catalog' | 'accounts';

const longestDocument = 8 * 1024 * 1024;

/**
 * Reads a cached answer of a service; `undefined` if the service is unknown, or if no answer was cached on this
 * machine: others are ignored, because an answer determines where requests are sent.
 */
export async function readAnswer(state: string, service: string | undefined, what: Kept): Promise<Json | undefined> {
  if (service === undefined) return undefined;
  return orForgotten(async () => {
    const bytes = await readSealedFile(state, nameOf(service, what), longestDocument);
    const kept = bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Json);
    return isMap(kept) ? kept.document : undefined;
  });
}

/** Caches an answer outside git. If that fails, the answer is fetched again next time. */
export async function keepAnswer(
  state: string,
  service: string | undefined,
  what: Kept,
  document: Json,
): Promise<void> {
  if (service === undefined) return;
  await orForgotten(async () => {
    const text = JSON.stringify({ document });
    if (Buffer.byteLength(text) <= longestDocument) await writeSealedFile(state, nameOf(service, what), text);
  });
}

function nameOf(service: string, what: Kept): string {
  const part = what === 'document' ? '' : `.${what}`;
  return `service/${service.replace(/[^A-Za-z0-9]/g, '_')}${part}.json`;
}
