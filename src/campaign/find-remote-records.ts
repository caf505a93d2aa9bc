import type { RemoteRecord } from '../contract/leftovers.ts';
import { kinds } from '../kinds/index.ts';
import type { Job, StepRecord } from '../lock/record.ts';
import { isJob } from '../lock/sends.ts';
import { findOrphans } from '../plan/rows/orphans.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import type { Situation } from '../plan/situation/situation.ts';
import type { PresentFiles } from '../report/status/status.ts';

export interface RemoteRecords {
  records: RemoteRecord[];
  /** Records that were chosen but are still needed. */
  skipped: { address: string; why: string }[];
}

/**
 * Returns the jobs of these addresses whose records at the service can be removed, each job once. A record is kept
 * while a step of the manifest needs it: for a file that is not on this machine, or a link in the request of a step
 * that is not done.
 */
export function findRemoteRecords(
  situation: Situation,
  present: PresentFiles,
  addresses: ReadonlySet<string>,
): RemoteRecords {
  const { lock, matches, byAddress } = situation;
  const waitingFor = findWaiting(situation);
  const orphans = new Set(findOrphans(situation));
  const inUse = new Set(matches.flatMap(({ purchase }) => purchase?.jobId ?? []));
  const found: RemoteRecords = { records: [], skipped: [] };
  const seen = new Set<string>();
  for (const address of [...addresses].sort()) {
    const record = lock.steps.get(address);
    if (record === undefined || kinds[record.kind]?.remove === undefined) continue;
    const isOrphan = orphans.has(address);
    const why = isOrphan ? undefined : whyKept({ own: byAddress.get(address), waiting: waitingFor(address), present });
    if (why !== undefined) {
      found.skipped.push({ address, why });
      continue;
    }
    for (const purchase of record.purchases) {
      if (!isJob(purchase)) continue;
      const { jobId, state } = purchase;
      if (seen.has(jobId) || (isOrphan && inUse.has(jobId))) continue;
      if (state === 'running') {
        found.skipped.push({ address, why: `its job ${jobId} is still running; apply collects it first` });
        continue;
      }
      seen.add(jobId);
      found.records.push(recordOf(record, purchase, { isOrphan, present }));
    }
  }
  return found;
}

function recordOf(
  { kind, address }: StepRecord,
  job: Job,
  { isOrphan, present }: { isOrphan: boolean; present: PresentFiles },
): RemoteRecord {
  const { jobId, recordId, credits } = job;
  return {
    kind,
    address,
    jobId,
    ...(recordId !== undefined && { recordId }),
    ...(credits !== undefined && { credits }),
    files: filesOf(job, present),
    isOrphan,
  };
}

function filesOf({ state, outputs }: Job, present: PresentFiles): RemoteRecord['files'] {
  if (outputs === undefined || outputs.length === 0) return state === 'done' ? 'missing' : 'none';
  return outputs.every(({ path }) => present.get(path) === 'intact') ? 'intact' : 'missing';
}

/** Returns a function that finds the steps that are not done and use a given step, directly or through a gate. */
function findWaiting({ matches, gateOf }: Situation): (address: string) => readonly Match[] {
  const waiting = new Map<string, Match[]>();
  for (const match of matches) {
    if (match.purchase?.state === 'done') continue;
    for (const need of match.step.needs) {
      const known = waiting.get(need);
      if (known === undefined) waiting.set(need, [match]);
      else known.push(match);
    }
  }
  return (address) => {
    const names = new Set([address, gateOf.get(address)?.name ?? address]);
    return [...names].flatMap((name) => waiting.get(name) ?? []);
  };
}

/** Why a step of the manifest still needs the service's record. */
function whyKept({
  own,
  waiting,
  present,
}: {
  own: Match | undefined;
  waiting: readonly Match[];
  present: PresentFiles;
}): string | undefined {
  if (own?.purchase?.state === 'done' && filesOf(own.purchase, present) === 'missing') {
    const way = own.step.unpicked === true ? 'when it is picked, apply fetches it' : 'apply fetches it';
    return `its file is not here as it was paid for; ${way}, and after that the record can go`;
  }
  const [first] = waiting;
  if (first === undefined) return undefined;
  const more = waiting.length > 1 ? ` and ${waiting.length - 1} more` : '';
  return `${first.step.address}${more} needs its link and is not done yet`;
}
