import { CampaignError } from '../contract/failure.ts';
import { isJobId } from '../ground/job-id.ts';
import { type OptionRow, optionTable, type Written } from './option-table.ts';

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
  if (charged === undefined || (Number.isInteger(charged) && charged >= 0 && charged <= mostCredits)) return;
  throw new CampaignError({
    code: 'MB3000',
    message: `credits is ${charged}`,
    hint: `it must be a whole number from 0 to ${mostCredits}`,
    value: String(charged),
  });
}

const mostCredits = optionTable.maxCredits.range.most;

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
