import { basename, dirname, join, relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { lstatOrAbsent } from '../disk/fs/plain-file.ts';
import { readLastCommitted } from '../disk/git/git-command.ts';
import { hashFile } from '../disk/outputs/hash-file.ts';
import { findStrangers, mayBeOutput } from '../disk/outputs/outputs.ts';
import { SavedFiles } from '../disk/outputs/saved-files.ts';
import { type Advice, call, shell, way } from '../ground/advice.ts';
import { isFreelyRepeated, kinds } from '../kinds/index.ts';
import { readLock } from '../lock/read.ts';
import type { Lock } from '../lock/record.ts';
import { countJobs } from '../lock/sends.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import { wantedPath } from '../plan/select/names.ts';
import { countOf } from '../report/numbers.ts';
import { shortList } from '../report/safe-text.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { nameOfPurchases } from './restore-purchases.ts';

interface Question {
  /** Includes purchases restored from the purchase journal of this machine. */
  lock: Lock;
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
 * Throws MB3409 when a lock without purchases is about to buy, although files exist where its steps save, or git has
 * a lock with purchases. The lock was lost, and the journal of this machine does not have its purchases.
 */
export async function refuseLostLock(campaign: OpenCampaign, question: Question): Promise<void> {
  const lost = await findLoss(campaign, question);
  if (lost === undefined) return;
  const { message, hint, files, jobs } = lost;
  const lock = shownPath(campaign.paths.lock);
  throw new CampaignError({ code: 'MB3409', message, hint, lock, jobs, ...(files.length > 0 && { files }) });
}

async function findLoss(campaign: OpenCampaign, { lock, plan, isNew }: Question) {
  const isBought = (row: PlanRow) => row.later !== undefined || (isSpending(row.action) && !isFreelyRepeated(row.kind));
  if (isNew || countJobs(lock) > 0 || !plan.rows.some(isBought)) return undefined;
  const files = await findFiles(campaign, plan); // I40 (files)
  const committed = await findCommitted(campaign); // I40 (git)
  if (files.length === 0 && committed === undefined) return undefined;
  const shown = shownPath(campaign.paths.lock);
  const lacks = lstatOrAbsent(campaign.paths.lock) === undefined ? 'does not exist' : 'has no purchases';
  const found = [
    ...(committed === undefined ? [] : [`${committed.name} has it with ${countOf(committed.jobs, 'job')}`]),
    ...(files.length === 0
      ? []
      : [
          `${countOf(files.length, 'output')} ${files.length === 1 ? 'exists' : 'exist'} (${shortList(files, mostNamed)})`,
        ]),
  ];
  const restore: Advice =
    committed === undefined ? ['put the lock back from a copy'] : [way('restore the lock', committed.restore)];
  return {
    message: `nothing can be bought for ${shown}: it ${lacks}, but ${found.join(', and ')}. Nothing was sent`,
    hint: [
      ...restore,
      way("or record the jobs of the service's lists, for 0 credits", call('adopt')),
      way('or buy everything again', call('apply', '--new')),
    ] as Advice,
    files,
    jobs: committed?.jobs ?? 0,
  };
}

/**
 * Lists files at the paths where the steps of the plan save, of a media type that these steps produce. Ignores files
 * that this user's runs saved on this machine: the purchase journal has their jobs, and another campaign may save
 * there.
 */
async function findFiles(campaign: OpenCampaign, { campaign: name, rows }: Plan): Promise<string[]> {
  const { paths } = campaign;
  const saves = rows.flatMap(({ address, kind, order }) =>
    order === undefined || order.save === '' || (kinds[kind]?.media ?? 'none') === 'none' || isFreelyRepeated(kind)
      ? []
      : [{ address, save: wantedPath(order, 0) }],
  );
  const kindOf = new Map(rows.map(({ address, kind }) => [address, kind]));
  const found = await findStrangers(paths.outputs, saves, () => false);
  const outputs = found.filter(({ address, path }) => {
    const media = kinds[kindOf.get(address) ?? '']?.media ?? 'none';
    return media !== 'none' && mayBeOutput(paths.outputs, path, media);
  });
  const files = outputs.map(({ path }) => path);
  if (nameOfPurchases(campaign, name) === undefined) return files;
  const digests = await Promise.all(files.map((path) => hashFile(join(paths.outputs, path))));
  const saved = new SavedFiles(paths.state, paths.outputs);
  return files.filter((path, index) => !saved.has(path, digests[index]?.sha256 ?? ''));
}

/** Returns the lock of the last commit that has it, if that lock has purchases. */
async function findCommitted({ paths }: OpenCampaign) {
  const found = await readLastCommitted(dirname(paths.lock), basename(paths.lock));
  const jobs = found === undefined ? 0 : countJobs(readLock(paths.lock, found.bytes).lock);
  if (found === undefined || jobs === 0) return undefined;
  const { commit } = found;
  const isHead = commit === 'HEAD';
  const source = isHead ? [] : [`--source=${commit}`];
  return {
    jobs,
    name: isHead ? 'the last commit' : `commit ${commit}`,
    restore: shell('git', 'restore', ...source, shownPath(paths.lock)),
  };
}

function shownPath(path: string): string {
  return relative('', path) || path;
}
