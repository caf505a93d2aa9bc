import { CampaignError } from '../contract/failure.ts';
import { isJobId } from '../ground/job-id.ts';
import { costDimensions } from '../plan/prices/tally-charges.ts';
import type { CostOptions } from './cost.ts';
import { limitMs, type OptionRow, optionTable, type Range, type Written } from './option-table.ts';

/**
 * Refuses values that would lift a budget or stall a run, because library callers can pass values that the CLI rejects.
 */
export function checkPlanning(options: PlanningOptions): void {
  checkGiven(pickPlanningOptions(options));
}

export function checkSettings(
  settings: RunSettings & { lockTimeoutMs?: number | undefined; rehearsal?: RehearsalOptions | undefined },
): void {
  const { createTimeoutMs, lockTimeoutMs, rehearsal = {} } = settings;
  checkGiven({ ...pickRunSettings(settings), lockTimeoutMs });
  requireNumber('createTimeoutMs', createTimeoutMs, limitMs);
  const { sandboxCredits, sandboxSpeed, sandboxFailRate } = optionTable;
  requireNumber('rehearsal.credits', rehearsal.credits, sandboxCredits.range);
  requireNumber('rehearsal.speed', rehearsal.speed, sandboxSpeed.range);
  requireNumber('rehearsal.failRate', rehearsal.failRate, sandboxFailRate.range);
}

function checkGiven(given: object): void {
  for (const { name, row, value } of findGiven(given, () => true)) {
    if (row.range !== undefined) requireNumber(name, value, row.range);
    if (row.words !== undefined) requireWord(name, value, row.words);
    // A string such as 'false' must not count as consent.
    if (row.takes === undefined && row.words === undefined && !row.flags.includes('<')) requireFlag(name, value);
  }
}

/** Refuses a job id or a charge with which the lock would be unreadable. */
export function checkJob(jobId: string, charged: number | undefined): void {
  if (!isJobId(jobId)) {
    throw new CampaignError({
      code: 'MB3000',
      message: `${JSON.stringify(jobId)} cannot be a job id`,
      hint: 'copy it as the service shows it',
      value: String(jobId),
    });
  }
  requireNumber('credits', charged, optionTable.maxCredits.range);
}

const findingFields = ['is', 'jobId', 'credits', 'recordId'];

/** Refuses a finding with which the lock would be unreadable, or with a field that would be ignored. */
export function checkFinding(finding: { is: string } | undefined): void {
  if (typeof finding?.is !== 'string') requireWord('finding.is', String(finding?.is), findings);
  for (const field of Object.keys(finding ?? {})) requireWord('a field of finding', field, findingFields);
  requireWord('finding.is', finding?.is, findings);
}

/** Refuses a string such as 'false' where a decision takes true or false. */
export function checkFlags(flags: { [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(flags)) if (value !== undefined) requireFlag(name, value);
}

/** Refuses names by which charges cannot be grouped, because each would become a column. */
export function checkCost({ by }: CostOptions): void {
  for (const one of by) requireWord('by', one, costDimensions);
}

const findings = ['job', 'not-spent', 'spend-again'];

function requireNumber(name: string, value: unknown, { least, most, whole }: Range): void {
  if (value === undefined) return;
  const fits = (given: number) => given >= least && given <= (most ?? Number.POSITIVE_INFINITY);
  if (typeof value === 'number' && fits(value) && (!whole || Number.isInteger(value))) return;
  const kind = whole ? 'a whole number' : 'a number';
  const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new CampaignError({
    code: 'MB3000',
    message: `${name} is ${String(value)}`,
    hint: `it must be ${kind} ${range}`,
    value: String(value),
  });
}

function requireFlag(name: string, value: unknown): void {
  if (typeof value === 'boolean') return;
  const message = `${name} is ${JSON.stringify(value)}`;
  throw new CampaignError({ code: 'MB3000', message, hint: 'it must be true or false', value: String(value) });
}

function requireWord(name: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.some((word) => word === value)) return;
  const hint = `it must be ${known.join(' or ')}`;
  const message = `${name} is ${JSON.stringify(value)}`;
  throw new CampaignError({ code: 'MB3000', message, hint, value: String(value), known });
}

type Table = typeof optionTable;
type Row = Table[keyof Table];

type ValueOf<One> = One extends { takes: infer Takes extends keyof Written }
  ? Written[Takes]
  : One extends { words: readonly (infer Word)[] }
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

/** Settings of a run that do not change its plan. Times in ms. */
export interface RunSettings extends Values<Settling<'run'>> {
  /** Time limit of a create request. Default: 120 s. */
  createTimeoutMs?: number | undefined;
}

/** Balance and speed of the embedded service. */
export interface RehearsalOptions {
  /** Credits in the account. Default: enough for the plan. */
  credits?: number | undefined;
  speed?: number | undefined;
  /** Share of the jobs that fail, 0 to 1. */
  failRate?: number | undefined;
}

export function flagOf({ flags }: OptionRow): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

const rows = Object.entries(optionTable) as [keyof Table, OptionRow][];

/** Finds the given options for which `is` returns true. An untyped program can pass more than the type allows. */
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
