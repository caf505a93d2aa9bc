/** Facts about one kind of request, from the service's documentation. Others are omitted, never guessed. */
export interface Kind {
  readonly name: string;
  readonly description: string;
  /**
   * How a step is carried out. `job`: a create request, polling, and a download. `upload`: a file is added to the media
   * library. `post`: sent once, after everything else, and never again.
   */
  readonly act: 'job' | 'upload' | 'post';
  /** Medium of a finished job, which decides the accepted file types. `none`: there is no file. */
  readonly media: Media | 'none';
  readonly create: {
    /** Paths for creates. The first one counts, unless the service's OpenAPI document has another of them. */
    readonly paths: readonly [string, ...string[]];
    /**
     * Whether the service documents the request. If not, `fields` has only the known fields, others may be sent too,
     * and only the service's OpenAPI document can show mistakes.
     */
    readonly documented: boolean;
  };
  /** `{id}` is replaced by the percent-encoded job ID. Omitted when jobs are not polled. */
  readonly status?: {
    readonly path: string;
    /** An equivalent path, requested after the first one has failed. */
    readonly alias?: string;
  };
  readonly list?: {
    readonly path: string;
    readonly items: 'generations' | 'data';
    readonly paged: boolean;
    readonly jobId: 'id' | 'jobId';
    /** Fields of the request, each with its name in an item of the list, the most distinctive first. */
    readonly echoes: Readonly<Record<string, string>>;
    /** Set if, according to its documentation, reading the list does not update the jobs in it. */
    readonly isStale?: true;
  };
  /** Deletes the remote record permanently; credits are not refunded. `{id}`: the ID of the job or of its record. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /**
   * How the lost answer to a create request is recovered. `replay`: the same idempotency key is sent again (within 24
   * h, API keys only). `list`: the service lists its jobs, so that a user can find it. `ask`: only a user can know.
   * `again`: sending the request again is free.
   */
  readonly recovery: 'replay' | 'list' | 'ask' | 'again';
  /** The fields of the request body, in the order of the documentation for users. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Groups of fields. Exactly one field of each group is required. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Field that selects the model, and constraints by model. Omitted when no models are documented. */
  readonly model?: {
    readonly field: string;
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
    /** Field for quality tiers. Allowed if the service's OpenAPI document has it: nothing else documents it. */
    readonly tierField?: string;
  };
  /**
   * Fields that determine the price, in addition to the model. `all`: undocumented, so every field that is neither free
   * text nor a link counts, and the length of free texts too.
   */
  readonly pricedBy: readonly string[] | 'all';
  readonly free?: true;
  /** Output fields that other steps may refer to, for example `url` in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** The list of files that a job returns, over which another task can iterate: `foreach: "{{tasks.talk.clips}}"`. */
  readonly parts?: { readonly name: string; readonly most: number };
  /** Typical duration of a job in ms, before any was measured. Determines the polling interval. */
  readonly typicalMs: number;
}

export type Media = 'image' | 'audio' | 'video';

export interface Field {
  readonly description: string;
  /** `file`: the path of a file in the manifest's folder. */
  readonly type: 'string' | 'number' | 'boolean' | 'strings' | 'file';
  readonly required?: boolean;
  /** Maximum number of characters, as the service counts them. */
  readonly maxLength?: number;
  readonly values?: readonly string[];
  readonly about?: Readonly<Record<string, string>>;
  /** The value that the service uses when the field is omitted. */
  readonly default?: string;
  /** Each string must be a public https URL, or the output of another step. */
  readonly url?: boolean;
  /** A free text: its words do not affect the price, but its length may. */
  readonly free?: boolean;
  /** The value does not affect the price. */
  readonly priced?: false;
}

export interface Model {
  readonly description: string;
  /** Credits per job as documented. Omitted when unknown, which does not mean free. */
  readonly credits?: number;
  /** Name of the model that this one is an alias of. For the default model, a request with either name is the same. */
  readonly aliasOf?: string;
  /** Allowed values for this model, by field. An empty list: the model does not support the field. */
  readonly allows?: Readonly<Record<string, readonly string[]>>;
  /** Documented quality tiers. Their field is undocumented, see `tierField`. */
  readonly tiers?: readonly string[];
  readonly requires?: readonly string[];
}
