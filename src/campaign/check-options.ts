import { CampaignError } from '../contract/failure.ts';
import { isJobId } from '../ground/job-id.ts';
import { costDimensions } from '../plan/prices/tally-charges.ts';
import type { CostOptions } from './cost.ts';
import { limitMs, optionTable, type Range } from './option-table.ts';
import {
  findGiven,
  type PlanningOptions,
  pickPlanningOptions,
  pickRunSettings,
  type RehearsalOptions,
  type RunSettings,
} from './options.ts';

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
