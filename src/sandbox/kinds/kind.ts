import type { BodySchema } from '../schema.ts';
import type { JsonObject } from '../wire.ts';
import { describeEnd, describeLink, describeProgress, type JobView } from './job-view.ts';

/** All the sandbox knows about one kind of generation. A new kind is one more of these and a line in the index. */
export interface SandboxKind {
  readonly name: string;
  readonly create: {
    /** Below `/api/v1`, as all paths here. */
    readonly path: string;
    /** Whether an Idempotency-Key is documented for it: the same key, the same answer. Others ignore the header. */
    readonly replays: boolean;
    /** The request body: checked against, and served in the OpenAPI document under this name. */
    readonly schemaName: string;
    readonly body: BodySchema;
    /** JSON Schema of what the answer holds beside `success` and the credits. */
    readonly answer: { readonly [name: string]: JsonObject };
    /** The fields that `answer` describes. */
    describe(job: JobView): JsonObject;
  };
  readonly status: {
    /** The first one, and aliases. Several kinds may share one. `{…}` stands for the job's id. */
    readonly paths: readonly string[];
    readonly schemaName: string;
    /** `by the clock`: any answer shows where the job stands. `when asked`: only a status call brings that up to date. */
    readonly progress: 'by the clock' | 'when asked';
    /** `refused`: 400, as documented for it, when the id is missing. Others: 404. */
    readonly blankId?: 'refused';
    /** The `data` of the answer. */
    describe(job: JobView): JsonObject;
  };
  /** One record by the job's id, as it was last brought up to date. */
  readonly record?: { readonly path: string };
  readonly list?: {
    readonly path: string;
    /** Where the items stand in the answer. */
    readonly items: 'generations' | 'data';
    /** `page` and `limit` are taken, or all records come at once. */
    readonly paging: 'pages' | 'none';
    /** Whether the query may name a model. */
    readonly byModel: boolean;
    readonly schemaName: string;
    describe(job: JobView): JsonObject;
  };
  /** `{…}` stands for the id of the job or of its record. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /** Milliseconds from create to end at speed 1. Each job has its own length between the two. */
  readonly durationMs: { readonly least: number; readonly most: number };
  readonly models: readonly CatalogModel[];
  /** Checks rules between fields, which the schema cannot express. A sentence, or `undefined` when the body may pass. */
  findProblem(body: JsonObject, world: World): string | undefined;
  /** Pure, as is all below. Only for bodies without a problem. */
  settle(body: JsonObject): Settled;
  /** The output files in their order, at least one. */
  listFiles(job: FileFacts): readonly FilePlan[];
  /** The body's field that names a file to be worked on. */
  readonly sourceField?: string;
  /** How long the output plays. */
  lengthMs?(body: JsonObject): number;
  /** One output file, a function of the order alone. Loads what it needs when it is called, not before. */
  render(order: RenderOrder): Promise<Uint8Array>;
}

/** The status of kinds that answer as images do. `kind`: its name there. */
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
  /** The model that does the work when this key is another name for it. */
  readonly aliasOf: string | null;
  /** For each started unit of `per`, in a request with nothing but defaults. */
  readonly credits: number;
  readonly per: 'job' | 'second' | '250 characters' | '500 characters';
  /** Where the credits depend on a field: by its name and value. */
  readonly creditsBy: { readonly [field: string]: { readonly [value: string]: number } };
  /** Values of fields that are not free. */
  readonly allowed: { readonly [field: string]: readonly (string | number)[] };
}

/** Facts outside the body that a rule may ask for. */
export interface World {
  /** Whether the URL is a file of this sandbox – an output or an upload –, whatever host it was reached by. */
  readonly isOwnFile: (url: string) => boolean;
}

export interface Settled {
  /** The model that does the work; aliases are resolved. */
  readonly model: string;
  readonly credits: number;
}

export interface FileFacts {
  readonly body: JsonObject;
  /** Hex digest that every choice about the job is drawn from. */
  readonly seed: string;
  /** How long the file in `sourceField` plays, where the sandbox has made it. */
  readonly sourceMs: number | null;
}

export interface FilePlan {
  readonly name: string;
  readonly mediaType: string;
}

/** Plain JSON but for `source`, so that it can be carried out in another thread. */
export interface RenderOrder extends FileFacts {
  readonly kind: string;
  /** 1 for the first job with this body, 2 for the second, …: a repeated request gives another result. */
  readonly take: number;
  readonly fileName: string;
  /** The bytes of the file in `sourceField`, where the sandbox has them. */
  readonly source?: Uint8Array;
}

/** The entry of a table that a body names. The schema has let no other name pass. */
export function entryNamed<Entry>(table: { readonly [name: string]: Entry }, name: string): Entry {
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (entry === undefined) throw new Error(`internal error: the name ${name} passed the schema`);
  return entry;
}

/** A string field, or the default when the body does not have it. */
export function readText(body: JsonObject, name: string, fallback: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'string' ? value : fallback;
}

/** A number field, or the default when the body does not have it. */
export function readNumber(body: JsonObject, name: string, fallback: number): number {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'number' ? value : fallback;
}

/** The texts of a list field; none when the body does not have it. */
export function readTexts(body: JsonObject, name: string): string[] {
  const list = Object.hasOwn(body, name) ? body[name] : undefined;
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

/** `· take 2` and so on, for the footer of a picture; nothing for the first. */
export function describeTake(take: number): string {
  return take > 1 ? ` · take ${take}` : '';
}
