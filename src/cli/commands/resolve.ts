import { holdGuard } from '../../campaign/hold-guard.ts';
import { requireLock } from '../../campaign/load.ts';
import { type OpenCampaign, openCampaign } from '../../campaign/open-campaign.ts';
import { campaignPaths } from '../../campaign/paths.ts';
import { CommandError, exitCodes } from '../../contract/exit.ts';
import { openLockFile } from '../../disk/lock/lock-file.ts';
import { isJobId } from '../../ground/job-id.ts';
import { joinRecords, recordOf } from '../../lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { closedSends, sendOf } from '../../lock/sends.ts';
import { writeHeader, writeLine, writeLines } from '../../lock/write.ts';
import { advise, call } from '../../plan/advice.ts';
import { openSendsOf, settlingOf } from '../../plan/open-sends.ts';
import { isPost } from '../../plan/post-record.ts';
import { type Finding, resolvePurchase } from '../../plan/resolve-purchase.ts';
import type { Terminal } from '../terminal.ts';

export interface ResolveOptions {
  job?: string;
  credits?: number;
  notSpent?: boolean;
  spendAgain?: boolean;
  /** The id of the send that is decided about, where an address has several. */
  send?: string;
  sandbox?: boolean;
  lock?: string;
  lockTimeout: number;
  var?: Record<string, string>;
}

/** Records what a person has found out about a create whose answer was lost. Spends nothing itself. */
export async function resolve(
  file: string,
  address: string,
  context: { options: ResolveOptions; terminal: Terminal },
): Promise<number> {
  const { options, terminal } = context;
  const finding = readFinding(address, options);
  const paths = campaignPaths(file, options);
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  let kind: string;
  try {
    const loaded = await requireLock(paths, undefined, terminal);
    const record = loaded.lock.steps.get(address);
    const open = chooseSend(address, { record, lock: loaded.lock, wanted: options.send });
    if (record === undefined) throw nothingOpen(address, [...loaded.lock.steps.values()]);
    kind = open.kind ?? record.kind;
    if (isPost(kind) && finding.is === 'spend-again') throw neverTwice(address);
    if (finding.is !== 'job' && canBeAskedFor(open, await openCampaign(file, options))) throw stillAnswerable(address);
    refuseTaken(finding, { lock: loaded.lock, kind, open });
    const line = resolvePurchase(record, open, finding);
    const lockFile = await openLockFile(paths.lock, {
      header: writeHeader(loaded.lock),
      read: loaded.read ?? null,
      ...(loaded.tornTailAt !== undefined && { cutAt: loaded.tornTailAt }),
    });
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
  terminal.err(
    `${terminal.style.green('recorded')} ${address}: ${isPost(kind) ? describePost(finding) : describe(finding)}\n`,
  );
  return exitCodes.done;
}

function readFinding(address: string, options: ResolveOptions): Finding {
  const { job, credits, notSpent, spendAgain } = options;
  const found = [job !== undefined, notSpent === true, spendAgain === true].filter(Boolean).length;
  if (found === 0) throw nothingFound(address);
  if (found !== 1) {
    throw new CommandError(
      exitCodes.wrongUsage,
      'say what you have found out: exactly one of --job ID, --not-spent, --spend-again',
      '--job when the dashboard shows the job, --not-spent when it does not, --spend-again to buy it whatever happened',
    );
  }
  if (job === undefined && credits !== undefined) {
    throw new CommandError(exitCodes.wrongUsage, '--credits belongs to --job', 'leave it out');
  }
  if (job === undefined) return notSpent ? { is: 'not-spent' } : { is: 'spend-again' };
  if (!isJobId(job)) {
    throw new CommandError(
      exitCodes.wrongUsage,
      `${JSON.stringify(job)} cannot be a job id`,
      'copy it as the service shows it',
    );
  }
  return { is: 'job', jobId: job, ...(credits !== undefined && { credits }) };
}

/** Whoever pastes the command of a hint is told what there is to decide. */
function nothingFound(address: string): CommandError {
  return new CommandError(
    exitCodes.needsDecision,
    `what became of the create of ${address} is not known yet: look at the service's dashboard`,
    advise`if it shows the job, add --job and its id; if it does not: ${call('resolve', address, '--not-spent')}; to buy it whatever happened: ${call('resolve', address, '--spend-again')}`,
  );
}

/** The send that a decision is about. It is named wherever there is a choice: a decision about one says nothing of another. */
function chooseSend(
  address: string,
  { record, lock, wanted }: { record: StepRecord | undefined; lock: Lock; wanted: string | undefined },
): Purchase {
  const closed = closedSends(lock);
  const open = openSendsOf(record).filter((purchase) => !closed.has(sendOf(purchase)));
  if (open.length === 0) throw nothingOpen(address, [...lock.steps.values()]);
  const named = wanted === undefined ? open : open.filter((purchase) => sendOf(purchase) === wanted);
  const [first, second] = named;
  if (first !== undefined && second === undefined) return first;
  const list = open.map((purchase) => `--send ${sendOf(purchase)} (${describeSend(purchase)})`).join(', ');
  throw new CommandError(
    exitCodes.wrongUsage,
    first === undefined
      ? `${address} has no open create with the id ${JSON.stringify(wanted)}`
      : `${address} has ${open.length} creates whose outcome is unknown`,
    `say which one: ${list}`,
  );
}

function describeSend({ since, key }: Purchase): string {
  return since === undefined ? `key ${key}` : `sent ${since}`;
}

/** One job is the answer to one create. */
function refuseTaken(finding: Finding, { lock, kind, open }: { lock: Lock; kind: string; open: Purchase }): void {
  if (finding.is !== 'job') return;
  const isOther = (one: Purchase, own: string) =>
    one.jobId === finding.jobId && (one.kind ?? own) === kind && one.fingerprint !== open.fingerprint;
  const owner = [...lock.steps.values()].find((record) => record.purchases.some((one) => isOther(one, record.kind)));
  if (owner === undefined) return;
  throw new CommandError(
    exitCodes.wrongUsage,
    `job ${finding.jobId} is on record as what was bought for ${owner.address}, so it is not the answer to another create`,
    'look for the job of this create at the service; nothing was recorded',
  );
}

/** Asking is certain, deciding is not. */
function canBeAskedFor(open: Purchase, { replays, accountOf }: OpenCampaign): boolean {
  const now = Date.now();
  return open.request !== undefined && settlingOf(open, { replays, accountOf, now }).by === 'replay';
}

function stillAnswerable(address: string): CommandError {
  return new CommandError(
    exitCodes.wrongUsage,
    `nobody needs to decide about ${address} yet: its answer can still be asked for with the same key, which pays once`,
    'run apply again; only when 23 hours have passed since it was sent does it need a decision',
  );
}

/** Anybody can see whether it is out: nothing is sent on a doubt. */
function neverTwice(address: string): CommandError {
  return new CommandError(
    exitCodes.wrongUsage,
    `${address} is a post, which may be out already, and is not sent a second time on a doubt`,
    'look at its accounts: --job ID when it is there (or is scheduled), --not-spent when it is not; apply then sends it, once somebody agrees',
  );
}

function nothingOpen(address: string, records: StepRecord[]): CommandError {
  const open = records.filter((record) => openSendsOf(record).length > 0).map((record) => record.address);
  const hint =
    open.length === 0
      ? 'nothing in this lock waits for a decision'
      : `these wait for one: ${open.slice(0, 10).join(', ')}`;
  return new CommandError(exitCodes.wrongUsage, `${address} has no create whose outcome is unknown`, hint);
}

function describePost(finding: Finding): string {
  return finding.is === 'job'
    ? `it is out, as ${finding.jobId}, and is not sent again`
    : 'it is not out; the next apply publishes it, once somebody agrees (--publish)';
}

function describe(finding: Finding): string {
  switch (finding.is) {
    case 'job':
      return finding.credits === undefined
        ? `its job is ${finding.jobId}; the next apply collects it. What it was charged is not known: under a budget nothing else is bought until it is (--credits N)`
        : `its job is ${finding.jobId}, for ${finding.credits} credits; the next apply collects it`;
    case 'not-spent':
      return 'nothing was charged; the next apply buys it';
    case 'spend-again':
      return 'the next apply buys it, perhaps for the second time';
    default:
      return finding satisfies never;
  }
}
