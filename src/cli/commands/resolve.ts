import { openLockFile } from '../../disk/lock-file.ts';
import { isJobId } from '../../lock/check-line.ts';
import { joinRecords, recordOf } from '../../lock/join.ts';
import { isOpenCreate } from '../../lock/open-create.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { writeHeader, writeLine, writeLines } from '../../lock/write.ts';
import { advise, call } from '../../plan/advice.ts';
import { replayWindowMs } from '../../plan/decide.ts';
import { type Finding, findOpenPurchase, resolvePurchase } from '../../plan/resolve-purchase.ts';
import { requireGraph, requireLock } from '../campaign.ts';
import { campaignPaths } from '../campaign-paths.ts';
import { CommandError, exitCodes } from '../exit.ts';
import { holdGuard } from '../hold-guard.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';

export interface ResolveOptions {
  job?: string;
  credits?: number;
  notSpent?: boolean;
  spendAgain?: boolean;
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
  const graph = await requireGraph(file, collectVars(options.var), terminal);
  const guard = await holdGuard(paths.lock, options.lockTimeout * 1000, terminal);
  try {
    const loaded = await requireLock(paths, undefined, terminal);
    const record = loaded.lock.steps.get(address);
    const open = findOpenPurchase(record);
    if (record === undefined || open === undefined) throw nothingOpen(address, [...loaded.lock.steps.values()]);
    if (finding.is !== 'job' && canBeAskedFor(open)) throw stillAnswerable(address);
    const line = resolvePurchase(record, open, { campaign: graph.name, finding });
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
  terminal.err(`${terminal.style.green('recorded')} ${address}: ${describe(finding)}\n`);
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

/** The service still replays it: asking is certain, deciding is not. */
function canBeAskedFor({ state, since }: Purchase): boolean {
  return state === 'intent' && since !== undefined && Math.abs(Date.now() - Date.parse(since)) < replayWindowMs;
}

function stillAnswerable(address: string): CommandError {
  return new CommandError(
    exitCodes.wrongUsage,
    `nobody needs to decide about ${address} yet: its answer can still be asked for with the same key, which pays once`,
    'run apply again; only when 23 hours have passed since it was sent does it need a decision',
  );
}

function nothingOpen(address: string, records: StepRecord[]): CommandError {
  const open = records.filter(({ purchases }) => purchases.some(isOpenCreate)).map((record) => record.address);
  const hint =
    open.length === 0
      ? 'nothing in this lock waits for a decision'
      : `these wait for one: ${open.slice(0, 10).join(', ')}`;
  return new CommandError(exitCodes.wrongUsage, `${address} has no create whose outcome is unknown`, hint);
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
