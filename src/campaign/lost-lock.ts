import { basename, dirname, join, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { lstatOrAbsent } from '../disk/fs/plain-file.ts';
import { readVersions } from '../disk/git/git-command.ts';
import { hashFile } from '../disk/outputs/hash-file.ts';
import { findStrangers, mayBeOutput } from '../disk/outputs/outputs.ts';
import { readPurchases } from '../disk/state/purchase-journal.ts';
import { type Advice, call, shell, way } from '../ground/advice.ts';
import { isFreelyRepeated, kinds } from '../kinds/index.ts';
import { readLock } from '../lock/read.ts';
import type { Purchase } from '../lock/record.ts';
import { countJobs, isJob } from '../lock/sends.ts';
import { isCharged, isSpending } from '../plan/actions.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { wantedPath } from '../plan/select/names.ts';
import { countOf } from '../report/numbers.ts';
import { shortList } from '../report/safe-text.ts';
import { findLocks } from './find-locks.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { nameOfPurchases, type RestoredLock } from './restore-purchases.ts';

interface Question {
  /** Includes purchases restored from the purchase journal of this machine. */
  loaded: RestoredLock;
  plan: Plan;
  /** Whether the user asked to buy everything again for a new lock. */
  isNew: boolean;
}

const mostNamed = 3;

/** Reports, with a plan, a lost lock for which `apply` would end with `refuseLostLock`. */
export async function tellLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const lost = await findLoss(campaign, question);
  if (lost === undefined) return;
  const { message, hint } = lost;
  campaign.tell({ is: 'notice', code: 'MB3409', text: `${message}; apply would end with exit code 65`, hint });
}

/**
 * Throws MB3409 when the lock is missing or has no purchases, although git has one with purchases, or files exist where
 * steps that are to be bought save, and the journal of this machine does not have all of them.
 */
export async function refuseLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const lost = await findLoss(campaign, question);
  if (lost === undefined) return;
  const { message, hint, files, jobs } = lost;
  const lock = shownPath(campaign.paths.lock);
  throw new CampaignError({ code: 'MB3409', message, hint, lock, jobs, ...(files.length > 0 && { files }) });
}

/**
 * Throws MB3409 when all purchases of a lock are restored ones: a decision would write them as the lock, and later runs
 * would take a lock that lacks purchases of other machines as complete. `apply` and `adopt` write a restored lock.
 */
export function refuseRestored({ paths }: OpenCampaign, { lock, isAllRestored = false }: RestoredLock): void {
  if (!isAllRestored) return;
  const shown = shownPath(paths.lock);
  const lacks = lstatOrAbsent(paths.lock) === undefined ? 'does not exist' : 'has no purchases';
  const jobs = countJobs(lock);
  throw new CampaignError({
    code: 'MB3409',
    message: `nothing can be recorded in ${shown}: it ${lacks}, and its purchases are only in this machine's purchase journal`,
    hint: [
      way('put the lock back from git or a copy, or restore it from the journal', call('apply')),
      'then run the command again',
    ],
    lock: shown,
    jobs,
  });
}

async function findLoss(campaign: OpenCampaign, { loaded, plan, isNew }: Question) {
  const { isAllRestored = false, lock } = loaded;
  if (isNew || !(isAllRestored || countJobs(lock) === 0)) return undefined;
  const isBought = (row: PlanRow) => row.later !== undefined || (isSpending(row.action) && !isFreelyRepeated(row.kind));
  // A run that only collects writes what was restored, and the next run would buy what that lock lacks.
  if (!isAllRestored && !plan.rows.some(isBought)) return undefined;
  const name = nameOfPurchases(campaign, plan.campaign);
  const records = name === undefined ? [] : await readPurchases(name, () => false);
  const known = records.flatMap(({ purchases }) => purchases);
  const files = await findFiles(campaign, { plan, known }); // I40 (files)
  const inGit = await findInGit(campaign, known); // I40 (git)
  if (files.length === 0 && inGit === undefined) return undefined;
  const shown = shownPath(campaign.paths.lock);
  const lacks = lstatOrAbsent(campaign.paths.lock) === undefined ? 'does not exist' : 'has no purchases';
  const found = [
    ...(inGit === undefined ? [] : [`${inGit.name} has it with ${countOf(inGit.jobs, 'job')}`]),
    ...(files.length === 0
      ? []
      : [
          `${countOf(files.length, 'output')} ${files.length === 1 ? 'exists' : 'exist'} (${shortList(files, mostNamed)})`,
        ]),
  ];
  const unknown = known.length === 0 ? '' : ", which this machine's purchase journal does not have";
  const restore: Advice =
    inGit === undefined ? ['put the lock back from a copy'] : [way('restore the lock', inGit.restore)];
  return {
    message: `nothing can be bought for ${shown}: it ${lacks}, but ${found.join(', and ')}${unknown}. Nothing was sent`,
    hint: [
      ...restore,
      way("or record the jobs of the service's lists, for 0 credits", call('adopt')),
      way('or buy everything again', call('apply', '--new')),
    ] as Advice,
    files,
    jobs: inGit?.jobs ?? 0,
  };
}

/**
 * Lists files at the paths where the plan's new purchases save, of a media type that these steps produce. Ignores files
 * of purchases that are on record: in the journal of this campaign, or in another lock of the folder for another
 * request, because two campaigns may save to one path.
 */
async function findFiles(
  campaign: OpenCampaign,
  { plan, known }: { plan: Plan; known: readonly Purchase[] },
): Promise<string[]> {
  const { paths, sandbox } = campaign;
  const orders = new Map(
    plan.rows.flatMap(({ address, kind, order }) =>
      order === undefined || order.save === '' || !isCharged(order) || isFreelyRepeated(kind)
        ? []
        : [[address, order] as const],
    ),
  );
  const saves = [...orders].map(([address, order]) => ({ address, save: wantedPath(order, 0) }));
  const found = (await findStrangers(paths.outputs, saves, () => false)).filter(({ address, path }) => {
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

/** Returns the fingerprints of the requests that made each file, by SHA-256 and path. */
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

/** Finds a lock in git that has purchases which are not among the known ones. */
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

function shownPath(path: string): string {
  return relative('', path) || path;
}
