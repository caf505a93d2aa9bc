/**
 * Everything the runner knows about one kind of request, as data. Facts come from the service's documentation; what it
 * does not say is absent here, never guessed.
 */
export interface Kind {
  readonly name: string;
  /** One sentence for hovers and help. */
  readonly description: string;
  /**
   * How a step is carried out. `job`: create, watch, download. `upload`: a file goes into the media library. `post`:
   * sent once, after everything else, and never again.
   */
  readonly act: 'job' | 'upload' | 'post';
  /** The medium of a finished job, which decides the bytes accepted as its output. `none`: there is no file. */
  readonly media: Media | 'none';
  readonly create: {
    /** The first one is used unless the service's own OpenAPI document names another of them. */
    readonly paths: readonly [string, ...string[]];
    /**
     * Whether the service documents the request. If not, `fields` are those known to exist, others may be sent too, and
     * only the service's OpenAPI document can reveal mistakes.
     */
    readonly documented: boolean;
  };
  /** `{id}` is replaced by the percent-encoded job id. Absent when there is nothing to wait for. */
  readonly status?: {
    readonly path: string;
    /** An equivalent path, asked after the first one has failed. */
    readonly alias?: string;
  };
  /** The list of all of the caller's jobs of this kind. */
  readonly list?: {
    readonly path: string;
    /** The field of the answer that holds the items. */
    readonly items: 'generations' | 'data';
    /** True when `page` and `limit` are accepted. */
    readonly paged: boolean;
    /** The field of an item that holds the job id. */
    readonly jobId: 'id' | 'jobId';
    /** Fields of the request, each with the name under which an item returns it, the most distinctive first. */
    readonly echoes: Readonly<Record<string, string>>;
    /** According to its documentation, reading the list does not update its jobs. */
    readonly isStale?: true;
  };
  /** Removes the remote record for good; credits are not refunded. `{id}`: the id of the job or of its record. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /**
   * How a create whose answer was lost is recovered: `replay` sends the same idempotency key again (24 h, API keys
   * only); `list`: the service lists its jobs, so that a person can look it up; `ask`: nothing tells; `again`: sending
   * it twice costs nothing.
   */
  readonly recovery: 'replay' | 'list' | 'ask' | 'again';
  /** The fields of the request body, in the order in which people should see them. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Each of these groups needs exactly one of its fields. */
  readonly oneOf?: readonly (readonly string[])[];
  /** The field that chooses the model, and each model's constraints. Absent when the service documents no models. */
  readonly model?: {
    readonly field: string;
    /** The model that the service uses when the field is absent. */
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
    /** The field for quality tiers: taken where the service's own document lists it, because no other place names it. */
    readonly tierField?: string;
  };
  /**
   * Fields that determine the price, beside the model. `all`: undocumented, so every field that is not a free text or a
   * link counts, and so does the length of free texts.
   */
  readonly pricedBy: readonly string[] | 'all';
  /** Costs no credits. */
  readonly free?: true;
  /** Output fields that other steps may refer to, as in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** The list of files that a job gives, which a later task can go through: `foreach: "{{tasks.talk.clips}}"`. */
  readonly parts?: { readonly name: string; readonly most: number };
  /** Typical duration of a job, in ms, before any was measured. Used to pace polling. */
  readonly typicalMs: number;
}

export type Media = 'image' | 'audio' | 'video';

export interface Field {
  readonly description: string;
  /** `file`: the path of a file below the manifest's folder. */
  readonly type: 'string' | 'number' | 'boolean' | 'strings' | 'file';
  readonly required?: boolean;
  /** Most characters, as the service counts them. */
  readonly maxLength?: number;
  readonly values?: readonly string[];
  /** Describes each of `values`, for hovers and hints. */
  readonly about?: Readonly<Record<string, string>>;
  /** The value that the service uses when the field is absent. */
  readonly default?: string;
  /** Each text must be a public https URL, or come from another step. */
  readonly url?: boolean;
  /** A free text: its words do not change the price, but its length may. */
  readonly free?: boolean;
  /** The value does not affect the price. */
  readonly priced?: false;
}

export interface Model {
  readonly description: string;
  /** Credits per job as documented; absent means unknown, not free. */
  readonly credits?: number;
  /** Another model that the service runs under this key. Recorded, never a mismatch. */
  readonly aliasOf?: string;
  /** Values that this model allows, by field. An empty list: the model does not take the field at all. */
  readonly allows?: Readonly<Record<string, readonly string[]>>;
  /** Quality tiers as documented. Which field takes them is not: see `tierField`. */
  readonly tiers?: readonly string[];
  readonly requires?: readonly string[];
}
