import { resolve } from 'node:path';
import { requireCheckedGraph } from '../../campaign/checked-graph.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameOfPerson } from '../../campaign/person.ts';
import { showPlan } from '../../campaign/plan.ts';
import { openSavedPlan, type SavedPlan, storeApproval, whyUnusable } from '../../campaign/saved-plan.ts';
import type { Approval } from '../../contract/approval.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { dropApproval, listApprovals } from '../../disk/state/own-files.ts';
import { call, way } from '../../ground/advice.ts';
import { isBought, postsOf } from '../../plan/consent.ts';
import type { Plan } from '../../plan/plan.ts';
import { jsonOf, strong } from '../../report/document.ts';
import { clockText, countOf } from '../../report/numbers.ts';
import { requestsText } from '../../report/plan/explain-text.ts';
import { pickedText, postsText, spendText } from '../../report/plan/plan-facts.ts';
import { planText } from '../../report/plan/plan-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { approvalsView } from '../../report/tables/lists.ts';
import { approving, askPerson, declined } from '../consent.ts';
import { applyingPlan } from '../next-steps.ts';
import { type Flags, open, type Texts } from '../open.ts';
import { outAs, type Terminal } from '../terminal.ts';

type ApproveOptions = Texts<'by'> & Flags<'list' | 'revoke' | 'rows' | 'json'> & { valid: number };

export async function approve(file: string | undefined, options: ApproveOptions, terminal: Terminal): Promise<number> {
  if (options.list === true) return showApprovals(options, terminal);
  const save = way('save a plan', { ...call('plan', '--out', 'campaign.plan.json'), file: 'campaign.yaml' });
  if (file === undefined) throw new CampaignError({ code: 'MB3000', message: 'no saved plan was given', hint: save });
  const saved = await openSavedPlan(file);
  if (options.revoke === true) return revoke(file, saved, terminal);
  if (saved === undefined) {
    throw new CampaignError({ code: 'MB3101', message: `${safeText(file)} is not a saved plan`, hint: save, file });
  }
  if (options.rows !== true && !terminal.interactive) {
    throw new CampaignError({
      code: 'MB3007',
      message: `no approval for ${safeText(file)}: no interactive terminal`,
      hint: 'have the payer run this command in an interactive terminal',
      next: [{ command: terminal.paste(approving(saved.path)), credits: 0, needs: 'person' }],
    });
  }
  terminal.called = { file: saved.manifest, options: { ...saved.options } };
  const campaign = await open(saved.manifest, saved.options, terminal);
  const checked = await requireCheckedGraph(campaign, {});
  const { plan } = await showPlan(campaign, checked, { ...saved.options, saved });
  if (options.rows === true) {
    terminal.out(requestsText(plan, terminal.style));
    return exitCodes.done;
  }
  return askAbout(plan, { saved, campaign, options, terminal });
}

async function askAbout(
  plan: Plan,
  context: { saved: SavedPlan; campaign: OpenCampaign; options: ApproveOptions; terminal: Terminal },
): Promise<number> {
  const { saved, campaign, options, terminal } = context;
  const { style, err, width, paste } = terminal;
  const now = systemClock.now();
  err(planText(plan, { style, width, isRehearsal: campaign.sandbox, now }));
  const what = subjectOf(plan, now);
  if (what === undefined) {
    err('the plan has nothing that needs an approval\n');
    return exitCodes.done;
  }
  err(`prompts, texts, voices and models of every step: ${paste(approving(saved.path, '--rows'))}\n`);
  const until = now + options.valid;
  const answer = await askPerson(
    [strong('Approve'), ` ${what}? Until ${clockText(until)}, apply can run this plan once without asking.`],
    { yes: false, terminal },
  );
  if (answer !== 'yes') return declined(answer, 'approved', terminal);
  const by = options.by ?? (await nameOfPerson(campaign.paths.folder));
  await storeApproval(saved, { campaign, what, by, at: systemClock.now(), until });
  const apply = paste(applyingPlan(saved));
  err(`${style.green('approved')} by ${safeText(by, 100)} until ${clockText(until)}; to apply it: ${apply}\n`);
  return exitCodes.done;
}

/** Revokes all approvals of the plan in this file, and of earlier plans in the same file. */
async function revoke(file: string, saved: SavedPlan | undefined, { err, style }: Terminal): Promise<number> {
  const isMeant = ({ plan, digest }: Approval) => plan === resolve(file) || digest === saved?.digest;
  const found = (await listApprovals()).filter(isMeant);
  for (const one of found) await dropApproval(one);
  if (found.length === 0) err(`${safeText(file)} is not approved\n`);
  else err(`${style.green('revoked')} ${countOf(found.length, 'approval')} of ${safeText(file)}\n`);
  return exitCodes.done;
}

async function showApprovals(options: ApproveOptions, terminal: Terminal): Promise<number> {
  const now = systemClock.now();
  const rows = (await listApprovals()).map((one) => ({ ...one, over: whyUnusable(one, now) }));
  await outAs(terminal, options, {
    text: () => approvalsView(rows, now),
    json: () =>
      jsonOf('approvals', {
        approvals: rows.map(({ version: _version, account: _account, over, ...one }) => ({
          ...one,
          counts: over === undefined,
        })),
      }),
  });
  if (rows.length === 0) terminal.err('no plan was approved on this machine\n');
  return exitCodes.done;
}

function subjectOf(plan: Plan, now: number): string | undefined {
  const { totals, rows } = plan;
  const { knownPrices, unknownPrices, estimate, mayRetry = 0, afterPicks } = totals;
  const posts = postsOf(rows, 'published');
  const bought = rows.filter(isBought).length;
  const isFree = knownPrices === 0 && unknownPrices === 0 && (estimate?.likely ?? 0) === 0;
  const parts = [
    ...(bought === 0 ? [] : [isFree ? `${countOf(bought, 'step')} for 0 credits` : spendText(totals)]),
    ...(mayRetry === 0 ? [] : [`up to ${countOf(mayRetry, 'credit')} more for retries`]),
    ...(afterPicks === undefined ? [] : [`${pickedText(afterPicks)} after the picks`]),
    ...(posts.length === 0 ? [] : [postsText(posts, now)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', and ');
}
