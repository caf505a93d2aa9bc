/** Options that decide what a plan is. */
export interface PlanningOptions {
  /** Selections of steps to buy again. */
  redo?: string[] | undefined;
  /** Selections of the steps that the plan is about. Default: all of them. */
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  /** Of tasks that fan out only so many rows, the first ones, with what they need. */
  first?: number | undefined;
  /** Of tasks that fan out only so many rows, drawn by a digest of their keys, with what they need. */
  sample?: number | undefined;
  /** Draws another sample. */
  seed?: string | undefined;
  /** Credits that this run may spend at most. */
  maxCredits?: number | undefined;
  /** Jobs at a time. Default: the manifest's, or 8. */
  concurrency?: number | undefined;
  /** Treatment of creates whose answers were lost and cannot be recovered. Default: `ask`. */
  onUnknown?: 'ask' | 'hold' | undefined;
  /** Everything is bought for a lock of its own that begins here, whatever looks as if it had been bought before. */
  new?: boolean | undefined;
}

/** How a run goes about its work. None of it changes what there is to do. Times in ms. */
export interface RunSettings {
  /** Between two looks at a job. Default: as durations and the service allow. */
  pollIntervalMs?: number | undefined;
  /** Limit for every call but creates. Default: 30 s. */
  requestTimeoutMs?: number | undefined;
  /** Limit for a create. Default: 120 s. */
  createTimeoutMs?: number | undefined;
  /** How long one job is watched. Default: until it ends. */
  patienceMs?: number | undefined;
  /** How long an empty account is waited for. Default: not at all. */
  creditWaitMs?: number | undefined;
  onUnknown?: 'ask' | 'hold' | undefined;
  /**
   * After a failure: go on with other steps, but not with those of a task and price of which five failed for one reason and
   * none is done (`wait`), with those, too (`continue`), or only finish what has begun (`finish`). Default: `wait`.
   */
  onError?: 'wait' | 'continue' | 'finish' | undefined;
}

/** How long calls may take, in ms. */
export function timeoutsOf({ requestTimeoutMs = 30_000, createTimeoutMs = 120_000 }: RunSettings) {
  return { requestTimeoutMs, createTimeoutMs };
}

/** Every field, given or not: a program can pass more than a type allows, and a run has options that are not its business. */
type Every<Options> = { [name in keyof Options]-?: Options[name] | undefined };

/** The planning options among what a program passed. */
export function pickPlanningOptions(given: PlanningOptions): Every<PlanningOptions> {
  const { redo, select, exclude, first, sample, seed, maxCredits, concurrency, onUnknown, new: isNew } = given;
  return { redo, select, exclude, first, sample, seed, maxCredits, concurrency, onUnknown, new: isNew };
}

/** The settings of a run among what a program passed. */
export function pickRunSettings(given: RunSettings): Every<RunSettings> {
  const { pollIntervalMs, requestTimeoutMs, createTimeoutMs, patienceMs, creditWaitMs, onUnknown, onError } = given;
  return { pollIntervalMs, requestTimeoutMs, createTimeoutMs, patienceMs, creditWaitMs, onUnknown, onError };
}

/** The account and the pace of the embedded service. */
export interface RehearsalOptions {
  /** Credits in the account. Default: enough for the plan. */
  credits?: number | undefined;
  speed?: number | undefined;
  /** Part of the jobs that fail, 0 to 1. */
  failRate?: number | undefined;
}
