import { type FoundLock, findLocks } from '../../campaign/find-locks.ts';
import { listJobs } from '../../campaign/with-library.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { defined } from '../../ground/values.ts';
import { jobStates } from '../../kinds/envelope.ts';
import { kinds } from '../../kinds/index.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { type JobRow, jobsJson, jobsView } from '../../report/tables/jobs-text.ts';
import { type ListedJob, ServiceError } from '../../service/library.ts';
import { mostLookedThrough } from '../../service/listing.ts';
import { outJson, show, type Terminal, tellNotice } from '../terminal.ts';
import { withService } from '../with-service.ts';

interface JobsOptions {
  kind?: string;
  state?: string;
  model?: string;
  limit: number;
  /** Whether to list only jobs that are in no lock here. */
  unknown?: boolean;
  json?: boolean;
  sandbox?: boolean;
}

export async function jobs(options: JobsOptions, terminal: Terminal): Promise<number> {
  const wanted = listableKinds(options.kind);
  const locks = await findLocks(process.cwd(), { sandbox: options.sandbox === true });
  for (const { shown, problem, reading } of locks) {
    const isWrong = reading !== undefined && hasErrors(reading.diagnostics);
    const why = problem ?? (isWrong ? 'it is damaged, and was read as far as possible' : undefined);
    if (why !== undefined) tellNotice(terminal, `${shown}: ${why}`);
  }
  const isFiltered = options.state !== undefined || options.model !== undefined || options.unknown === true;
  const perKind = isFiltered ? mostLookedThrough : options.limit + 1;
  const onUnread = (name: string, error: unknown) => {
    // If the service refuses one list, the others are still shown.
    const isOnlyThis = error instanceof ServiceError && (error.why === 'refused' || error.why === 'unusable');
    if (!isOnlyThis || wanted.length === 1) throw error;
    tellNotice(terminal, `the ${name} jobs cannot be listed: ${error.message}`);
  };
  const listed = await withService(options, ({ library }) => listJobs(library, wanted, { limit: perKind, onUnread }));
  const steps = stepsByJob(locks);
  const all = listed.map((job) => rowOf(job, steps)).sort((a, b) => timeOf(b) - timeOf(a));
  const chosen = filterJobs(all, options);
  const shown = chosen.slice(0, options.limit);
  const more = chosen.length > shown.length;
  const unlisted = options.kind === undefined ? unlistedKinds() : [];
  if (options.json) {
    const facts = { jobs: shown, more, unlisted, locks: locks.map((lock) => lock.shown) };
    outJson(terminal, jobsJson(facts));
    return exitCodes.done;
  }
  show(terminal, jobsView(shown, systemClock.now()));
  terminal.err(footer(shown, { more, unlisted, locks, options }));
  return exitCodes.done;
}

function listableKinds(kind: string | undefined): string[] {
  const listable = Object.values(kinds)
    .filter(({ list }) => list !== undefined)
    .map(({ name }) => name);
  if (kind === undefined) return listable;
  if (listable.includes(kind)) return [kind];
  const isKnown = Object.hasOwn(kinds, kind);
  throw new CampaignError({
    code: 'MB3000',
    message: isKnown ? `the service has no list of its ${kind} jobs` : `there is no kind ${JSON.stringify(kind)}`,
    hint: `these can be listed: ${listable.join(', ')}`,
    value: kind,
    known: listable,
  });
}

/** Returns the kinds whose jobs the service does not list, so that they can only be found by id. */
function unlistedKinds(): string[] {
  return Object.values(kinds)
    .filter(({ act, list }) => act !== 'upload' && list === undefined)
    .map(({ name }) => name);
}

interface KnownJob {
  lock: string;
  address: string;
  credits?: number;
}

function stepsByJob(locks: readonly FoundLock[]): Map<string, KnownJob> {
  const steps = new Map<string, KnownJob>();
  for (const { shown, reading } of locks) {
    for (const { address, purchases } of reading?.lock.steps.values() ?? []) {
      for (const { jobId, credits } of purchases) {
        if (jobId === undefined) continue;
        steps.set(jobId, { lock: shown, address, ...defined({ credits }) });
      }
    }
  }
  return steps;
}

function rowOf(job: ListedJob, steps: ReadonlyMap<string, KnownJob>): JobRow {
  const { recordId: _recordId, echoes: _echoes, ...row } = job;
  const known = steps.get(row.jobId);
  // Some lists do not contain the charge of a job.
  const credits = job.credits ?? known?.credits;
  return { ...row, ...defined({ credits, step: known && { lock: known.lock, address: known.address } }) };
}

/** Creation time in ms since 1970; 0 if unknown, so that such jobs come last. */
function timeOf({ createdAt }: JobRow): number {
  const at = Date.parse(createdAt ?? '');
  return Number.isNaN(at) ? 0 : at;
}

function filterJobs(all: readonly JobRow[], options: JobsOptions): JobRow[] {
  const state = options.state?.toUpperCase();
  const states = [...new Set([...jobStates, ...all.map(({ status }) => status)])];
  if (state !== undefined && !states.includes(state)) {
    throw new CampaignError({
      code: 'MB3000',
      message: `there is no state ${JSON.stringify(options.state)}`,
      hint: `there are: ${states.map((name) => name.toLowerCase()).join(', ')}`,
      value: state,
      known: states,
    });
  }
  const models = [...new Set(all.flatMap(({ model }) => (model === undefined ? [] : [model])))].sort();
  if (options.model !== undefined && !models.includes(options.model)) {
    throw new CampaignError({
      code: 'MB3000',
      message: `no listed job has the model ${JSON.stringify(options.model)}`,
      hint: models.length === 0 ? 'no listed job names its model' : `there are: ${models.join(', ')}`,
      value: options.model,
      known: models,
    });
  }
  return all.filter(
    (job) =>
      (state === undefined || job.status === state) &&
      (options.model === undefined || job.model === options.model) &&
      (options.unknown !== true || job.step === undefined),
  );
}

function footer(
  shown: readonly JobRow[],
  facts: { more: boolean; unlisted: readonly string[]; locks: readonly FoundLock[]; options: JobsOptions },
): string {
  const { more, unlisted, locks, options } = facts;
  const unknown = shown.filter(({ step }) => step === undefined).length;
  const where =
    locks.length === 0 ? 'there is no lock in this folder' : `compared with ${countOf(locks.length, 'lock')}`;
  const lines = [
    `${countOf(shown.length, 'job')}${more ? ', and more: raise --limit' : ''}; ${unknown} not on record here (${where})`,
  ];
  if (unlisted.length > 0) {
    lines.push(`the service has no list of ${unlisted.join(', ')} jobs: only the locks contain them`);
  }
  if (unknown > 0 && options.sandbox !== true) {
    lines.push('`adopt` records the jobs that a step asked for; `adopt ADDRESS --job ID` records any job');
  }
  return `${lines.map((line) => safeText(line)).join('\n')}\n`;
}
