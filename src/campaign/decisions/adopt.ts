import { relative } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import type { Tell } from '../../contract/notice.ts';
import { call, way } from '../../ground/advice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { kinds } from '../../kinds/index.ts';
import type { Lock } from '../../lock/record.ts';
import { importJob } from '../../plan/decisions/import-job.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { listedCharge, pricesFrom } from '../../plan/prices/prices.ts';
import type { Adoption } from '../../plan/purchases/match-listed.ts';
import type { Match } from '../../plan/situation/find-purchases.ts';
import type { ListedJob } from '../../service/library.ts';
import { checkCall } from '../check-call.ts';
import { type Decided, type DecideOptions, decide, type HeldCampaign } from '../decide.ts';
import { findLocks } from '../find-locks.ts';
import { findListedPurchases, isUnbought, jobIdsOf } from '../listed-purchases.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Counts of steps and jobs compared, and the matches that only a person can choose. */
export interface LookedAt {
  steps: number;
  jobs: number;
  /** Steps that several jobs fit, or jobs that fit only nearly. */
  open: Adoption<ListedJob>['open'];
}

/**
 * Finds paid jobs that are in no lock, and records each at the step with exactly its request. `jobs`: the jobs to use
 * where several match.
 */
export async function adopt(
  campaign: OpenCampaign,
  choice: { jobs?: readonly string[] | undefined; onLooked?: ((looked: LookedAt) => void) | undefined },
  options: DecideOptions = {},
): Promise<Decided> {
  checkCall('adopt', [campaign, choice, options]);
  const { service, tell } = campaign;
  return decide(campaign, { ...options, service }, async (held) => {
    const unbought = held.situation.matches.filter(isUnbought);
    tellUnlisted(unbought, tell);
    const known = () => knownJobs(held.lock, campaign);
    const { listable, jobs, adoption } = await findListedPurchases(campaign, unbought, { known });
    const chosen = chooseJobs(adoption, jobs, choice.jobs ?? []);
    const open = adoption.open.filter(({ match }) => !chosen.some((one) => one.match === match));
    choice.onLooked?.({ steps: listable.length, jobs: jobs.length, open });
    return ruleEach([...adoption.adopted, ...chosen], held);
  });
}

function tellUnlisted(unbought: readonly Match[], tell: Tell): void {
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
      : `; apply finds ${replayed.join(' and ')} jobs of the last 24 hours by itself, by their keys`;
  const text = `the service has no list of its ${names.join(' and ')} jobs${way}. \`import\` takes an id`;
  tell({ is: 'notice', text });
}

/**
 * Job ids in this lock and in all other locks of the folder. Throws for a lock that cannot be read, because it may
 * contain any job.
 */
async function knownJobs(lock: Lock, { paths, sandbox }: OpenCampaign): Promise<Set<string>> {
  const locks = [lock];
  for (const { path, shown, reading } of await findLocks(paths.folder, { sandbox })) {
    if (path === paths.lock) continue;
    if (reading === undefined || hasErrors(reading.diagnostics)) {
      throw new CampaignError({
        code: 'MB3407',
        message: `${shown} cannot be read, and any of the jobs may be its own`,
        hint: `repair it, or move ${relative('', path) || path} away; nothing was recorded`,
        lock: shown,
      });
    }
    locks.push(reading.lock);
  }
  return jobIdsOf(locks);
}

/** Matches that a person chose among several candidates. */
function chooseJobs(
  { open }: Adoption<ListedJob>,
  jobs: readonly ListedJob[],
  ids: readonly string[],
): { match: Match; job: ListedJob }[] {
  const taken = new Set<Match>();
  return ids.flatMap((id) => {
    const fitting = open.filter(
      ({ match, jobs: found }) => !taken.has(match) && found.some(({ job }) => job.jobId === id),
    );
    const [first, second] = fitting;
    const job = jobs.find(({ jobId }) => jobId === id);
    const isSameRequest = second === undefined || second.match.step.task === first?.match.step.task;
    if (first === undefined || job === undefined) {
      throw new CampaignError({
        code: 'MB3002',
        message: `--job ${id}: it is not among the candidates`,
        hint: '`adopt ADDRESS --job ID` records any paid job at a step; nothing was recorded',
        name: id,
      });
    }
    if (!isSameRequest || (second !== undefined && first.match.step.take === undefined)) {
      throw new CampaignError({
        code: 'MB3005',
        message: `--job ${id} fits ${first.match.step.address} and ${second?.match.step.address ?? 'others'}`,
        hint: way('nothing was recorded; say which, as in', call('adopt', first.match.step.address, '--job', id)),
        addresses: fitting.map(({ match }) => match.step.address),
      });
    }
    taken.add(first.match);
    return [{ match: first.match, job }];
  });
}

function ruleEach(found: readonly { match: Match; job: ListedJob }[], { graph, lock }: HeldCampaign): Ruling[] {
  const used = new Set<string>();
  const priceOf = pricesFrom(lock, graph.prices);
  return found.map(({ match, job }) => {
    if (used.has(job.jobId))
      return refuse(match.step.address, `cannot have job ${job.jobId} too`, 'one job is of one step');
    used.add(job.jobId);
    const { credits: listed, ...facts } = job;
    const credits = listedCharge(listed, priceOf(match.step.kind, match.step.request));
    return importJob(match, { ...facts, ...(credits !== undefined && { credits }) }, { campaign: graph.name, lock });
  });
}
