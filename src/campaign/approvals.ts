import { resolve } from 'node:path';
import type { Approval } from '../contract/approval.ts';
import { CampaignError } from '../contract/failure.ts';
import { keepApproval, listApprovals, lockName, readApproval } from '../disk/state/own-files.ts';
import { defined } from '../ground/values.ts';
import { requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { SavedPlan } from './saved-plan.ts';

export type Approved = { is: 'approved'; approval: Approval } | { is: 'not'; why?: string };

/**
 * Returns the approval of a plan. It is valid only for this plan, lock and account, until it expires or the plan is
 * done.
 */
export async function findApproval(
  saved: Pick<SavedPlan, 'path' | 'digest'>,
  { campaign, now }: { campaign: OpenCampaign; now: number },
): Promise<Approved> {
  const approval = await readApproval({ digest: saved.digest, lock: lockName(campaign.paths.lock) });
  if (approval === undefined) return { is: 'not', ...(await sayWhyNot(saved)) };
  const why = whyOver(approval, now);
  if (why !== undefined) return { is: 'not', why };
  const isOther = approval.account !== campaign.accountOf(saved.digest); // I43 (account)
  if (isOther) return { is: 'not', why: `${approval.by} approved it for another account, of another API key` };
  return { is: 'approved', approval };
}

export function whyOver({ by, at, until, ended }: Approval, now: number): string | undefined {
  if (ended !== undefined) return `what ${by} approved at ${at} is done`;
  if (now >= Date.parse(until)) return `the approval of ${by} was valid until ${until}`;
  if (now < Date.parse(at)) return `the approval of ${by} is of ${at}, and this clock is before that`;
  return undefined;
}

export async function keepYes(
  { path, digest, campaign: name }: Pick<SavedPlan, 'path' | 'digest' | 'campaign'>,
  { campaign, what, by, at, until }: { campaign: OpenCampaign; what: string; by: string; at: number; until: number },
): Promise<void> {
  if (!campaign.sandbox) requireAccess(campaign.environment, { rehearses: false });
  const account = campaign.accountOf(digest);
  const times = { at: new Date(at).toISOString(), until: new Date(until).toISOString() };
  const plan = resolve(path);
  const lock = lockName(campaign.paths.lock);
  const bound = { plan, digest, lock, ...defined({ account }) };
  if (await keepApproval({ version: 1, ...bound, campaign: name, what, by, ...times })) return;
  throw new CampaignError({
    code: 'MB3301',
    message: 'the approval cannot be stored: this user has no writable state folder',
    hint: 'set XDG_STATE_HOME to a folder outside of any working tree',
    path: plan,
  });
}

export async function endApproval(approval: Approval, now: number): Promise<void> {
  await keepApproval({ ...approval, ended: new Date(now).toISOString() });
}

async function sayWhyNot({ path, digest }: Pick<SavedPlan, 'path' | 'digest'>): Promise<{ why?: string }> {
  const others = await listApprovals();
  const same = others.find((one) => one.digest === digest);
  if (same !== undefined) return { why: `${same.by} approved it for another lock, ${same.lock}` };
  const before = others.find(({ plan }) => plan === resolve(path));
  return before === undefined ? {} : { why: `the plan has changed since ${before.by} approved it at ${before.at}` };
}
