import { basename, dirname, join } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { lstatOrAbsent } from '../disk/fs/plain-file.ts';
import { readVersions } from '../disk/git/git-command.ts';
import { findForeignFiles, mayBeOutput } from '../disk/outputs/check-places.ts';
import { hashFile } from '../disk/outputs/hash-file.ts';
import { hasOtherAccount, journalName, readPurchases } from '../disk/state/purchase-journal.ts';
import type { Graph } from '../graph/graph.ts';
import { type Advice, call, shell, way } from '../ground/advice.ts';
import { isFreelyRepeated, kinds } from '../kinds/index.ts';
import { joinInto, joinLocks } from '../lock/join.ts';
import { readLock } from '../lock/read.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';
import { countJobs, isJob, isOpenSend, mayBeCharged } from '../lock/sends.ts';
import { emptyLock } from '../lock/write.ts';
import { isCharged, isSpending } from '../plan/actions.ts';
import { restoredText } from '../plan/assemble.ts';
import { asForgotten } from '../plan/decisions/forget.ts';
import type { Plan, PlanRow, StepOrder } from '../plan/plan.ts';
import { isPost } from '../plan/posts/post-record.ts';
import { wantedPath } from '../plan/select/names.ts';
import { situate } from '../plan/situation/situation.ts';
import { countOf } from '../report/numbers.ts';
import { shortList } from '../report/safe-text.ts';
import { findLocks } from './find-locks.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { planByLock } from './outputs-on-disk.ts';
import { shownPath } from './paths.ts';
import { type LoadedLock, requireLock } from './read-lock.ts';

export interface RestoredLock extends LoadedLock {
  /** IDs of jobs and create requests that were restored from the journal. Omitted if nothing was restored. */
  restored?: ReadonlySet<string>;
  /** True if the lock file is missing or has no jobs: all jobs of `lock` were restored from the journal. */
  isEmpty: boolean;
}

/** Returns the journal's name for a service, account and campaign. Undefined in the sandbox or without an API key. */
export function nameOfPurchases(
  { sandbox, service, accountOf }: Pick<OpenCampaign, 'sandbox' | 'service' | 'accountOf'>,
  campaign: string,
): string | undefined {
  if (sandbox || service === undefined) return undefined;
  const text = `purchases ${service} ${campaign}`;
  const account = accountOf(text);
  return account === undefined ? undefined : journalName(text, account);
}

export async function readLocalSends(campaign: OpenCampaign, graph: Graph, lock: Lock) {
  const name = nameOfPurchases(campaign, graph.name);
  const isAsked = [...lock.steps.values()].some(({ purchases }) => purchases.some(isOpenSend));
  const records = name === undefined || !isAsked ? [] : await readPurchases(name, () => false);
  return new Map(
    records.flatMap(({ purchases }) =>
      purchases.filter(isOpenSend).map(({ send, since }) => [send, Date.parse(since ?? '')] as const),
    ),
  );
}

export type LockTerms = NonNullable<Parameters<typeof requireLock>[2]> & {
  service?: string | undefined;
  new?: boolean | undefined;
};

/**
 * Reads the lock, and restores missing jobs from this machine's purchase journal. Writes nothing. With `new`, restored
 * jobs are marked as forgotten, except posts and unresolved create requests.
 */
export async function requireRestoredLock(
  campaign: OpenCampaign,
  graph: Graph,
  options: LockTerms = {},
): Promise<RestoredLock> {
  const { lock, ...read } = await requireLock(campaign, options.service, options);
  const name = nameOfPurchases(campaign, graph.name);
  const loaded = { ...read, isEmpty: countJobs(lock) === 0 };
  if (name === undefined) return { ...loaded, lock };
  const lacking = await findRestorable(name, graph, lock);
  if (lacking.length === 0) {
    if (loaded.isEmpty && options.new !== true && hasOtherAccount(name)) warnOtherKey(campaign);
    return { ...loaded, lock };
  }
  const joined = joinLocks(lock, lockOf(lacking));
  const restored = idsOf(joined);
  for (const id of idsOf(lock)) restored.delete(id);
  if (restored.size === 0) return { ...loaded, lock: joined };
  if (options.new !== true) {
    const text = `${countOf(restored.size, 'purchase')} that the lock does not have ${restored.size === 1 ? 'is' : 'are'} ${restoredText}, for 0 credits`;
    campaign.notify({ is: 'notice', text });
    return { ...loaded, lock: joined, restored, isLonger: true }; // I40 (restored)
  }
  warnForgotten(campaign, lacking, restored);
  return { ...loaded, lock: joinLocks(lock, lockOf(forgetAt(graph, lacking))), isLonger: true };
}

function warnOtherKey({ notify }: Pick<OpenCampaign, 'notify'>): void {
  notify({
    is: 'notice',
    text: "the lock has no purchases. This machine's purchase journal has purchases of this campaign that were made with another API key and are not restored",
    hint: [
      'if the key was replaced, restore the lock from git or a copy',
      way('or record the jobs that the service lists', call('adopt')),
    ],
  });
}

async function findRestorable(name: string, graph: Graph, lock: Lock): Promise<StepRecord[]> {
  // Jobs of different kinds may have equal IDs, so some known jobs are read again, which is harmless.
  const keys = new Map<string, string>();
  for (const { purchases } of lock.steps.values()) {
    for (const one of purchases) if (isJob(one)) keys.set(one.jobId, one.key);
  }
  const records = await readPurchases(name, (key, jobId) => keys.get(jobId) === key);
  if (records.length === 0) return [];
  const jobs = [...lock.steps.values()].flatMap(({ purchases }) => purchases.filter(isJob));
  const bought = new Set(jobs.map(({ key }) => key));
  const addresses = new Set(graph.steps.map(({ address }) => address));
  // A job with the same idempotency key resolves an unresolved create request, even if another client recorded the job.
  const isLacking = (one: Purchase) => !(mayBeCharged(one) && bought.has(one.key));
  const wantedBy = (fingerprints: ReadonlySet<string>) =>
    records.flatMap((record): StepRecord[] => {
      const isOut = isPost(record.kind) && addresses.has(record.address);
      const purchases = record.purchases.filter(
        (one) => (isOut || fingerprints.has(one.fingerprint)) && isLacking(one),
      );
      return purchases.length === 0 && record.closes === undefined ? [] : [{ ...record, purchases }];
    });
  const own = new Set(graph.steps.map(({ fingerprint }) => fingerprint));
  const found = wantedBy(own);
  if ((graph.gates ?? []).length === 0) return found;
  // The requests of later steps contain picked outputs, so their purchases are found only after the picks are applied.
  const decided = situate(graph, joinLocks(lock, lockOf(found))).matches;
  return wantedBy(new Set([...own, ...decided.map(({ step }) => step.fingerprint)]));
}

function lockOf(records: readonly StepRecord[]): Lock {
  const lock = emptyLock();
  for (const record of records) joinInto(lock.steps, record);
  return lock;
}

function idsOf({ steps }: Lock): Set<string> {
  const made = [...steps.values()].flatMap(({ purchases }) => purchases);
  return new Set(made.flatMap((one) => (isJob(one) ? one.jobId : mayBeCharged(one) ? one.send : [])));
}

function forgetAt(graph: Graph, records: readonly StepRecord[]): StepRecord[] {
  const addressOf = new Map(graph.steps.map(({ fingerprint, address }) => [fingerprint, address]));
  return records.flatMap((record) =>
    record.purchases.map((one) => {
      const isLasting = isPost(record.kind) || mayBeCharged(one);
      const address = isLasting ? record.address : (addressOf.get(one.fingerprint) ?? record.address);
      return { ...record, address, purchases: [isLasting ? one : asForgotten(one)] };
    }),
  );
}

function warnForgotten(
  { notify }: Pick<OpenCampaign, 'notify'>,
  records: readonly StepRecord[],
  restored: ReadonlySet<string>,
): void {
  const jobs = records.flatMap(({ kind, purchases }) =>
    isPost(kind) ? [] : purchases.filter(isJob).filter(({ jobId }) => restored.has(jobId)),
  );
  if (jobs.length === 0) return;
  const credits = jobs.reduce((sum, one) => sum + (one.credits ?? 0), 0);
  const text = `--new ignores ${countOf(jobs.length, 'job')} of ${countOf(credits, 'credit')} that this machine's purchase journal could restore for 0 credits; the plan buys these steps again`;
  notify({ is: 'notice', text });
}

interface Question {
  loaded: RestoredLock;
  graph: Graph;
  plan: Plan;
  isNew: boolean;
}

const mostNamed = 3;

export async function warnLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const lost = await findLoss(campaign, question);
  if (lost === undefined) return;
  const { message, hint } = lost;
  campaign.notify({ is: 'notice', code: 'MB3409', text: `${message}; apply would end with exit code 65`, hint });
}

/** Throws MB3409 if a lock without jobs is incomplete: git has a version with jobs, or outputs of its steps exist. */
export async function refuseLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const lost = await findLoss(campaign, question);
  if (lost === undefined) return;
  const { message, hint, files, jobs } = lost;
  const lock = shownPath(campaign.paths.lock);
  throw new CampaignError({ code: 'MB3409', message, hint, lock, jobs, ...(files.length > 0 && { files }) });
}

/** Throws MB3409 if all jobs were restored from the journal, because a decision would write an incomplete lock. */
export function refuseRestored({ paths }: OpenCampaign, { lock, isEmpty, restored }: RestoredLock): void {
  if (!isEmpty || restored === undefined) return;
  throw new CampaignError({
    code: 'MB3409',
    message: `cannot record a decision: ${lossOf(paths.lock)}, and its purchases are only in this machine's purchase journal`,
    hint: [
      'restore the lock from git or from a copy',
      way('or restore the lock from the journal', call('apply')),
      'then run the command again',
    ],
    lock: shownPath(paths.lock),
    jobs: countJobs(lock),
  });
}

/** Returns evidence that an empty lock has lost jobs: existing outputs, or an earlier lock in git. */
export async function findLoss(
  campaign: OpenCampaign,
  { loaded, graph, plan, isNew }: Omit<Question, 'plan'> & Partial<Question>,
  adopted: readonly StepRecord[] = [],
) {
  const { isEmpty, restored, lock } = loaded;
  if (isNew || !isEmpty) return undefined; // I40 (lost)
  const planWhole = () =>
    planByLock(campaign, situate({ ...graph, budget: undefined }, joinLocks(lock, lockOf(adopted))));
  const made = plan ?? planWhole();
  const isBought = (row: PlanRow) => row.later !== undefined || (isSpending(row.action) && !isFreelyRepeated(row.kind));
  // A run that only downloads writes the restored jobs to a new lock, and the next run would pay for missing jobs.
  if (restored === undefined && !made.rows.some(isBought)) return undefined;
  const name = nameOfPurchases(campaign, graph.name);
  // The journal is read once more, because another run may have created the outputs after the lock was read.
  const records = name === undefined ? [] : await readPurchases(name, () => false);
  const known = [...records, ...adopted].flatMap(({ purchases }) => purchases);
  const planned = new Set(made.rows.flatMap(({ address, action }) => (action === 'blocked' ? [] : [address])));
  const whole = graph.steps.every(({ address }) => planned.has(address)) ? made : planWhole(); // I40 (left out)
  const files = await findFiles(campaign, { plan: whole, known }); // I40 (files)
  const inGit = await findInGit(campaign, known); // I40 (git)
  if (files.length === 0 && inGit === undefined) return undefined;
  const exist = `${countOf(files.length, 'output')} ${files.length === 1 ? 'exists' : 'exist'}`;
  const found = [
    ...(inGit === undefined ? [] : [`${inGit.name} has a version of the lock with ${countOf(inGit.jobs, 'job')}`]),
    ...(files.length === 0 ? [] : [`${exist} (${shortList(files, mostNamed)})`]),
  ];
  const unknown = known.length === 0 ? '' : "; this machine's purchase journal does not contain the missing jobs";
  const restore: Advice =
    inGit === undefined ? ['restore the lock from a copy'] : [way('restore the lock', inGit.restore)];
  return {
    message: `nothing can be bought: ${lossOf(campaign.paths.lock)}, but ${found.join(', and ')}${unknown}. Nothing was sent`,
    hint: [
      ...restore,
      // After an adoption, the service lists none of the jobs that are still missing.
      ...(adopted.length > 0 ? [] : [way('or record the jobs that the service lists, for 0 credits', call('adopt'))]),
      'or record unlisted jobs by id: `adopt ADDRESS --job ID`',
      way('or buy everything again', call('apply', '--new')),
    ] as Advice,
    files,
    jobs: inGit?.jobs ?? 0,
  };
}

/**
 * Returns existing files at the paths of planned steps. Ignores files that the journal contains, and files that another
 * lock records for another request.
 */
async function findFiles(
  campaign: OpenCampaign,
  { plan, known }: { plan: Plan; known: readonly Purchase[] },
): Promise<string[]> {
  const { paths, sandbox } = campaign;
  // Steps with a job are ignored, because another run may have saved the file after the plan was made.
  const answered = new Set(known.flatMap((one) => (isJob(one) && one.forgotten !== true ? [one.key] : [])));
  const isBought = (order: StepOrder) =>
    order.save !== '' && isCharged(order) && !isFreelyRepeated(order.kind) && !answered.has(order.key);
  const orders = new Map(
    plan.rows.flatMap(({ address, order }) => (order && isBought(order) ? [[address, order] as const] : [])),
  );
  const saves = [...orders].map(([address, order]) => ({ address, save: wantedPath(order, 0) }));
  const found = (await findForeignFiles(paths.outputs, saves, () => false)).filter(({ address, path }) => {
    const media = kinds[orders.get(address)?.kind ?? '']?.media ?? 'none';
    return media !== 'none' && mayBeOutput(paths.outputs, path, media);
  });
  if (found.length === 0) return [];
  const others = (await findLocks(paths.folder, { sandbox })).filter(({ path }) => path !== paths.lock);
  const records = others.flatMap(({ reading }) => [...(reading?.lock.steps.values() ?? [])]);
  const ours = requestsByFile(known);
  const theirs = requestsByFile(records.flatMap(({ purchases }) => purchases));
  const files: string[] = [];
  for (const { address, path } of found) {
    const file = `${(await hashFile(join(paths.outputs, path)))?.sha256} ${path}`;
    const isOfAnother = theirs.get(file)?.has(orders.get(address)?.fingerprint ?? '') === false;
    if (!ours.has(file) && !isOfAnother) files.push(path);
  }
  return files;
}

function requestsByFile(purchases: readonly Purchase[]): Map<string, Set<string>> {
  const requests = new Map<string, Set<string>>();
  for (const { fingerprint, outputs = [] } of purchases) {
    for (const { sha256, path } of outputs) {
      const file = `${sha256} ${path}`;
      requests.set(file, (requests.get(file) ?? new Set()).add(fingerprint));
    }
  }
  return requests;
}

async function findInGit({ paths }: OpenCampaign, known: readonly Purchase[]) {
  const ids = new Set(known.flatMap((one) => (isJob(one) ? [one.key, one.jobId] : [one.key])));
  const [lock, folder] = [shownPath(paths.lock), dirname(paths.lock)];
  const versions = await readVersions(folder, basename(paths.lock));
  for (const { bytes, source } of versions) {
    const version = readLock(paths.lock, bytes).lock;
    const steps = [...version.steps].map(([address, record]) => {
      const purchases = record.purchases.filter((one) => !ids.has(isJob(one) ? one.jobId : one.key));
      return [address, { ...record, purchases }] as const;
    });
    const jobs = countJobs({ ...version, steps: new Map(steps) });
    if (jobs === 0) continue;
    const restored = source === 'index' ? [lock] : [`--source=${source}`, lock];
    const name = source === 'index' ? 'git' : source === 'HEAD' ? 'the last commit' : `commit ${source}`;
    return { jobs, name, restore: shell('git', 'restore', ...restored) };
  }
  return undefined;
}

function lossOf(lock: string): string {
  return `the lock ${shownPath(lock)} ${lstatOrAbsent(lock) === undefined ? 'does not exist' : 'has no purchases'}`;
}
