import { CampaignError } from '../contract/failure.ts';
import type { Advice } from '../ground/advice.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Options } from '../plan/plan.generated.ts';

interface Written {
  text: string;
  path: string;
  texts: string[];
  paths: string[];
  /** `name=value`, repeatable. */
  pairs: Record<string, string>;
  number: number;
  seconds: number;
  /** `90s`, `30m`, `2h`, `7d`. */
  duration: number;
  interval: number | undefined;
}

export interface Range {
  readonly least: number;
  readonly most?: number;
  readonly whole?: true;
}

/** An option of `plan`, `apply` and the library, from which help, checks and the commands in hints are derived. */
export interface OptionRow {
  readonly flags: string;
  readonly about: string;
  /**
   * Scope of the option. `campaign`: selects manifest, lock or account. `plan`: changes which steps are created. `run`:
   * changes how a run works. `here`: affects only this process. A saved plan stores options of `campaign` and `plan`.
   */
  readonly settles: 'campaign' | 'plan' | 'run' | 'here';
  readonly takes?: keyof Written | readonly string[];
  readonly range?: Range;
  readonly standard?: number | string;
  readonly shown?: string;
  /** Commands in hints that repeat the option. Derived from `settles` by default. */
  readonly printed?: 'always' | 'apply' | 'never';
  /** Whether the option may be combined with a saved plan. Derived from `settles` by default. */
  readonly besideSaved?: 'refused' | 'taken';
  /** Whether `plan --compare` refuses or ignores the option. Derived from `settles` by default. */
  readonly compared?: 'refused' | 'ignored';
  readonly conflicts?: string;
}

type More = Omit<OptionRow, 'flags' | 'about' | 'settles'>;
const rowsThatSettle =
  <const Settles extends OptionRow['settles']>(settles: Settles) =>
  <const Flags extends string, const Rest extends More = object>(flags: Flags, about: string, rest?: Rest) =>
    ({ flags, about, settles, ...rest }) as { flags: Flags; about: string; settles: Settles } & Rest;
const campaign = rowsThatSettle('campaign');
const plan = rowsThatSettle('plan');
const run = rowsThatSettle('run');
const here = rowsThatSettle('here');

const count = { takes: 'number', range: { least: 1, whole: true } } as const;
const credits = { takes: 'number', range: { least: 0, most: 1_000_000_000, whole: true } } as const;
const aboveZero = { takes: 'number', range: { least: Number.MIN_VALUE } } as const;
const share = { takes: 'number', range: { least: 0, most: 1 } } as const;
/** Maximum delay of a timer in ms. Node fires a timer immediately if its delay is longer. */
const longestMs = 2 ** 31 - 1;
const limitMs: Range = { least: 1, most: longestMs };
const waitMs: Range = { least: 0, most: longestMs };
export const portRange: Range = { least: 0, most: 65_535, whole: true };

export const lockOptions = {
  sandbox: campaign('--sandbox', 'use the sandbox: its own credits, lock and folder'),
  lock: campaign('--lock <file>', 'path of the lock (default: next to the manifest)', { takes: 'path' }),
};

export const varOptions = {
  var: campaign('--var <name=value>', 'set a variable that the manifest declares', { takes: 'pairs' }),
  varFile: campaign('--var-file <file>', 'set variables from a YAML or JSON file; --var overrides it; repeatable', {
    takes: 'paths',
  }),
};

export const selectionOptions = {
  /** Steps to include. Defaults to all steps. */
  select: plan('-s, --select <selection>', 'only these steps: hero@lamp,9:16, hero@A*, +teaser, tag:launch …', {
    takes: 'texts',
  }),
  exclude: plan('-x, --exclude <selection>', 'exclude these steps', { takes: 'texts' }),
};

export const scopeOptions = {
  serviceMoved: here(
    '--service-moved',
    'accept that the address of the service has changed since the lock was written',
  ),
  /** Number of rows per task: includes only the first rows of each task, and the steps that these rows need. */
  first: plan('--first <n>', 'only the first rows of each task for which its `when` is true, as a trial', count),
  /** Maximum credits of this run. */
  maxCredits: plan('--max-credits <n>', 'credit limit of this run, in addition to the budget of the manifest', credits),
};

export const sharedOptions = {
  /** Steps to create again. */
  redo: plan(
    '--redo <selection>',
    'buy these steps again (posts only by exact address); repeatable',
    // A user who pastes a printed command with `--redo` would buy the steps once more.
    { takes: 'texts', printed: 'never' },
  ),
  /** Maximum number of parallel jobs. Defaults to the manifest's value, or 8. */
  concurrency: plan('--concurrency <n>', 'jobs at once, 1 to 1000', {
    takes: 'number',
    range: { least: 1, most: 1000, whole: true },
    besideSaved: 'taken',
    compared: 'ignored',
  }),
  /** Ignores the purchase journal, and creates all steps again for this lock. */
  new: plan('--new', 'ignore the purchase journal once, and create every step again for this lock', {
    compared: 'ignored',
  }),
  json: here('--json', 'one JSON document on stdout'),
};

export const planOptions = {
  refresh: here('--refresh', 'query the service for its OpenAPI document and its prices'),
  strict: here('--strict', 'report as a mistake each field that neither this version nor the service lists'),
  all: here('--all', 'show every row, without summaries'),
  out: here('--out <file>', 'save the plan to a file, such as campaign.plan.json, for apply to run exactly', {
    compared: 'refused',
  }),
  format: here('--format <format>', 'output format', { takes: ['text', 'json', 'markdown'] }),
  compare: here('--compare <ref>', 'compare with a commit: steps, credits, purchases'),
  detailedExitcode: here(
    '--detailed-exitcode',
    'exit 2 if the plan has work (--compare: differences), 4 if the budget does not cover that work or the steps after the picks',
  ),
};

export const applyOptions = {
  dryRun: here('--dry-run', 'the same as plan', { besideSaved: 'refused', conflicts: 'review' }),
  yes: here('-y, --yes', 'approve the credits without a prompt; posts still need approval'),
  /** Publishes posts without a prompt. Defaults to false: posts wait for approval. */
  publish: run('--publish', 'publish the posts of the plan (irreversible); posts without approval wait (exit 5)'),
  review: here('--review', 'serve the review page, and start the finals of each pick; Ctrl-C ends the wait (exit 5)'),
  quiet: here('-q, --quiet', 'print only failures and the result', { conflicts: 'verbose' }),
  verbose: here('-v, --verbose', 'print a line for every event, without the live screen'),
  events: here('--events <file>', 'write all events as JSON Lines; - is stdout'),
  lockTimeoutMs: here('--lock-timeout <seconds>', 'how long to wait for a lock that another run holds', {
    takes: 'seconds',
    range: waitMs,
    standard: 10_000,
    shown: '10',
  }),
  /** Time limit of a request in ms, except create requests. Defaults to 30 s. */
  requestTimeoutMs: run('--request-timeout <seconds>', 'time limit of a request (default: 30, create requests 120)', {
    takes: 'seconds',
    range: limitMs,
    standard: 30_000,
  }),
  /** Maximum time in ms to poll one job. Defaults to no limit. */
  patienceMs: run(
    '--patience <duration>',
    'stop watching a job after this time (90s, 30m, 2h); the next run collects it',
    // The run does not measure this time with a single timer, so the maximum delay of a timer does not apply.
    { takes: 'duration', range: { least: 1 } },
  ),
  /** How long to wait for credits if the account is empty, in ms. By default, the run does not wait. */
  creditWaitMs: run(
    '--wait-for-balance <duration>',
    'wait for credits when the account is empty, as in 2h (default: 0)',
    {
      takes: 'duration',
      range: waitMs,
      standard: 0,
    },
  ),
  /** If the answer to a create request was lost: `ask` (default) queries the service, `hold` waits for a user. */
  onUnknown: run(
    '--on-unknown <what>',
    'if the answer to a create request was lost: ask the service, or hold (a user decides)',
    {
      takes: ['ask', 'hold'],
      standard: 'ask',
      printed: 'apply',
    },
  ),
  /**
   * Behaviour after failures. `wait`: after five similar failures and no success, pauses steps with the same task and
   * price. `continue`: never pauses. `finish`: starts no new step. Defaults to `wait`.
   */
  onError: run(
    '--on-error <what>',
    'after failures: wait (pause similar steps after five failures), continue, or finish (start nothing new)',
    { takes: ['wait', 'continue', 'finish'], standard: 'wait' },
  ),
  sandboxCredits: here('--sandbox-credits <n>', 'with --sandbox: balance of its account (default: enough)', credits),
  sandboxSpeed: here(
    '--sandbox-speed <factor>',
    'with --sandbox: speed of jobs relative to real time (default: 5)',
    aboveZero,
  ),
  sandboxFailRate: here('--sandbox-fail-rate <share>', 'with --sandbox: share of jobs that fail, 0 to 1', share),
  /** Time between two polls of a job in ms. Derived from earlier durations and the service's limits by default. */
  pollIntervalMs: run('--poll-interval <ms>', 'milliseconds between two polls of a job (default: auto)', {
    takes: 'interval',
    range: limitMs,
  }),
  /** Commander must not read this option from the environment: `--help` would print the password of the URL. */
  engine: here(
    '--engine <address>',
    'postgres://user@host:5432/database; prefer MEDIABATCH_ENGINE, because `ps` shows options',
    { printed: 'always' },
  ),
  store: here('--store <folder>', 'with --engine: shared folder or s3://bucket/prefix for files', { printed: 'apply' }),
};

export const optionTable = {
  ...lockOptions,
  ...varOptions,
  ...selectionOptions,
  ...scopeOptions,
  ...sharedOptions,
  ...planOptions,
  ...applyOptions,
};

export function wrongOptions(message: string, hint: Advice, ...options: string[]): CampaignError {
  return new CampaignError({ code: 'MB3000', message, hint, options });
}

export function checkJob(jobId: string, charged: number | undefined): void {
  if (!isJobId(jobId)) {
    throw new CampaignError({
      code: 'MB3000',
      message: `${JSON.stringify(jobId)} is not a valid job id`,
      hint: 'copy the id as the service shows it',
      value: String(jobId),
    });
  }
  if (charged === undefined || (Number.isInteger(charged) && charged >= 0 && charged <= mostCredits)) return;
  throw new CampaignError({
    code: 'MB3000',
    message: `credits is ${charged}`,
    hint: `give a whole number from 0 to ${mostCredits}`,
    value: String(charged),
  });
}

const mostCredits = optionTable.maxCredits.range.most;

type Table = typeof optionTable;
type Row = Table[keyof Table];

type ValueOf<One> = One extends { takes: infer Takes extends keyof Written }
  ? Written[Takes]
  : One extends { takes: readonly (infer Word)[] }
    ? Word
    : One extends { flags: `${string}<${string}` }
      ? string
      : boolean;

export type Values<Rows> = { -readonly [Name in keyof Rows]?: ValueOf<Rows[Name]> | undefined };

type Settling<What extends Row['settles']> = Pick<
  Table,
  { [Name in keyof Table]: Table[Name]['settles'] extends What ? Name : never }[keyof Table]
>;

export type PlanningOptions = Values<Settling<'plan'> & Pick<Table, 'onUnknown'>>;

/** Options of a run that do not change its plan. */
export interface RunSettings extends Values<Settling<'run'>> {
  /** Time limit of a create request in ms. Defaults to 120 s. */
  createTimeoutMs?: number | undefined;
}

export interface RehearsalOptions {
  /** Initial balance. Defaults to enough credits for the plan. */
  credits?: number | undefined;
  speed?: number | undefined;
  /** Fraction of jobs that fail, 0 to 1. */
  failRate?: number | undefined;
}

export function flagOf({ flags }: Pick<OptionRow, 'flags'>): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

const rows = Object.entries(optionTable) as [keyof Table, OptionRow][];

/** Returns the given options whose table row passes `is`. Ignores unknown options, which untyped callers may pass. */
export function findGiven(options: object, is: (row: OptionRow) => boolean) {
  const values = new Map<string, unknown>(Object.entries(options));
  const found = rows.map(([name, row]) => ({ name, row, value: values.get(name) }));
  return found.filter(({ row, value }) => value !== undefined && is(row));
}

function pick(options: object, is: (row: OptionRow) => boolean): object {
  return Object.fromEntries(findGiven(options, is).map(({ name, value }) => [name, value]));
}

export function pickPlanningOptions(given: PlanningOptions): PlanningOptions {
  return pick(given, (row) => row.settles === 'plan' || row === optionTable.onUnknown);
}

export function pickRunSettings(given: RunSettings): RunSettings {
  const { createTimeoutMs } = given;
  return {
    ...pick(given, ({ settles }) => settles === 'run'),
    ...(createTimeoutMs !== undefined && { createTimeoutMs }),
  };
}

type HasStandard<Rows> = { [Name in keyof Rows]: Rows[Name] extends { standard: unknown } ? Name : never }[keyof Rows];
type Settled = HasStandard<Settling<'run'>> | 'createTimeoutMs';
type SettledSettings = { [Name in Settled]: NonNullable<RunSettings[Name]> } & {
  [Name in Exclude<keyof RunSettings, Settled>]?: NonNullable<RunSettings[Name]>;
};

export function settle(given: RunSettings): SettledSettings {
  const standards = rows.flatMap(([name, { settles, standard }]) =>
    settles === 'run' && standard !== undefined ? [[name, standard]] : [],
  );
  return { ...Object.fromEntries([...standards, ['createTimeoutMs', 120_000]]), ...pickRunSettings(given) };
}

export function isKept({ settles }: OptionRow): boolean {
  return settles === 'campaign' || settles === 'plan';
}

export function optionsToKeep(options: object, write: (path: string) => string): Options {
  const kept = findGiven(options, isKept).filter(({ value }) => value !== false);
  return Object.fromEntries(
    kept.map(({ name, row: { takes }, value }) => {
      if (takes === 'path') return [name, write(String(value))];
      return [name, takes === 'paths' && Array.isArray(value) ? value.map(write) : value];
    }),
  );
}

export function wordsOfPlan(options: object): string[] {
  return findGiven(options, ({ settles }) => settles === 'plan').flatMap(({ row, value }) =>
    wordsOf(flagOf(row), value),
  );
}

export function wordsOf(flag: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [flag];
  if (Array.isArray(value)) return value.flatMap((one) => [flag, String(one)]);
  if (typeof value !== 'object' || value === null) return [flag, String(value)];
  return Object.entries(value).flatMap(([name, text]) => [flag, `${name}=${text}`]);
}
