/**
 * The library: the commands as functions, without a terminal. `load` reads a campaign, `plan` returns the steps and the
 * cost of a run, and `apply` runs the plan and updates the lock. There are also functions for decisions (`pin`, `resolve`,
 * …) and for reports (`compare`, `cost`).
 */
import { consentRequiredBy } from './campaign/environment.ts';
import type { OpenOptions } from './campaign/open-campaign.ts';
import { type Campaign, load as loadCampaign } from './campaign/plan.ts';

export { type ApplyOptions, apply } from './campaign/apply.ts';
export type { CommitComparison, Cost } from './campaign/compare-with-commit.ts';
export { compare, cost } from './campaign/compare-with-commit.ts';
export type { Decided, DecideOptions } from './campaign/decide.ts';
export { adopt, type ImportedJob, importStep, resolve, type Searched } from './campaign/decisions/adopt.ts';
export { type JudgeOptions, type PickOptions, pick, pickFrom, reject, unpick } from './campaign/decisions/judge.ts';
export { accept, type Chosen, type ForgetChosen, forget, move, pin, unpin } from './campaign/decisions/steps.ts';
export { type Environment, readEnvironment } from './campaign/environment.ts';
export type { OpenCampaign, OpenOptions } from './campaign/open-campaign.ts';
export type { PlanningOptions, RehearsalOptions, RunSettings } from './campaign/option-table.ts';
export type { Campaign } from './campaign/plan.ts';
export { type Planned, plan } from './campaign/plan.ts';
export type { Answer, MoveQuestion } from './campaign/read-lock.ts';
export type { RunResult } from './campaign/run.ts';
export type { ListedJob } from './contract/answer.ts';
export { BrokenRunError } from './contract/errors.ts';
export type { RunEvent, StepOutcome, StopReason } from './contract/event.ts';
export { type ExitCode, exitCodes } from './contract/exit.ts';
export { CampaignError, type Failure, type FailureCode, failures } from './contract/failure.ts';
export type { Notice, Notify } from './contract/notice.ts';
export type { Graph, Step } from './graph/graph.ts';
export type { Advice, Call, Shell, Way } from './ground/advice.ts';
export type { Diagnostic, DiagnosticCode, Place, Position } from './ground/diagnostic.ts';
export { codes } from './ground/diagnostic.ts';
export { type LockReading, readLock } from './lock/read.ts';
export type { Lock, Output, Purchase, StepRecord } from './lock/record.ts';
export type { ComparedStep } from './plan/compare/compare-versions.ts';
export type { Finding } from './plan/decisions/resolve-purchase.ts';
export type { Ruling } from './plan/decisions/ruling.ts';
export type { Cause, Change, Estimate, Reason } from './plan/plan.generated.ts';
export type { Action, Plan, PlanRow, PlanTotals, PostTarget, Price, StepOrder } from './plan/plan.ts';
export type { Charge, CostDimension, CostRow, CostSums, Whereabouts } from './plan/prices/charges.ts';

/**
 * Reads a manifest and the files that it refers to. Mistakes are in `diagnostics`. Throws if a file cannot be read.
 * Sends and writes nothing. `environment` cannot disable the interactive approval that this process requires.
 */
export async function load(file: string, options: OpenOptions = {}): Promise<Campaign> {
  const consent = consentRequiredBy(process.env);
  if (consent === undefined) return loadCampaign(file, options);
  // The properties are copied without a read of the key, because reading it may run a key command.
  const known = Object.getOwnPropertyDescriptors(options.environment ?? {});
  const environment = Object.defineProperties({}, { ...known, consent: { value: consent, enumerable: true } });
  return loadCampaign(file, { ...options, environment });
}
