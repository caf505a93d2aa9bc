/**
 * Facts about a kind of request, from the service's documentation. A fact that is not documented is omitted, never
 * guessed.
 */
export interface Kind {
  readonly name: string;
  readonly description: string;
  /**
   * How a step is carried out. `job`: create request, polling, download. `upload`: adds a file to the media library.
   * `post`: sent once, after all other steps.
   */
  readonly act: 'job' | 'upload' | 'post';
  /** Medium of the output file, which determines the accepted file types. */
  readonly media: Media | 'none';
  readonly create: {
    /**
     * Paths for create requests. The run uses the first path that is in the service's OpenAPI document, or else the
     * first path.
     */
    readonly paths: readonly [string, ...string[]];
    /**
     * Whether the service documents the request. If false, fields that are not in `fields` may be sent, and only the
     * service's OpenAPI document can show mistakes.
     */
    readonly documented: boolean;
  };
  /** `{id}` is replaced by the percent-encoded job ID. Omitted if jobs are not polled. */
  readonly status?: {
    readonly path: string;
    readonly alias?: string;
  };
  readonly list?: {
    readonly path: string;
    readonly items: 'generations' | 'data';
    readonly paged: boolean;
    readonly jobId: 'id' | 'jobId';
    /** Names that request fields have in an item of the list. The most distinctive field is first. */
    readonly echoes: Readonly<Record<string, string>>;
    /** Set if, according to the documentation, the service does not update jobs when it returns the list. */
    readonly isStale?: true;
  };
  /**
   * Path that deletes the remote record permanently, without a refund. `{id}`: ID of the job or of its record, see
   * `by`.
   */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /**
   * How the lost answer to a create request is recovered. `replay`: the run sends the same idempotency key again,
   * within 24 h and only with an API key. `list`: the run searches the service's list. `ask`: a user must check whether
   * the service created the job. `again`: the run sends the request again, which is free.
   */
  readonly recovery: 'replay' | 'list' | 'ask' | 'again';
  readonly fields: Readonly<Record<string, Field>>;
  /** A request must have exactly one field of each group. */
  readonly oneOf?: readonly (readonly string[])[];
  readonly model?: {
    readonly field: string;
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
    /** Field for quality tiers. A request may contain the field only if the service's OpenAPI document lists it. */
    readonly tierField?: string;
  };
  /**
   * Fields that determine the price together with the model. `all`: the price is undocumented, and may depend on all
   * values except links, and on the length of free texts.
   */
  readonly pricedBy: readonly string[] | 'all';
  readonly free?: true;
  /** Output fields that other steps may refer to, as in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** List of the files of a job. Another task can iterate over it: `foreach: "{{tasks.talk.clips}}"`. */
  readonly parts?: { readonly name: string; readonly most: number };
  /** Typical duration of a job in ms. Determines the polling interval until the duration of a job was measured. */
  readonly typicalMs: number;
}

export type Media = 'image' | 'audio' | 'video';

export interface Field {
  readonly description: string;
  readonly type: 'string' | 'number' | 'boolean' | 'strings' | 'file';
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly values?: readonly string[];
  readonly about?: Readonly<Record<string, string>>;
  readonly default?: string;
  /** Each string must be a public https URL or the output of another step. */
  readonly url?: boolean;
  /** True for a free text. The length of the text may affect the price; the words do not. */
  readonly free?: boolean;
  readonly priced?: false;
}

export interface Model {
  readonly description: string;
  /** Documented credits per job. If omitted, the price is unknown, and the job may cost credits. */
  readonly credits?: number;
  readonly aliasOf?: string;
  /** Allowed values by field. An empty list means that the model does not support the field. */
  readonly allows?: Readonly<Record<string, readonly string[]>>;
  readonly tiers?: readonly string[];
  readonly requires?: readonly string[];
}
