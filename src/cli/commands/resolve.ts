import { resolve as record, requireOpenSend } from '../../campaign/decisions/resolve.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import type { Finding } from '../../plan/decisions/resolve-purchase.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { rulingsJson } from '../../report/plan/rulings-text.ts';
import { open, type StateOptions } from '../open.ts';
import { outJson, type Terminal } from '../terminal.ts';

export interface ResolveOptions extends StateOptions {
  job?: string;
  credits?: number;
  notSpent?: boolean;
  spendAgain?: boolean;
  /** The id of the send that is decided about, where an address has several. */
  send?: string;
  json?: boolean;
  /** In ms. */
  lockTimeout: number;
}

export async function resolve(
  file: string,
  address: string,
  { options, terminal }: { options: ResolveOptions; terminal: Terminal },
): Promise<number> {
  const campaign = await open(file, options, terminal);
  if (saysNothing(options)) await requireOpenSend(campaign, address);
  const finding = readFinding(address, options);
  const { send, lockTimeout } = options;
  const { kind } = await record(campaign, { address, finding, send }, { lockTimeoutMs: lockTimeout });
  const what = isPost(kind) ? describePost(finding) : describe(finding);
  terminal.err(`${terminal.style.green('recorded')} ${address}: ${what}\n`);
  if (options.json === true) {
    const ruling = { is: 'recorded' as const, address, text: what };
    const document = rulingsJson([ruling], { command: 'resolve', dryRun: false, paste: terminal.paste });
    outJson(terminal, document);
  }
  return exitCodes.done;
}

function saysNothing({ job, notSpent, spendAgain }: ResolveOptions): boolean {
  return job === undefined && notSpent !== true && spendAgain !== true;
}

function readFinding(address: string, options: ResolveOptions): Finding {
  const { job, credits, notSpent, spendAgain } = options;
  const found = [job !== undefined, notSpent === true, spendAgain === true].filter(Boolean).length;
  if (found === 0) throw nothingFound(address);
  if (found !== 1) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'say what you have found out: exactly one of --job ID, --not-spent, --spend-again',
      hint: '--job when the dashboard shows the job, --not-spent when it does not, --spend-again to buy it whatever happened',
      options: ['--job', '--not-spent', '--spend-again'],
    });
  }
  if (job === undefined && credits !== undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: '--credits belongs to --job',
      hint: 'leave it out',
      options: ['--credits'],
    });
  }
  if (job === undefined) return notSpent ? { is: 'not-spent' } : { is: 'spend-again' };
  return { is: 'job', jobId: job, ...(credits !== undefined && { credits }) };
}

/** Error for a pasted command without an address: lists what needs a decision. */
function nothingFound(address: string): CampaignError {
  return new CampaignError({
    code: 'MB3405',
    message: `what became of the create of ${address} is not known yet: look at the service's dashboard`,
    hint: [
      'if it shows the job, add --job and its id',
      way('if it does not', call('resolve', address, '--not-spent')),
      way('to buy it whatever happened', call('resolve', address, '--spend-again')),
    ],
    address,
  });
}

function describePost(finding: Finding): string {
  return finding.is === 'job'
    ? `it is out, as ${finding.jobId}, and is not sent again`
    : 'it is not published; the next approved apply publishes it (--publish)';
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
