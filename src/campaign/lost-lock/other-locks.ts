import { basename, dirname, join, relative, resolve } from 'node:path';
import { listFolder } from '../../disk/fs/folders.ts';
import { readSmallFile } from '../../disk/fs/plain-file.ts';
import { readLockBytes } from '../../disk/lock/lock-file.ts';
import type { Graph } from '../../graph/graph.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { kinds } from '../../kinds/index.ts';
import { readLock } from '../../lock/read.ts';
import type { Lock } from '../../lock/record.ts';
import { countJobs } from '../../lock/sends.ts';
import { isManifest } from '../../manifest/read-file.ts';
import { maxManifestBytes } from '../../manifest/yaml/source.ts';
import { situate } from '../../plan/situation/situation.ts';
import { listLocks, longestLock } from '../find-locks.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { sandboxService } from '../paths.ts';

/** Bounds of the search: only a campaign without a purchase looks this far, and it looks once. */
const bounds = { folders: 2000, entries: 100_000, depth: 8 };
const mostBytes = 256 * 1024 ** 2;

/** A lock of the tree that is not the campaign's own, with jobs of the same service. */
export interface OtherLock {
  path: string;
  /** Path as seen from the working folder. */
  shown: string;
  lock: Lock;
  /** Jobs of exactly the steps of the campaign. */
  kin: number;
  /** It is in the campaign's own folder. */
  isBeside: boolean;
  hasManifest: boolean;
}

/** Reads the other locks around a campaign, those in its folder first. One behind a link, or too large, is passed over. */
export async function findOtherLocks(campaign: OpenCampaign, graph: Graph): Promise<OtherLock[]> {
  const { paths } = campaign;
  const fingerprints = new Set(
    graph.steps.flatMap(({ kind, fingerprint }) => (kinds[kind]?.recovery === 'again' ? [] : [fingerprint])),
  );
  const found: OtherLock[] = [];
  let left = mostBytes;
  for (const path of await listLocks(paths, bounds)) {
    if (resolve(path) === resolve(paths.lock)) continue;
    const bytes = await readLockBytes(path, Math.min(longestLock, left)).catch(() => undefined);
    if (bytes === undefined) continue;
    left -= bytes.length;
    const { lock, services, diagnostics } = readLock(path, bytes);
    if (!isOfService(services, campaign)) continue;
    const isBeside = dirname(path) === paths.folder;
    // A lock beside it that cannot be read may tell of anything.
    const isDark = isBeside && hasErrors(diagnostics) && lock.steps.size === 0 && bytes.includes('mediabatch');
    if (countJobs(lock) === 0 && !isDark) continue;
    const isOwned = await hasManifest(path);
    const kin = countKin(lock, { graph, fingerprints, isOwned });
    found.push({ path, shown: relative('', path) || path, lock, kin, isBeside, hasManifest: isOwned });
  }
  return found;
}

/**
 * Whether a lock may be of the campaign's service: play money is of no use to a real campaign, nor the other way round.
 * A lock that names no service may be of any.
 */
function isOfService(services: readonly string[], { service, sandbox }: OpenCampaign): boolean {
  if (service !== undefined && services.length > 0) return services.includes(service);
  return services.includes(sandboxService) === sandbox || services.length === 0;
}

function countKin(
  lock: Lock,
  { graph, fingerprints, isOwned }: { graph: Graph; fingerprints: ReadonlySet<string>; isOwned: boolean },
): number {
  let count = 0;
  for (const { purchases } of lock.steps.values()) {
    for (const { state, fingerprint } of purchases) {
      if (state !== 'refused' && fingerprints.has(fingerprint)) count += 1;
    }
  }
  if (count > 0 || isOwned) return count;
  // It may have a request in another form that is the same purchase.
  return situate(graph, lock).matches.filter(
    ({ step, purchase }) =>
      purchase !== undefined && purchase.state !== 'refused' && kinds[step.kind]?.recovery !== 'again',
  ).length;
}

const lockEnding = /(\.sandbox)?\.lock\.jsonl$/;

/** Whether a manifest has this lock by its name. A table of the same name is none. */
async function hasManifest(lock: string): Promise<boolean> {
  const stem = basename(lock).replace(lockEnding, '');
  const isNamed = (name: string) => /\.(ya?ml|json)$/i.test(name) && name.replace(/\.[^.]+$/, '') === stem;
  for (const { name } of await listFolder(dirname(lock))) {
    if (!isNamed(name)) continue;
    const text = readSmallFile(join(dirname(lock), name), maxManifestBytes)?.toString('utf8');
    // What is too large to be read is not taken for a table.
    if (text === undefined || isManifest({ file: name, text })) return true; // I40 (renamed)
  }
  return false;
}
