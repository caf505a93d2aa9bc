import { join } from 'node:path';
import { systemClock } from '../../contract/clock.ts';
import { ServiceError } from '../../contract/errors.ts';
import { CampaignError, isDefect } from '../../contract/failure.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { forgetBegunLock, hasBegunSo } from '../../disk/lock/seen-lock.ts';
import { noteNewLock } from '../../disk/state/spending-files.ts';
import type { Graph } from '../../graph/graph.ts';
import { type Advice, call, type Shell, shell, way } from '../../ground/advice.ts';
import { messageOf } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Lock } from '../../lock/record.ts';
import { countJobs } from '../../lock/sends.ts';
import { isSpending } from '../../plan/actions.ts';
import type { Plan } from '../../plan/plan.ts';
import { situate } from '../../plan/situation/situation.ts';
import { countOf } from '../../report/numbers.ts';
import type { ListedJob } from '../../service/library.ts';
import { hasKey } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { findForgotten } from './older-lock.ts';
import type { OtherLock } from './other-locks.ts';
import { findTraces, type Traces } from './traces.ts';
import { requireOwnLock, shownPath } from './whose-lock.ts';

interface Question {
  graph: Graph;
  lock: Lock;
  plan: Plan;
  /** Whether a person says that a lock of its own begins here, and that everything is bought for it. */
  isNew: boolean;
}

/**
 * Ends a plan by somebody else's lock, and tells where this campaign's own seems to be lost. Nobody is asked over the
 * network.
 */
export async function tellLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const found = await findLoss(campaign, question, { isTold: true });
  if (found === undefined || found.traces.heals) return; // I40 (told)
  const { message, hint } = describe(campaign, { ...found, listed: [] });
  campaign.tell({ is: 'notice', code: 'MB3409', text: `${message}; apply would end with exit code 65`, hint });
}

/**
 * Ends a run that would buy anew what was bought before, as far as anything but the lost lock knows: files, the history of
 * this machine, git, and the service's lists, which are looked through once.
 */
export async function refuseLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const found = await findLoss(campaign, question);
  if (question.isNew) {
    await forgetBegunLock(campaign.paths.lock);
    if (!campaign.sandbox) await noteNewLock(campaign.paths.lock, systemClock.now());
  }
  if (found === undefined) return;
  const { traces, others } = found;
  const listed = others === undefined ? [] : await findListed(campaign, question, others);
  if (traces.heals && listed.length === 0) return;
  const { message, hint } = describe(campaign, { ...found, listed });
  throw new CampaignError({
    code: 'MB3409',
    message,
    hint,
    lock: shownPath(campaign.paths.lock),
    ...(traces.files.length > 0 && { files: traces.files }),
    jobs: listed.length,
    ...(listed.length > 0 && { credits: creditsOf(listed) }),
  });
}

/** `others`: the other locks of the tree, where the campaign's own tells of nothing, or only of what was brought back. */
interface Loss {
  traces: Traces;
  tells: 'nothing' | 'what was brought back' | 'something older';
  others?: readonly OtherLock[];
}

/** `isTold`: nothing is bought, so that what cannot be read ends nothing. */
async function findLoss(
  campaign: OpenCampaign,
  question: Question,
  { isTold = false } = {},
): Promise<Loss | undefined> {
  const { lock, plan, isNew } = question;
  const jobs = countJobs(lock);
  const others = await findOthers(campaign, question);
  const forgotten = await findForgotten(campaign, plan).catch((error: unknown) => {
    if (!isTold || isDefect(error)) throw error;
    return undefined;
  });
  if (others !== undefined) {
    const traces = joinTraces(await findTraces(campaign, { ...question, others }), forgotten);
    return { traces, others, tells: jobs > 0 ? 'what was brought back' : 'nothing' };
  }
  if (!isNew) return forgotten && { traces: forgotten, tells: 'something older' };
  if (jobs > 0 && forgotten === undefined && !(await hasBegunSo(campaign.paths.lock))) {
    const text = `--new has no part in this: ${shownPath(campaign.paths.lock)} tells of ${countOf(jobs, 'job')}, and goes on`;
    campaign.tell({ is: 'notice', text });
  }
  return undefined;
}

function joinTraces(traces: Traces, forgotten: Traces | undefined): Traces {
  if (forgotten === undefined) return traces;
  const known = new Set(traces.bought.map(({ address }) => address));
  const bought = [...traces.bought, ...forgotten.bought.filter(({ address }) => !known.has(address))];
  return { ...traces, bought, heals: false };
}

/**
 * The other locks of the tree; undefined where nothing is bought, or the lock knows what was. One that began with what a
 * person brought back knows that alone.
 */
async function findOthers(
  campaign: OpenCampaign,
  { graph, lock, plan, isNew }: Question,
): Promise<readonly OtherLock[] | undefined> {
  const jobs = countJobs(lock);
  const isBegun = jobs > 0 && (await hasBegunSo(campaign.paths.lock));
  if (isNew || (jobs > 0 && !isBegun)) return undefined; // I40 (begun)
  const others = await requireOwnLock(campaign, { graph, lock });
  const buys = plan.rows.some(
    ({ action, kind, later }) => later !== undefined || (isSpending(action) && kinds[kind]?.recovery !== 'again'),
  );
  return buys ? others : undefined;
}

/** Jobs that `adopt` would bring back. */
async function findListed(
  campaign: OpenCampaign,
  { graph, lock }: Question,
  others: readonly OtherLock[],
): Promise<readonly ListedJob[]> {
  const { sandbox, environment, paths } = campaign;
  // A run that cannot ask ends by that; a sandbox that never ran knows nothing.
  const canAsk = sandbox
    ? lstatOrAbsent(join(paths.state, 'sandbox')) !== undefined
    : environment.baseUrl !== undefined && hasKey(environment);
  if (!canAsk) return []; // I40 (lists)
  const { findListedPurchases, jobIdsOf } = await import('../listed-purchases.ts');
  const { adoption } = await findListedPurchases(campaign, situate(graph, lock).matches, {
    known: async () => jobIdsOf(others.map((one) => one.lock)),
    onUnread(kind, error) {
      if (!isSilent(error)) throw error;
      const text = `the service's list of ${kind} jobs does not tell whether one was bought before: ${messageOf(error)}`;
      campaign.tell({ is: 'notice', text });
    },
  });
  const shared = adoption.open.flatMap(({ jobs }) => jobs.filter(({ likeness }) => likeness === 'exact'));
  const found = [...adoption.adopted, ...shared].map(({ job }) => [`${job.kind} ${job.jobId}`, job] as const);
  return [...new Map(found).values()];
}

/** Whether a service never tells: it has no such list, or one of another form. The next run asks one that is away. */
function isSilent(error: unknown): boolean {
  return error instanceof ServiceError && (error.why === 'unusable' || error.why === 'refused' || error.status === 501);
}

const mostNamed = 3;

function describe(
  { file, paths }: OpenCampaign,
  { traces, listed, tells }: Loss & { listed: readonly ListedJob[] },
): { message: string; hint: Advice } {
  const { files, bought, committed, wrote } = traces;
  const lock = shownPath(paths.lock);
  const isThere = lstatOrAbsent(paths.lock) !== undefined;
  const found = [
    ...(committed ? [`${commitName(committed)} has it, with ${countOf(committed.jobs, 'job')}`] : []),
    ...(files.length > 0
      ? [
          `${countOf(files.length, 'file')} ${files.length === 1 ? 'lies' : 'lie'} where its steps save (${namesOf(files)})`,
        ]
      : []),
    ...(bought.length > 0 ? [`runs on this machine bought ${namesOf(bought.map(({ address }) => address))}`] : []),
    ...(wrote ? ['this machine wrote one that is gone'] : []),
    ...(listed.length > 0 ? [`the service lists ${countOf(listed.length, 'job')} with exactly its requests`] : []),
  ];
  const isPart = tells !== 'nothing';
  const knows = {
    nothing: 'tells of no purchase',
    'what was brought back': 'tells only of what was brought back',
    'something older': 'seems to be an older version of itself',
  }[tells];
  const lacks = isThere ? `${lock} ${knows}` : `${file} has no lock`;
  return {
    message: `${lacks}, and ${isPart ? 'the rest ' : ''}seems to have been bought before: ${found.join('; ')}`,
    hint: wayOn(lock, { traces, listed }),
  };
}

function wayOn(lock: string, { traces, listed }: { traces: Traces; listed: readonly ListedJob[] }): Advice {
  const { committed, bought } = traces;
  const isKnown = listed.every(({ credits }) => credits !== undefined);
  const cost = `${countOf(creditsOf(listed), 'credit')}${isKnown ? '' : ' and more'}`;
  const adopts =
    listed.length > 0
      ? `to bring back ${countOf(listed.length, 'job')} (${cost})`
      : 'to look for what the service lists';
  const [job] = bought.filter(({ jobId }) => jobId !== undefined);
  return [
    committed
      ? way('was the lock lost? To bring it back', restoring(committed, lock))
      : 'was the lock lost? Put it back where there is a copy',
    way(`else ${adopts}`, call('adopt')),
    ...(job?.jobId === undefined ? [] : [way('to record a job by its id', call('import', job.address, job.jobId))]),
    way('when it was never bought, or all of it is to be bought again', call('apply', '--new')),
  ];
}

function commitName({ commit }: NonNullable<Traces['committed']>): string {
  return commit === 'HEAD' ? 'the last commit' : `the commit ${commit}, before it was removed,`;
}

function restoring({ commit }: NonNullable<Traces['committed']>, lock: string): Shell {
  return shell('git', 'restore', ...(commit === 'HEAD' ? [] : [`--source=${commit}`]), lock);
}

/** Credits that jobs cost, as far as the list says. */
function creditsOf(listed: readonly ListedJob[]): number {
  return listed.reduce((sum, { credits = 0 }) => sum + credits, 0);
}

function namesOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}
