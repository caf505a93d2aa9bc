import { CampaignError, orFailure } from '../../contract/failure.ts';
import { joinRecords, recordOf } from '../../lock/join.ts';
import type { Lock, OpenSend, Purchase, StepRecord } from '../../lock/record.ts';
import { closedSends } from '../../lock/sends.ts';
import { writeLine, writeLines } from '../../lock/write.ts';
import { type Finding, resolvePurchase } from '../../plan/decisions/resolve-purchase.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { openSendsOf, settlingOf } from '../../plan/purchases/open-sends.ts';
import { checkCall } from '../check-call.ts';
import { checkFinding, checkJob } from '../check-options.ts';
import { holdGuard } from '../hold-guard.ts';
import { requireGraph } from '../load-manifest.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { type LoadedLock, openLoadedLock, requireLock } from '../read-lock.ts';
import { requireRestoredLock } from '../restore-purchases.ts';

/**
 * Records what a person has found out about a create whose answer was lost. Spends nothing itself. `send`: the id of the
 * send, where an address has several that are open.
 */
export async function resolve(
  campaign: OpenCampaign,
  found: { address: string; finding: Finding; send?: string | undefined },
  options: { lockTimeoutMs?: number | undefined } = {},
): Promise<{ kind: string }> {
  checkCall('resolve', [campaign, found, options]);
  return orFailure(record(campaign, found, options));
}

async function record(
  campaign: OpenCampaign,
  { address, finding, send }: { address: string; finding: Finding; send?: string | undefined },
  options: { lockTimeoutMs?: number | undefined },
): Promise<{ kind: string }> {
  checkFinding(finding);
  if (finding.is === 'job') checkJob(finding.jobId, finding.credits);
  const { paths, tell } = campaign;
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell);
  let kind: string;
  try {
    const loaded = await requireOpen(campaign, address);
    const record = loaded.lock.steps.get(address);
    const open = chooseSend(address, { record, lock: loaded.lock, wanted: send });
    if (record === undefined) throw nothingOpen(address, [...loaded.lock.steps.values()]);
    kind = open.kind ?? record.kind;
    if (isPost(kind) && finding.is === 'spend-again') throw neverTwice(address);
    if (finding.is !== 'job' && canBeAskedFor(open, campaign)) throw stillAnswerable(address);
    refuseTaken(finding, { address, lock: loaded.lock, kind, open });
    const line = resolvePurchase(record, open, finding);
    const lockFile = await openLoadedLock(paths.lock, loaded);
    try {
      await lockFile.append(writeLine(line));
      loaded.lock.steps.set(address, joinRecords(record, recordOf(line)));
      await lockFile.replace(writeLines(loaded.lock));
    } finally {
      await lockFile.close();
    }
  } finally {
    await guard.release();
  }
  return { kind };
}

function undecided(record: StepRecord | undefined, lock: Lock): OpenSend[] {
  const closed = closedSends(lock);
  return openSendsOf(record).filter((purchase) => !closed.has(purchase.send));
}

/** The send that a decision is about. It is named wherever there is a choice: a decision about one says nothing of another. */
function chooseSend(
  address: string,
  { record, lock, wanted }: { record: StepRecord | undefined; lock: Lock; wanted: string | undefined },
): OpenSend {
  const open = undecided(record, lock);
  if (open.length === 0) throw nothingOpen(address, [...lock.steps.values()]);
  const named = wanted === undefined ? open : open.filter((purchase) => purchase.send === wanted);
  const [first, second] = named;
  if (first !== undefined && second === undefined) return first;
  const list = open.map((purchase) => `--send ${purchase.send} (${describeSend(purchase)})`).join(', ');
  throw new CampaignError({
    code: 'MB3005',
    message:
      first === undefined
        ? `${address} has no open create with the id ${JSON.stringify(wanted)}`
        : `${address} has ${open.length} creates whose outcome is unknown`,
    hint: `say which one: ${list}`,
    addresses: [address],
  });
}

function describeSend({ since, key }: OpenSend): string {
  return since === undefined ? `key ${key}` : `sent ${since}`;
}

/** Refuses a job that another purchase has: one job is the answer to one create. */
function refuseTaken(
  finding: Finding,
  { address, lock, kind, open }: { address: string; lock: Lock; kind: string; open: OpenSend },
): void {
  if (finding.is !== 'job') return;
  const isOther = (one: Purchase, own: string) =>
    one.jobId === finding.jobId && (one.kind ?? own) === kind && one.fingerprint !== open.fingerprint;
  const owner = [...lock.steps.values()].find((record) => record.purchases.some((one) => isOther(one, record.kind)));
  if (owner === undefined) return;
  throw new CampaignError({
    code: 'MB3005',
    message: `job ${finding.jobId} is on record as what was bought for ${owner.address}, so it is not the answer to another create`,
    hint: 'look for the job of this create at the service; nothing was recorded',
    addresses: [address],
  });
}

/** Whether the answer of a create can still be asked for: asking is certain, deciding is not. */
function canBeAskedFor(open: OpenSend, { replays, accountOf }: OpenCampaign): boolean {
  const now = Date.now();
  return open.request !== undefined && settlingOf(open, { replays, accountOf, now }).by === 'replay';
}

function stillAnswerable(address: string): CampaignError {
  return new CampaignError({
    code: 'MB3005',
    message: `nobody needs to decide about ${address} yet: its answer can still be asked for with the same key, which pays once`,
    hint: 'run apply again; only when 23 hours have passed since it was sent does it need a decision',
    addresses: [address],
  });
}

/** Error for a post that may be out: anybody can see whether it is, and nothing is sent on a doubt. */
function neverTwice(address: string): CampaignError {
  return new CampaignError({
    code: 'MB3005',
    message: `${address} is a post, which may be out already, and is not sent a second time on a doubt`,
    hint: 'check the social account: if the post exists or is scheduled, pass --job ID; if not, --not-spent, and the next approved apply publishes it',
    addresses: [address],
  });
}

/** Finds out whether there is anything to decide about a step; throws where there is not. */
export async function requireOpenSend(campaign: OpenCampaign, address: string): Promise<void> {
  const { lock } = await requireOpen(campaign, address);
  if (undecided(lock.steps.get(address), lock).length === 0) throw nothingOpen(address, [...lock.steps.values()]);
}

/** Reads the lock; where it has no unresolved create at the address, with what the purchase journal restores. */
async function requireOpen(campaign: OpenCampaign, address: string): Promise<LoadedLock> {
  const loaded = await requireLock(campaign, undefined);
  if (undecided(loaded.lock.steps.get(address), loaded.lock).length > 0) return loaded;
  return requireRestoredLock(campaign, await requireGraph(campaign));
}

function nothingOpen(address: string, records: StepRecord[]): CampaignError {
  const state = records.find((record) => record.address === address)?.purchases[0]?.state;
  const known = state === 'done' || state === 'running' || state === 'failed' ? ` is ${state}, and` : '';
  const open = records.filter((record) => openSendsOf(record).length > 0).map((record) => record.address);
  const hint =
    open.length === 0
      ? 'nothing in this lock waits for a decision'
      : `these wait for one: ${open.slice(0, 10).join(', ')}`;
  return new CampaignError({
    code: 'MB3005',
    message: `${address}${known} has no create whose outcome is unknown`,
    hint,
    addresses: [address],
  });
}
