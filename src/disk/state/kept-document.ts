import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';
import { orForgotten } from './kept-json.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

/** The service's own OpenAPI document, as last fetched. */
export interface KeptDocument {
  document: Json;
  /** Milliseconds since 1970. */
  fetchedAt: number;
}

/** Longest document, in bytes, as stored. */
const longestDocument = 8 * 1024 * 1024;

/** Reads the kept document. Undefined when none was kept here: it determines where requests go. */
export function readKeptDocument(state: string, service: string): Promise<KeptDocument | undefined> {
  return read(state, nameOf(service));
}

/** Stored out of git, like everything in this folder. If it cannot be kept, it is fetched again next time. */
export function keepDocument(state: string, service: string, kept: { document: Json; now: number }): Promise<void> {
  return keep(state, nameOf(service), kept);
}

/** The service's catalog of models, as last fetched. */
export async function readKeptCatalog(state: string, service: string): Promise<Json | undefined> {
  return (await read(state, catalogOf(service)))?.document;
}

export function keepCatalog(state: string, service: string, kept: { document: Json; now: number }): Promise<void> {
  return keep(state, catalogOf(service), kept);
}

/** The accounts that posts can go to, as the service last listed them. */
export async function readKeptAccounts(state: string, service: string): Promise<Json | undefined> {
  return (await read(state, accountsOf(service)))?.document;
}

export function keepAccounts(state: string, service: string, kept: { document: Json; now: number }): Promise<void> {
  return keep(state, accountsOf(service), kept);
}

async function read(state: string, name: string): Promise<KeptDocument | undefined> {
  return orForgotten(async () => {
    const bytes = await readSealedFile(state, name, longestDocument);
    return bytes === undefined ? undefined : readKept(JSON.parse(bytes.toString('utf8')) as Json);
  });
}

async function keep(state: string, name: string, { document, now }: { document: Json; now: number }): Promise<void> {
  await orForgotten(async () => {
    const text = JSON.stringify({ fetchedAt: now, document });
    if (Buffer.byteLength(text) <= longestDocument) await writeSealedFile(state, name, text);
  });
}

function readKept(kept: Json): KeptDocument | undefined {
  if (!isMap(kept)) return undefined;
  const { document, fetchedAt } = kept;
  return document === undefined || typeof fetchedAt !== 'number' ? undefined : { document, fetchedAt };
}

function nameOf(service: string): string {
  return `service/${service.replace(/[^A-Za-z0-9]/g, '_')}.json`;
}

function catalogOf(service: string): string {
  return `service/${service.replace(/[^A-Za-z0-9]/g, '_')}.catalog.json`;
}

function accountsOf(service: string): string {
  return `service/${service.replace(/[^A-Za-z0-9]/g, '_')}.accounts.json`;
}
