import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../contract/clock.ts';
import { lstatOrAbsent } from '../../disk/fs/plain-file.ts';
import { readLastCommitted } from '../../disk/git/git-command.ts';
import { readSeenLock } from '../../disk/lock/seen-lock.ts';
import { findStrangers, mayBeOutput } from '../../disk/outputs/outputs.ts';
import type { Graph, Step } from '../../graph/graph.ts';
import { kinds } from '../../kinds/index.ts';
import { readLock } from '../../lock/read.ts';
import type { Lock, Purchase } from '../../lock/record.ts';
import { countJobs } from '../../lock/sends.ts';
import { isSpending } from '../../plan/actions.ts';
import type { Plan } from '../../plan/plan.ts';
import { isReplayed } from '../../plan/purchases/open-sends.ts';
import { wantedPath, withoutExtension } from '../../plan/select/names.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { runsOfLock } from '../runs-of-lock.ts';
import type { OtherLock } from './other-locks.ts';

/** Traces on the disk of purchases that the lock does not know. */
export interface Traces {
  /** Files where steps save, or that were seen there, and that are on record in no other lock. */
  files: readonly string[];
  /** Purchases by runs on this machine, each with its job where it was told and `import` takes it. */
  bought: readonly { address: string; jobId: string | undefined }[];
  /** The lock that git has where the working tree has none; `commit`: that which has it. Absent: there is none. */
  committed?: { jobs: number; commit: string };
  /** Whether this machine wrote a lock with records here, and kept no history of runs that would tell what they are. */
  wrote: boolean;
  /** Whether all of it is handed out again by its key, without a charge, when this plan is carried out. */
  heals: boolean;
}

/** Finds traces. Where a person brought jobs back into the lock, only steps that it lacks and that are bought count. */
export async function findTraces(
  campaign: OpenCampaign,
  { graph, lock, plan, others }: { graph: Graph; lock: Lock; plan: Plan; others: readonly OtherLock[] },
): Promise<Traces> {
  const creates = new Set(plan.rows.flatMap(({ action, address }) => (isSpending(action) ? [address] : [])));
  const isBegun = countJobs(lock) > 0;
  const asked = graph.steps.filter(({ address }) => !isBegun || (creates.has(address) && !lock.steps.has(address)));
  const steps = new Map(asked.map((step) => [step.address, step]));
  const files = await findFiles(campaign, { steps, others });
  const { bought: history, runs } = await readHistory(campaign, { steps, name: plan.campaign });
  if (isBegun) for (const address of history.keys()) if (!steps.has(address)) history.delete(address);
  const committed = isBegun ? undefined : await findCommitted(campaign, { graph, others });
  const wrote = !isBegun && runs === 0 && (await wroteRecords(campaign));
  const now = systemClock.now();
  const heals = (address: string) => {
    const since = history.get(address)?.since;
    const kind = kinds[steps.get(address)?.kind ?? ''];
    const isAsked = kind?.recovery === 'replay' && campaign.replays === 'yes' && creates.has(address);
    return isAsked && since !== undefined && isReplayed(now - since); // I40 (age)
  };
  // A post has an id, and no job to collect.
  const isJob = (address: string) => kinds[steps.get(address)?.kind ?? '']?.status !== undefined;
  return {
    files: files.map(({ path }) => path),
    bought: [...history].map(([address, { jobId }]) => ({ address, jobId: isJob(address) ? jobId : undefined })),
    ...(committed && { committed }),
    wrote,
    heals:
      committed === undefined && !wrote && [...files.map(({ address }) => address), ...history.keys()].every(heals),
  };
}

async function findFiles(
  { paths, seen }: OpenCampaign,
  { steps, others }: { steps: ReadonlyMap<string, Step>; others: readonly OtherLock[] },
): Promise<{ address: string; path: string }[]> {
  const saves = [...steps.values()].flatMap((step) =>
    step.save === '' || kinds[step.kind]?.media === 'none' || isUpload(step)
      ? []
      : [{ address: step.address, save: wantedPath(step, 0) }],
  );
  const theirs = new Set<string>();
  for (const { isBeside, lock } of others) {
    if (!isBeside) continue;
    for (const { purchases } of lock.steps.values())
      for (const { outputs } of purchases) for (const { path } of outputs ?? []) theirs.add(path);
  }
  const strangers = await findStrangers(paths.outputs, saves, (path) => theirs.has(path));
  // A text that somebody calls hero.png was never ours.
  const found = strangers.filter(({ address, path }) => {
    const media = kinds[steps.get(address)?.kind ?? '']?.media ?? 'none';
    return media !== 'none' && mayBeOutput(paths.outputs, path, media);
  });
  const bySave = new Map(saves.map(({ address, save }) => [save, address]));
  const there = new Set(found.map(({ path }) => path));
  for (const { path } of seen.files) {
    const address = bySave.get(withoutExtension(path));
    if (address !== undefined && !there.has(path) && !theirs.has(path)) found.push({ address, path });
  }
  return found;
}

function isUpload({ kind }: Pick<Step, 'kind'>): boolean {
  return kinds[kind]?.recovery === 'again';
}

interface Bought {
  jobId: string | undefined;
  since: number | undefined;
}

/**
 * Reads what runs on this lock bought, or sent without an answer, by address; `since`: the first time, in ms since
 * 1970, under this name, which is part of every key. Runs of a campaign of this name on a lock that is gone count, too:
 * manifest and lock may have been renamed before it was lost.
 */
async function readHistory(
  { paths }: OpenCampaign,
  { steps, name }: { steps: ReadonlyMap<string, Step>; name: string },
): Promise<{ bought: Map<string, Bought>; runs: number }> {
  const bought = new Map<string, Bought>();
  let runs = 0;
  const isGone = (lock: string) => lstatOrAbsent(join(paths.folder, lock)) === undefined;
  const isOfName = ({ lock, campaign }: { lock?: unknown; campaign?: unknown }) =>
    campaign === name && typeof lock === 'string' && isGone(basename(lock));
  for await (const { lines } of runsOfLock(paths, isOfName)) {
    runs += 1;
    const open = new Map<string, number>();
    const isKeyed = lines.some(({ mediabatch, campaign }) => mediabatch === 'run' && campaign === name);
    const note = (address: string, at: number, jobId: string | undefined) => {
      const known = bought.get(address);
      const since = isKeyed ? Math.min(at, known?.since ?? at) : known?.since; // I40 (name)
      bought.set(address, { jobId: known?.jobId ?? jobId, since });
    };
    for (const { event, address, at, jobId } of lines) {
      if (typeof address !== 'string' || typeof at !== 'string') continue;
      const step = steps.get(address);
      if (step !== undefined && isUpload(step)) continue;
      if (event === 'create-intended') open.set(address, Date.parse(at));
      if (event === 'job-created') note(address, Date.parse(at), typeof jobId === 'string' ? jobId : undefined);
      // Refused, or recorded: in either case it has been answered.
      if (event === 'job-created' || event === 'step-finished') open.delete(address);
    }
    for (const [address, since] of open) note(address, since, undefined);
  }
  return { bought, runs };
}

/**
 * Finds the lock in the last commit, or in the last one before it was removed: there only what this campaign asks for
 * counts, and what no other lock has taken over.
 */
async function findCommitted(
  { paths }: OpenCampaign,
  { graph, others }: { graph: Graph; others: readonly OtherLock[] },
): Promise<Traces['committed']> {
  const found = await readLastCommitted(dirname(paths.lock), basename(paths.lock));
  if (found === undefined) return undefined;
  const { bytes, commit } = found;
  const { lock } = readLock(paths.lock, bytes);
  const steps = commit === 'HEAD' ? lock.steps : lostSteps(lock, { graph, others });
  const jobs = countJobs({ ...lock, steps });
  return jobs === 0 ? undefined : { jobs, commit };
}

function lostSteps({ steps }: Lock, { graph, others }: { graph: Graph; others: readonly OtherLock[] }): Lock['steps'] {
  const asked = new Set(graph.steps.flatMap(({ address, fingerprint }) => [address, fingerprint]));
  const idOf = ({ jobId, send, key }: Purchase) => jobId ?? send ?? key;
  const kept = new Set(
    others.flatMap((one) => [...one.lock.steps.values()].flatMap((step) => step.purchases.map(idOf))),
  );
  return new Map(
    [...steps].flatMap(([address, step]) => {
      const isAsked = asked.has(address) || step.purchases.some(({ fingerprint }) => asked.has(fingerprint));
      const purchases = step.purchases.filter((one) => !kept.has(idOf(one)));
      return isAsked ? [[address, { ...step, purchases }] as const] : [];
    }),
  );
}

/** Whether this machine wrote records. No run tells of what was imported or adopted; nor does one too long ago. */
async function wroteRecords({ paths }: OpenCampaign): Promise<boolean> {
  const seen = await readSeenLock(paths.lock);
  return seen !== undefined && seen.beginnings.length > 1;
}
