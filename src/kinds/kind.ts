/**
 * All the runner knows about one kind of request, as data. Facts come from the service's documentation; what it does
 * not say is absent here, never guessed.
 */
export interface Kind {
  readonly name: string;
  /** What a person reads in hovers and help: one sentence. */
  readonly description: string;
  /**
   * How a step is carried out. `job`: create, watch, download. `upload`: a file goes into the media library. `post`:
   * sent once, at the end of everything else, and never again.
   */
  readonly act: 'job' | 'upload' | 'post';
  /** The media that a finished job gives. Decides which bytes are accepted as its output. `none`: there is no file. */
  readonly media: Media | 'none';
  readonly create: {
    /** The first one is used unless the service's own OpenAPI document names another of them. */
    readonly paths: readonly [string, ...string[]];
    /**
     * Whether the service documents the request. If not, `fields` are those that are known to exist, others may be sent
     * too, and only the service's OpenAPI document can tell mistakes.
     */
    readonly documented: boolean;
  };
  /** `{id}` is replaced by the percent-encoded job id. Absent where nothing is waited for. */
  readonly status?: {
    readonly path: string;
    /** Another path with the same behaviour, asked after the first one has failed. */
    readonly alias?: string;
  };
  /** The list of all jobs of this kind that belong to the caller. */
  readonly list?: {
    readonly path: string;
    /** Where the items stand in the answer. */
    readonly items: 'generations' | 'data';
    /** `page` and `limit` are accepted. */
    readonly paged: boolean;
    /** The field of an item that holds the job id. */
    readonly jobId: 'id' | 'jobId';
    /** Fields of the request, and under which name an item gives them back. The first one tells requests apart best. */
    readonly echoes: Readonly<Record<string, string>>;
    /** By its documentation, reading the list does not bring its jobs up to date. */
    readonly isStale?: true;
  };
  /** A job's record as it stands, without asking the provider. `{id}`: the job's id. */
  readonly record?: { readonly path: string };
  /** Removes the remote record for good; credits do not come back. `{id}`: the job's id, or its record's. */
  readonly remove?: { readonly path: string; readonly by: 'job' | 'record' };
  /**
   * How a create whose answer was lost is recovered: `replay` sends the same idempotency key again (24 h, API keys
   * only); `list` means that the service lists its jobs, so that a person can look it up; `ask` that nothing tells;
   * `again` that sending it twice costs nothing.
   */
  readonly recovery: 'replay' | 'list' | 'ask' | 'again';
  /** The request body, field by field, in the order in which people should see them. */
  readonly fields: Readonly<Record<string, Field>>;
  /** Each of these groups needs exactly one of its fields. */
  readonly oneOf?: readonly (readonly string[])[];
  /** The field that chooses the model, and what each model allows. Absent where the service documents no models. */
  readonly model?: {
    readonly field: string;
    /** The model that the service takes when the field is absent. */
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
  };
  /**
   * Fields that the price depends on, beside the model. `all`: nobody says, so every field that is not a free text or a
   * link counts, and of free texts their length.
   */
  readonly pricedBy: readonly string[] | 'all';
  /** It costs no credits. */
  readonly free?: true;
  /** Output fields that other steps may refer to, as in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** A job gives a list of files, which a later task can go through: `foreach: "{{tasks.talk.clips}}"`. */
  readonly parts?: { readonly name: string; readonly most: number };
  /** How long a job typically takes, in ms, before anything has been learned. Used to pace polling. */
  readonly typicalMs: number;
}

export type Media = 'image' | 'audio' | 'video';

export interface Field {
  readonly description: string;
  /** `file`: the path of a file below the manifest's folder. */
  readonly type: 'string' | 'number' | 'boolean' | 'strings' | 'file';
  readonly required?: boolean;
  /** Longest text allowed, in characters as the service counts them. */
  readonly maxLength?: number;
  readonly values?: readonly string[];
  /** What each of `values` is, for hovers and hints. */
  readonly about?: Readonly<Record<string, string>>;
  /** What the service takes when the field is absent. */
  readonly default?: string;
  /** Each text must be a public https URL (or come from another step). */
  readonly url?: boolean;
  /** A free text: its words do not change the price, its length may. */
  readonly free?: boolean;
  /** The price is the same whatever stands here. */
  readonly priced?: false;
}

/** One model of a kind. */
export interface Model {
  readonly description: string;
  /** Credits per job where the service documents them; absent means unknown, not free. */
  readonly credits?: number;
  /** The service runs another model under this key. Recorded, never a mismatch. */
  readonly aliasOf?: string;
  /** Per field: the values this model allows. An empty list: the model does not take the field at all. */
  readonly allows?: Readonly<Record<string, readonly string[]>>;
  /** Fields that are required with this model. */
  readonly requires?: readonly string[];
}
