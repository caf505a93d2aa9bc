import type { BodySchema } from '../schema.ts';
import type { JsonObject } from '../wire.ts';

/** All the sandbox knows about one kind of generation. A new kind is one more of these and a line in the index. */
export interface SandboxKind {
  readonly name: string;
  /** Paths below `/api/v1`. `{id}` stands for the job's id. */
  readonly paths: { readonly create: string; readonly status: string; readonly delete?: string };
  /** The request body: checked against, and served in the OpenAPI document under `schemaName`. */
  readonly schemaName: string;
  readonly body: BodySchema;
  /** JSON Schema of what the answer to a create holds beside `success` and the credits. */
  readonly created: { readonly [name: string]: JsonObject };
  /** Milliseconds from create to end at speed 1. Each job has its own length between the two. */
  readonly durationMs: { readonly least: number; readonly most: number };
  /** What the schema cannot say: rules between fields. A sentence, or `undefined` when the body may pass. */
  findProblem(body: JsonObject, world: World): string | undefined;
  /** Pure. Only for bodies without a problem. */
  settle(body: JsonObject): Settled;
  /** The fields that `created` describes. */
  describeCreated(id: string, body: JsonObject): JsonObject;
  /** The output file, a function of the order alone. Loads what it needs when it is called, not before. */
  render(order: RenderOrder): Promise<Uint8Array>;
}

/** What a rule may ask about things outside the body. */
export interface World {
  /** Whether the URL is an output of a job of this sandbox, whatever host it was reached by. */
  readonly isOwnOutput: (url: string) => boolean;
}

export interface Settled {
  /** The model that does the work; aliases are resolved. */
  readonly model: string;
  readonly credits: number;
  readonly output: { readonly fileName: string; readonly mediaType: string };
}

/** Plain JSON, so that it can be carried out in another thread. */
export interface RenderOrder {
  readonly kind: string;
  readonly body: JsonObject;
  /** Hex digest that every choice of the renderer is drawn from. */
  readonly seed: string;
  /** 1 for the first job with this body, 2 for the second, …: a repeated request gives another result. */
  readonly take: number;
}

/** A string field, or the default when the body does not have it. */
export function readText(body: JsonObject, name: string, fallback: string): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof value === 'string' ? value : fallback;
}
