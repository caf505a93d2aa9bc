/** Facts about one kind of request, from the service's documentation. Others are omitted, never guessed. */
export interface Kind {
  readonly name: string;
  readonly description: string;
  /**
   * How a step is carried out. `job`: create request, polling, download. `upload`: a file is added to the media
   * library. `post`: sent once, after all other steps.
   */
  readonly act: 'job' | 'upload' | 'post';
  /** Medium of the output file, which decides the accepted file types. */
  readonly media: Media | 'none';
  readonly create: {
    /** Paths for creates. The first one counts, unless the service's OpenAPI document has another of them. */
    readonly paths: readonly [string, ...string[]];
    /**
     * Whether the service documents the request. If not, other fields than `fields` may be sent, and only the service's
     * OpenAPI document can show mistakes.
     */
    readonly documented: boolean;
  };
  /** `{id}` is replaced by the percent-encoded job ID. Omitted if jobs are not polled. */
  readonly status?: {
    readonly path: string;
    /** An equivalent path, requested if the first one fails. */
    readonly alias?: string;
  };
  readonly list?: {
    readonly path: string;
    readonly items: 'generations' | 'data';
    readonly paged: boolean;
    readonly jobId: 'id' | 'jobId';
    /** Names of request fields in an item of the list, the most distinctive first. */
    readonly echoes: Readonly<Record<string, string>>;
    /** Set if reading the list is documented not to update the jobs in it. */
    readonly isStale?: true;
  };
  /** Deletes the remote record permanently, without a refund. `{id}`: ID of the job or of its record. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /**
   * How the lost answer to a create request is recovered. `replay`: the run sends the same idempotency key again
   * (within 24 h, API keys only). `list`: the run searches the service's list. `ask`: only a user can know. `again`:
   * the run sends the request again, which is free.
   */
  readonly recovery: 'replay' | 'list' | 'ask' | 'again';
  readonly fields: Readonly<Record<string, Field>>;
  /** Groups of fields. A request must have exactly one field of each group. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Field that selects the model, and constraints by model. */
  readonly model?: {
    readonly field: string;
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
    /** Field for quality tiers. Allowed if the service's OpenAPI document has it. */
    readonly tierField?: string;
  };
  /**
   * Fields that determine the price, in addition to the model. `all`: undocumented, so all values count except free
   * texts and links, and the length of free texts.
   */
  readonly pricedBy: readonly string[] | 'all';
  readonly free?: true;
  /** Output fields that other steps may refer to, as in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** The list of files of a job. Another task can iterate over it: `foreach: "{{tasks.talk.clips}}"`. */
  readonly parts?: { readonly name: string; readonly most: number };
  /** Typical duration of a job in ms, until one was measured. Determines the polling interval. */
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
  /** Each string must be a public https URL, or the output of another step. */
  readonly url?: boolean;
  /** A free text: its length may affect the price, but not its words. */
  readonly free?: boolean;
  readonly priced?: false;
}

export interface Model {
  readonly description: string;
  /** Documented credits per job. Unknown if omitted, which does not mean free. */
  readonly credits?: number;
  /** Model that this one is an alias of. */
  readonly aliasOf?: string;
  /** Allowed values by field. An empty list: the model does not support the field. */
  readonly allows?: Readonly<Record<string, readonly string[]>>;
  readonly tiers?: readonly string[];
  readonly requires?: readonly string[];
}
