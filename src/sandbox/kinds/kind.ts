import type { BodySchema } from '../read-body.ts';
import type { JsonObject } from '../wire.ts';
import { describeEnd, describeLink, describeProgress, type JobView } from './job-view.ts';

/** Kind of job. To add one, define an object of this type and list it in `index.ts`. */
export interface SandboxKind {
  readonly name: string;
  readonly create: {
    /** Path below `/api/v1`, like all paths of a kind. */
    readonly path: string;
    /** True if a repeated Idempotency-Key gets the first answer. If false, the sandbox ignores the header. */
    readonly replays: boolean;
    readonly schemaName: string;
    readonly body: BodySchema;
    /** JSON Schemas of the response fields other than `success` and the credits. */
    readonly answer: { readonly [name: string]: JsonObject };
    describe(job: JobView): JsonObject;
  };
  readonly status: {
    /** Main path, followed by aliases. `{…}` is the job's ID. Several kinds may share a path. */
    readonly paths: readonly string[];
    readonly schemaName: string;
    /**
     * `by the clock`: every response has the current status. `when asked`: only a status request updates the status.
     */
    readonly progress: 'by the clock' | 'when asked';
    /** Answer to a request with an empty job ID. `refused`: status 400, as documented. Other kinds answer with 404. */
    readonly blankId?: 'refused';
    describe(job: JobView): JsonObject;
  };
  readonly record?: { readonly path: string };
  readonly list?: {
    readonly path: string;
    readonly items: 'generations' | 'data';
    readonly paging: 'pages' | 'none';
    readonly byModel: boolean;
    readonly schemaName: string;
    describe(job: JobView): JsonObject;
  };
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /** Bounds for the duration of a job in milliseconds, at speed 1. The duration differs between jobs. */
  readonly durationMs: { readonly least: number; readonly most: number };
  readonly models: readonly CatalogModel[];
  findProblem(body: JsonObject, world: World): string | undefined;
  /** Returns the price of a request. A pure function, like all functions below. Requires a valid body. */
  settle(body: JsonObject): Settled;
  listFiles(job: FileFacts): readonly FilePlan[];
  /** Name of the body field with the URL of the source file. */
  readonly sourceField?: string;
  lengthMs?(body: JsonObject): number;
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
  readonly aliasOf: string | null;
  /** Credits for each started unit of `per`, for a request with default values. */
  readonly credits: number;
  readonly per: 'job' | 'second' | '250 characters' | '500 characters';
  readonly creditsBy: { readonly [field: string]: { readonly [value: string]: number } };
  readonly allowed: { readonly [field: string]: readonly (string | number)[] };
}

interface World {
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
  /** Duration in ms of the file in `sourceField`. `null` if this sandbox did not make the file. */
  readonly sourceMs: number | null;
}

interface FilePlan {
  readonly name: string;
  readonly mediaType: string;
}

/** Order to render a file. Plain JSON except `source`, so that another thread can receive it. */
export interface RenderOrder extends FileFacts {
  readonly kind: string;
  /** Number of the job among jobs with this body, from 1, so that a repeated request has a different result. */
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
