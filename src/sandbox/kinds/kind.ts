import type { BodySchema } from '../schema.ts';
import type { JsonObject } from '../wire.ts';
import { describeEnd, describeLink, describeProgress, type JobView } from './job-view.ts';

/** To add a kind, define an object and list it in the index. */
export interface SandboxKind {
  readonly name: string;
  readonly create: {
    /** Path below `/api/v1`, as for all paths here. */
    readonly path: string;
    /** Whether a repeated Idempotency-Key gets the same answer. Other kinds ignore the header. */
    readonly replays: boolean;
    readonly schemaName: string;
    readonly body: BodySchema;
    /** JSON Schemas of response fields, in addition to `success` and the credits. */
    readonly answer: { readonly [name: string]: JsonObject };
    describe(job: JobView): JsonObject;
  };
  readonly status: {
    /** Main path first, then aliases. `{…}` is the job's id. Several kinds may share a path. */
    readonly paths: readonly string[];
    readonly schemaName: string;
    /** `by the clock`: every response has the current status. `when asked`: only a status request updates it. */
    readonly progress: 'by the clock' | 'when asked';
    /** `refused`: 400 without an id, as documented for this kind. Other kinds respond with 404. */
    readonly blankId?: 'refused';
    describe(job: JobView): JsonObject;
  };
  /** Path of a record by the job's id. */
  readonly record?: { readonly path: string };
  readonly list?: {
    readonly path: string;
    readonly items: 'generations' | 'data';
    readonly paging: 'pages' | 'none';
    readonly byModel: boolean;
    readonly schemaName: string;
    describe(job: JobView): JsonObject;
  };
  /** `{…}` is the id of the job, or of its record. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /** Duration of a job in milliseconds at speed 1. Each job has its own duration within the bounds. */
  readonly durationMs: { readonly least: number; readonly most: number };
  readonly models: readonly CatalogModel[];
  /** Checks rules that the schema cannot express. Returns an error text. */
  findProblem(body: JsonObject, world: World): string | undefined;
  /** Pure, as all functions below, and for valid bodies only. */
  settle(body: JsonObject): Settled;
  /** Returns the output files in order, at least one. */
  listFiles(job: FileFacts): readonly FilePlan[];
  /** Name of the field with the URL of the source file. */
  readonly sourceField?: string;
  lengthMs?(body: JsonObject): number;
  /** The result depends on the order alone. */
  render(order: RenderOrder): Promise<Uint8Array>;
}

/** `kind`: name of the kind in the answer. */
export function imageStatus(kind: string): SandboxKind['status'] {
  return {
    paths: ['/image/status/{id}'],
    schemaName: 'ImageJob',
    progress: 'by the clock',
    describe: (job) => ({
      ...describeProgress(job),
      kind,
      ...describeLink('outputUrl', job),
      ...describeEnd(job),
    }),
  };
}

export interface CatalogModel {
  readonly key: string;
  /** `null` if the key is not an alias. */
  readonly aliasOf: string | null;
  /** Price per started unit of `per`, for a request with default values. */
  readonly credits: number;
  readonly per: 'job' | 'second' | '250 characters' | '500 characters';
  readonly creditsBy: { readonly [field: string]: { readonly [value: string]: number } };
  readonly allowed: { readonly [field: string]: readonly (string | number)[] };
}

interface World {
  /** Whether the URL is an output or upload of this sandbox, under any host name. */
  readonly isOwnFile: (url: string) => boolean;
}

interface Settled {
  readonly model: string;
  readonly credits: number;
}

export interface FileFacts {
  readonly body: JsonObject;
  /** Hex digest from which all random choices for the job are derived. */
  readonly seed: string;
  /** Duration of the file in `sourceField` in ms, if this sandbox has made it. */
  readonly sourceMs: number | null;
}

export interface FilePlan {
  readonly name: string;
  readonly mediaType: string;
}

/** Plain JSON except `source`, so that it can be sent to another thread. */
export interface RenderOrder extends FileFacts {
  readonly kind: string;
  /** Counts jobs with this body from 1. A repeated request gives another result. */
  readonly take: number;
  readonly fileName: string;
  /** Bytes of the file in `sourceField`, if the sandbox has them. */
  readonly source?: Uint8Array;
}

export function entryNamed<Entry>(table: { readonly [name: string]: Entry }, name: string): Entry {
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (entry === undefined) throw new Error(`internal error: the name ${name} passed the schema`);
  return entry;
}

export function readText(body: JsonObject, name: string, fallback: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'string' ? value : fallback;
}

export function readNumber(body: JsonObject, name: string, fallback: number): number {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'number' ? value : fallback;
}

export function readTexts(body: JsonObject, name: string): string[] {
  const list = Object.hasOwn(body, name) ? body[name] : undefined;
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

export function describeTake(take: number): string {
  return take > 1 ? ` · take ${take}` : '';
}
