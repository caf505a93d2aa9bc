import { CampaignError } from '../../contract/failure.ts';
import type { Notify } from '../../contract/notice.ts';
import type { Step } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { defined, mustGet } from '../../ground/values.ts';
import { envelope } from '../../kinds/envelope.ts';
import { kinds } from '../../kinds/index.ts';
import type { Lock } from '../../lock/record.ts';
import { type Finding, importJob, ruleOnSend } from '../../plan/decisions/resolve-purchase.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { listedCharge, pricesFrom } from '../../plan/prices/prices.ts';
import { type Adoption, matchListed } from '../../plan/purchases/match-listed.ts';
import { settlingOf } from '../../plan/purchases/next.ts';
import type { Match } from '../../plan/situation/find-purchases.ts';
import type { Library, ListedJob } from '../../service/library.ts';
import { mostLookedThrough } from '../../service/listing.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import { requireOtherLocks } from '../find-locks.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { checkJob } from '../option-table.ts';
import { requireStep } from '../select-steps.ts';
import type { Session } from '../session.ts';
import { listJobs, withLibraryOf } from '../with-library.ts';

export interface Searched {
  steps: number;
  jobs: number;
  open: Adoption<ListedJob>['open'];
}

/** Finds paid jobs that no lock contains, and records each job at the step with the same request. */
export async function adopt(
  campaign: OpenCampaign,
  { onLooked }: { onLooked?: ((looked: Searched) => void) | undefined },
  options: DecideOptions = {},
): Promise<Decided> {
  const { service, notify } = campaign;
  return decide(campaign, { ...options, service }, async (held) => {
    const unbought = held.situation.matches.filter(isUnbought);
    warnUnlisted(unbought, notify);
    const listable = unbought.filter(({ step }) => kinds[step.kind]?.list !== undefined);
    const jobs = listable.length === 0 ? [] : await listUnknown(campaign, held.lock, listable);
    const { adopted, open } = matchListed(listable, jobs, fieldsOf);
    onLooked?.({ steps: listable.length, jobs: jobs.length, open });
    return ruleEach(adopted, held);
  });
}

function warnUnlisted(unbought: readonly Match[], notify: Notify): void {
  const without = unbought.filter(({ step }) => {
    const kind = kinds[step.kind];
    return kind?.act === 'job' && kind.list === undefined;
  });
  const names = [...new Set(without.map(({ step }) => step.kind))].sort();
  if (names.length === 0) return;
  const replayed = names.filter((name) => kinds[name]?.recovery === 'replay');
  const way =
    replayed.length === 0
      ? ''
      : `; apply finds ${replayed.join(' and ')} jobs of the last 24 hours by their idempotency keys`;
  const text = `the service cannot list ${names.join(' and ')} jobs${way}. \`adopt ADDRESS --job ID\` records a job by its id`;
  notify({ is: 'notice', text });
}

async function listUnknown(campaign: OpenCampaign, lock: Lock, listable: readonly Match[]): Promise<ListedJob[]> {
  const { paths, sandbox } = campaign;
  const others = await requireOtherLocks(paths, { sandbox, mayHave: 'any of the jobs', done: 'recorded' });
  const known = jobIdsOf([lock, ...others.map((other) => other.lock)]);
  const names = [...new Set(listable.map(({ step }) => step.kind))];
  const limit = mostLookedThrough;
  const listed = await withLibraryOf(campaign, ({ library }) => listJobs(library, names, { limit }));
  return listed.filter(({ jobId, status }) => !known.has(jobId) && status !== envelope.states.failed);
}

function ruleEach(found: readonly { match: Match; job: ListedJob }[], { graph, lock }: Session): Ruling[] {
  const used = new Set<string>();
  const priceOf = pricesFrom(lock, graph.prices);
  return found.map(({ match, job }) => {
    if (used.has(job.jobId))
      return refuse(
        match.step.address,
        `cannot adopt job ${job.jobId}, which another step adopts`,
        'each job can be adopted by only one step',
      );
    used.add(job.jobId);
    const { credits: listed, ...facts } = job;
    const credits = listedCharge(listed, priceOf(match.step.kind, match.step.request));
    return importJob(match, { ...facts, ...defined({ credits }) }, { campaign: graph.name, lock });
  });
}

export interface ImportedJob {
  address: string;
  job: string;
  /** Credits charged for the job. Required if the service does not report the charge. */
  credits?: number | undefined;
  /** True to record the job without querying the service. */
  offline?: boolean | undefined;
}

/** Records a paid job for a step that has no job. */
export async function importStep(
  campaign: OpenCampaign,
  imported: ImportedJob,
  options: DecideOptions = {},
): Promise<Decided> {
  const { address, job, credits, offline } = imported;
  checkJob(job, credits);
  const { service } = campaign;
  return decide(campaign, { ...options, service }, async ({ graph, lock, situation }) => {
    const written = requireStep(address, graph);
    if (kinds[written.kind]?.status === undefined) {
      throw new CampaignError({
        code: 'MB3005',
        message: `${address} is of kind ${written.kind}, which has no jobs that can be adopted`,
        hint: 'choose a step whose kind has jobs at the service',
        addresses: [address],
      });
    }
    const match = mustGet(situation.byAddress, written.address);
    const context = { campaign: graph.name, lock };
    const given = { jobId: job, ...defined({ credits }) };
    const ruling = importJob(match, given, context);
    if (ruling.is !== 'recorded' || offline === true) return [ruling];
    const asked = await withLibraryOf(campaign, ({ library }) => askFor(match.step, job, library));
    if (isRuling(asked)) return [asked];
    const { credits: listed, ...facts } = asked;
    const charge = listedCharge(listed, pricesFrom(lock, graph.prices)(match.step.kind, match.step.request));
    return [importJob(match, { ...facts, ...defined({ credits: charge }), ...given }, context)];
  });
}

type Asked = { credits?: number; recordId?: string };

function isRuling(asked: Asked | Ruling): asked is Ruling {
  return 'is' in asked;
}

async function askFor({ address, kind }: Step, jobId: string, library: Library): Promise<Asked | Ruling> {
  const facts = await library.job(kind, jobId);
  if (facts === undefined) {
    return refuse(
      address,
      `cannot adopt job ${jobId}: the service has no ${kind} job with this id`,
      'check the id and the account of the job; --offline records the job without this check',
    );
  }
  if (facts.kind !== undefined && facts.kind !== kind) {
    return refuse(
      address,
      `is of kind ${kind}, and job ${jobId} is of kind ${facts.kind}`,
      `adopt the job for a step of kind ${facts.kind}`,
    );
  }
  if (facts.status === envelope.states.failed) {
    const why = facts.error === undefined ? '' : `: ${facts.error}`;
    return refuse(
      address,
      `cannot adopt job ${jobId}: the job failed${why}`,
      'the next apply buys the step; --offline records the failed job anyway',
    );
  }
  if (kinds[kind]?.list === undefined) return facts.credits === undefined ? {} : { credits: facts.credits };
  const listed = (await library.jobs(kind, { limit: mostLookedThrough })).find((one) => one.jobId === jobId);
  const credits = facts.credits ?? listed?.credits;
  const recordId = listed?.recordId;
  return defined({ credits, recordId });
}

function isUnbought({ purchase, sharesJobOf, movedFrom, step }: Match): boolean {
  if (sharesJobOf !== undefined || movedFrom !== undefined || step.decided?.wanted !== undefined) return false;
  return purchase === undefined || ['refused', 'intent', 'unresolved', 'lost'].includes(purchase.state);
}

function jobIdsOf(locks: Iterable<Lock>): Set<string> {
  const ids = new Set<string>();
  for (const { steps } of locks) {
    for (const { purchases } of steps.values())
      for (const { jobId } of purchases) if (jobId !== undefined) ids.add(jobId);
  }
  return ids;
}

function fieldsOf(kind: string): readonly string[] {
  return Object.keys(kinds[kind]?.list?.echoes ?? {});
}

interface Resolution {
  address: string;
  /** Result of the user's check at the service. If undefined, `resolve` throws an error with the commands to use. */
  finding: Finding | undefined;
  /** ID of the create request. Required if the step has more than one unresolved create request. */
  send?: string | undefined;
}

/** Records what a user found out about a create request whose answer was lost. */
export async function resolve(
  campaign: OpenCampaign,
  found: Resolution,
  options: DecideOptions = {},
): Promise<Decided> {
  const { address, finding, send } = found;
  if (finding?.is === 'job') checkJob(finding.jobId, finding.credits);
  const { replays, accountOf } = campaign;
  return decide(campaign, options, ({ lock }) => {
    const facts = { replays, accountOf, now: Date.now() };
    const ruling = ruleOnSend(address, {
      ...{ lock, finding, send },
      canBeAskedFor: (open) => open.request !== undefined && settlingOf(open, facts).by === 'replay',
    });
    if (ruling === undefined) throw noJobFound(address);
    return [ruling];
  });
}

function noJobFound(address: string): CampaignError {
  return new CampaignError({
    code: 'MB3405',
    message: `the outcome of the create request of ${address} is unknown: look for its job in the service's dashboard`,
    hint: [
      'if the dashboard shows the job, add --job and the job id',
      way('if the dashboard does not show the job', call('resolve', address, '--not-spent')),
      way('to buy the step in any case', call('resolve', address, '--spend-again')),
    ],
    address,
  });
}
