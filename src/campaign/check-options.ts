import { CampaignError } from '../contract/failure.ts';
import { isJobId } from '../ground/job-id.ts';
import { costDimensions } from '../plan/tally-charges.ts';
import type { CostOptions } from './cost.ts';
import type { PlanningOptions, RehearsalOptions, RunSettings } from './options.ts';

interface Range {
  least: number;
  most?: number;
  whole?: boolean;
}

const mostCredits = 1_000_000_000;
const credits: Range = { least: 0, most: mostCredits, whole: true };
/** Node's timers turn longer delays into none. */
const longestMs = 2 ** 31 - 1;
const limitMs: Range = { least: 1, most: longestMs };
const waitMs: Range = { least: 0, most: longestMs };

/** Refuses values that would lift a budget or stall a run: a program can pass what a command line cannot say. */
export function checkPlanning({ maxCredits, concurrency, onUnknown, first, sample }: PlanningOptions): void {
  requireNumber('first', first, { least: 1, whole: true });
  requireNumber('sample', sample, { least: 1, whole: true });
  requireNumber('maxCredits', maxCredits, credits);
  requireNumber('concurrency', concurrency, { least: 1, most: 1000, whole: true });
  requireWord('onUnknown', onUnknown, ['ask', 'hold']);
}

export function checkSettings(
  settings: RunSettings & { lockTimeoutMs?: number | undefined; rehearsal?: RehearsalOptions | undefined },
): void {
  for (const name of ['pollIntervalMs', 'requestTimeoutMs', 'createTimeoutMs'] as const) {
    requireNumber(name, settings[name], limitMs);
  }
  requireNumber('patienceMs', settings.patienceMs, { least: 1 });
  requireNumber('creditWaitMs', settings.creditWaitMs, waitMs);
  requireNumber('lockTimeoutMs', settings.lockTimeoutMs, waitMs);
  requireWord('onError', settings.onError, ['wait', 'continue', 'finish']);
  const { rehearsal = {} } = settings;
  requireNumber('rehearsal.credits', rehearsal.credits, credits);
  requireNumber('rehearsal.speed', rehearsal.speed, { least: Number.MIN_VALUE });
  requireNumber('rehearsal.failRate', rehearsal.failRate, { least: 0, most: 1 });
}

/** Refuses a job id or a charge that the lock could not be read with. */
export function checkJob(jobId: string, charged: number | undefined): void {
  if (!isJobId(jobId)) {
    throw new CampaignError({
      code: 'MB3003',
      message: `${JSON.stringify(jobId)} cannot be a job id`,
      hint: 'copy it as the service shows it',
      value: String(jobId),
    });
  }
  requireNumber('credits', charged, credits);
}

/** Refuses what charges cannot be told apart by: it would be a column of its own name. */
export function checkCost({ by }: CostOptions): void {
  for (const one of by) requireWord('by', one, costDimensions);
}

function requireNumber(name: string, value: number | undefined, { least, most, whole }: Range): void {
  if (value === undefined) return;
  const fits = value >= least && value <= (most ?? Number.POSITIVE_INFINITY) && (!whole || Number.isInteger(value));
  if (typeof value === 'number' && fits) return;
  const kind = whole ? 'a whole number' : 'a number';
  const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new CampaignError({
    code: 'MB3003',
    message: `${name} is ${String(value)}`,
    hint: `it must be ${kind} ${range}`,
    value: String(value),
  });
}

function requireWord(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  const hint = `it must be ${known.join(' or ')}`;
  throw new CampaignError({ code: 'MB3003', message: `${name} is ${JSON.stringify(value)}`, hint, value, known });
}
