/**
 * All the runner knows about one kind of generation, as data. Facts come from the service's documentation;
 * what it does not say is absent here, never guessed.
 */
export interface Kind {
  readonly name: string;
  /** What a person reads in hovers and help: one sentence. */
  readonly description: string;
  /** The media that a finished job gives. Decides which bytes are accepted as its output. */
  readonly media: 'image' | 'audio';
  readonly create: { readonly path: string };
  /** `{id}` is replaced by the percent-encoded job id. */
  readonly status: { readonly path: string };
  /**
   * How a create whose answer was lost is recovered: `replay` sends the same idempotency key again (24 h, API keys
   * only). Kinds that can be looked up in a list, or not at all, come with their own words.
   */
  readonly recovery: 'replay';
  /** The request body, field by field, in the order in which people should see them. */
  readonly fields: Readonly<Record<string, Field>>;
  /** The field that chooses the model, and what each model allows. */
  readonly model: {
    readonly field: string;
    /** The model that the service takes when the field is absent. */
    readonly default: string;
    readonly models: Readonly<Record<string, Model>>;
  };
  /** Fields that the price depends on, beside the model. */
  readonly pricedBy: readonly string[];
  /** Output fields that other steps may refer to, as in `{{tasks.hero.url}}`. */
  readonly outputs: readonly string[];
  /** How long a job typically takes, in ms, before anything has been learned. Used to pace polling. */
  readonly typicalMs: number;
}

export interface Field {
  readonly description: string;
  readonly type: 'string' | 'number' | 'boolean' | 'strings';
  readonly required?: boolean;
  /** Longest text allowed, in characters as the service counts them. */
  readonly maxLength?: number;
  readonly values?: readonly string[];
  /** What the service takes when the field is absent. */
  readonly default?: string;
  /** Each text must be a public https URL (or come from another step). */
  readonly url?: boolean;
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
