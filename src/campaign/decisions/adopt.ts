import { relative } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import type { Tell } from '../../contract/notice.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { envelope } from '../../kinds/envelope.ts';
import { kinds } from '../../kinds/index.ts';
import type { Lock } from '../../lock/record.ts';
import { advise, call } from '../../plan/advice.ts';
import { importJob } from '../../plan/import-job.ts';
import { type Match, matchSteps } from '../../plan/match.ts';
import { type Adoption, matchListed } from '../../plan/match-listed.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import type { Library, ListedJob } from '../../service/library.ts';
import { mostLookedThrough } from '../../service/list-jobs.ts';
import { type Decided, type DecideOptions, decide, type HeldCampaign } from '../decide.ts';
import { findLocks } from '../find-locks.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { withLibraryOf } from '../with-library.ts';

/** Counts of steps and jobs compared, and the choices that only a person can make. */
export interface LookedAt {
  steps: number;
  jobs: number;
  /** Steps that several jobs fit, or jobs that fit only nearly. */
  open: Adoption<ListedJob>['open'];
}

/** Finds paid jobs that no lock knows, and gives them to the steps with exactly that request. `jobs`: these, where several fit. */
export async function adopt(
  campaign: OpenCampaign,
  choice: { jobs?: readonly string[] | undefined; onLooked?: ((looked: LookedAt) => void) | undefined },
  options: DecideOptions = {},
): Promise<Decided> {
  const { service, tell } = campaign;
  return decide(campaign, { ...options, service }, async (held) => {
    const unbought = matchSteps(held.graph, held.lock).filter(isUnbought);
    tellUnlisted(unbought, tell);
    const listable = unbought.filter(({ step }) => kinds[step.kind]?.list !== undefined);
    const jobs = await findUnknownJobs(listable, held);
    const adoption = matchListed(listable, jobs, fieldsOf);
    const chosen = chooseJobs(adoption, jobs, choice.jobs ?? []);
    const open = adoption.open.filter(({ match }) => !chosen.some((one) => one.match === match));
    choice.onLooked?.({ steps: listable.length, jobs: jobs.length, open });
    return ruleEach([...adoption.adopted, ...chosen], held);
  });
}

/** Nobody has paid for it yet, as far as this lock knows. */
function isUnbought({ purchase, sharesJobOf, movedFrom, step }: Match): boolean {
  if (sharesJobOf !== undefined || movedFrom !== undefined || step.decided?.wanted !== undefined) return false;
  return purchase === undefined || ['refused', 'intent', 'unresolved', 'lost'].includes(purchase.state);
}

function fieldsOf(kind: string): readonly string[] {
  return Object.keys(kinds[kind]?.list?.echoes ?? {});
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

async function findUnknownJobs(listable: readonly Match[], { lock, campaign }: HeldCampaign): Promise<ListedJob[]> {
  const names = [...new Set(listable.map(({ step }) => step.kind))];
  if (names.length === 0) return [];
  const known = await knownJobs(lock, campaign);
  const listed = await withLibraryOf(campaign, ({ library }) => listAll(library, names));
  return listed.filter(({ jobId, status }) => !known.has(jobId) && status !== envelope.states.failed);
}

async function listAll(library: Library, names: readonly string[]): Promise<ListedJob[]> {
  const listed: ListedJob[] = [];
  for (const name of names) listed.push(...(await library.jobs(name, { limit: mostLookedThrough })));
  return listed;
}

/** Job ids in this lock and all others of the folder. Throws for one that cannot be read: it may own any job. */
async function knownJobs(lock: Lock, { paths, sandbox }: OpenCampaign): Promise<Set<string>> {
  const known = new Set<string>();
  const add = ({ steps }: Lock) => {
    for (const { purchases } of steps.values())
      for (const { jobId } of purchases) if (jobId !== undefined) known.add(jobId);
  };
  add(lock);
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
    add(reading.lock);
  }
  return known;
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
        hint: '`import` gives a step any job that is paid; nothing was recorded',
        name: id,
      });
    }
    if (!isSameRequest || (second !== undefined && first.match.step.take === undefined)) {
      throw new CampaignError({
        code: 'MB3005',
        message: `--job ${id} fits ${first.match.step.address} and ${second?.match.step.address ?? 'others'}`,
        hint: advise`say which, as in ${call('import', first.match.step.address, id)}; nothing was recorded`,
        addresses: fitting.map(({ match }) => match.step.address),
      });
    }
    taken.add(first.match);
    return [{ match: first.match, job }];
  });
}

function ruleEach(found: readonly { match: Match; job: ListedJob }[], { graph, lock }: HeldCampaign): Ruling[] {
  const used = new Set<string>();
  return found.map(({ match, job }) => {
    if (used.has(job.jobId))
      return refuse(match.step.address, `cannot have job ${job.jobId} too`, 'one job is of one step');
    used.add(job.jobId);
    return importJob(match, job, { campaign: graph.name, lock });
  });
}
