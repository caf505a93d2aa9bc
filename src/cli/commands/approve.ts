import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { keepYes, whyOver } from '../../campaign/approvals.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameOfPerson } from '../../campaign/person.ts';
import { planSaved } from '../../campaign/plan.ts';
import { openSavedPlan, type SavedPlan } from '../../campaign/saved-plan.ts';
import type { Approval } from '../../contract/approval.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { dropApproval, listApprovals } from '../../disk/state/own-files.ts';
import { call, way } from '../../ground/advice.ts';
import { isBought, postsOf } from '../../plan/consent.ts';
import type { Plan } from '../../plan/plan.ts';
import { strong } from '../../report/document.ts';
import { clockText, countOf } from '../../report/numbers.ts';
import { pickedText, spendText } from '../../report/plan/plan-facts.ts';
import { planText } from '../../report/plan/plan-text.ts';
import { postsText } from '../../report/plan/post-words.ts';
import { requestsText } from '../../report/plan/requests-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { approvalsView } from '../../report/tables/approvals-text.ts';
import { askPerson, declined } from '../ask-person.ts';
import { approving } from '../consent.ts';
import { open } from '../open.ts';
import { outJson, show, type Terminal } from '../terminal.ts';

interface ApproveOptions {
  /** Validity of the approval in ms. */
  valid: number;
  by?: string;
  list?: boolean;
  revoke?: boolean;
  /** Whether to print every request instead of asking. */
  rows?: boolean;
  json?: boolean;
}

export async function approve(file: string | undefined, options: ApproveOptions, terminal: Terminal): Promise<number> {
  if (options.list === true) return showApprovals(options, terminal);
  if (options.json === true) throw usage('--json requires --list', 'add --list, or remove --json', ['--json']);
  if (file === undefined) {
    const [found] = await savedPlansIn('.');
    const here = found === undefined ? [] : [way('approve the plan in this folder', approving(found))];
    throw usage('no plan is named', [...here, way('save one', call('plan', '--out', 'campaign.plan.json'))], []);
  }
  if (options.revoke === true) return revoke(file, terminal);
  const saved = await openSavedPlan(file);
  if (saved === undefined) throw noPlan(file);
  if (options.rows === true) return showRows(saved, terminal);
  if (!terminal.interactive) {
    throw new CampaignError({
      code: 'MB3007',
      message: `no approval for ${safeText(file)}: no interactive terminal`,
      hint: 'have the payer run this command in an interactive terminal',
      next: [{ command: terminal.paste(approving(saved.path)), credits: 0, needs: 'person' }],
    });
  }
  return askAbout(saved, options, terminal);
}

async function askAbout(saved: SavedPlan, { valid, by }: ApproveOptions, terminal: Terminal): Promise<number> {
  terminal.called = { file: saved.manifest, options: { ...saved.options } };
  const campaign = await open(saved.manifest, saved.options, terminal);
  const { style, err } = terminal;
  const { text, what } = await showPlan(saved, campaign, terminal);
  err(text);
  if (what === undefined) {
    err('the plan has nothing that needs an approval\n');
    return exitCodes.done;
  }
  err(`prompts, texts, voices and models of every step: ${rowsCommand(saved, terminal)}\n`);
  const now = systemClock.now();
  const until = now + valid;
  const answer = await askPerson(
    [strong('Approve'), ` ${what}? Until ${clockText(until)}, apply can run this plan once without asking.`],
    { yes: false, terminal },
  );
  if (answer !== 'yes') return declined(answer, 'approved', terminal);
  const name = by ?? (await nameOfPerson(campaign.paths.folder));
  const counts = await sayYes(saved, { campaign, what, by: name, until }, terminal);
  err(`${style.green('approved')} ${counts}\n`);
  return exitCodes.done;
}

function rowsCommand({ path }: SavedPlan, terminal: Terminal): string {
  const command = approving(path);
  return terminal.paste({ ...command, words: [...(command.words ?? []), '--rows'] });
}

async function showRows(saved: SavedPlan, terminal: Terminal): Promise<number> {
  const campaign = await open(saved.manifest, saved.options, terminal);
  const { plan } = await showPlan(saved, campaign, terminal);
  terminal.out(requestsText(plan, terminal.style));
  return exitCodes.done;
}

/** Revokes every approval of the plan in this file, and of plans that were approved under this path. */
async function revoke(file: string, terminal: Terminal): Promise<number> {
  const saved = await openSavedPlan(file);
  const isMeant = ({ plan, digest }: Approval) => plan === resolve(file) || digest === saved?.digest;
  const found = (await listApprovals()).filter(isMeant);
  for (const one of found) await dropApproval(one);
  const { style, err } = terminal;
  if (found.length === 0) err(`${safeText(file)} is not approved\n`);
  else err(`${style.green('revoked')} ${countOf(found.length, 'approval')} of ${safeText(file)}\n`);
  return exitCodes.done;
}

async function showApprovals({ json }: ApproveOptions, terminal: Terminal): Promise<number> {
  const now = systemClock.now();
  const rows = (await listApprovals()).map((one) => ({ ...one, over: whyOver(one, now) }));
  if (json === true) {
    const approvals = rows.map(({ version: _version, account: _account, over, ...one }) => ({
      ...one,
      counts: over === undefined,
    }));
    outJson(terminal, { mediabatch: 'approvals', version: 1, approvals });
  } else if (rows.length === 0) {
    terminal.err('nothing was approved here\n');
  } else {
    show(terminal, approvalsView(rows, now));
  }
  return exitCodes.done;
}

function noPlan(file: string): CampaignError {
  return new CampaignError({
    code: 'MB3101',
    message: `${safeText(file)} is not a saved plan`,
    hint: way('save one', { ...call('plan', '--out', 'campaign.plan.json'), file: 'campaign.yaml' }),
    file,
  });
}

function usage(message: string, hint: ConstructorParameters<typeof CampaignError>[0]['hint'], options: string[]) {
  return new CampaignError({ code: 'MB3000', message, hint, options });
}

/** Limit of plans, because each one is opened, or planned again to be shown. */
const mostPlans = 10;

async function savedPlansIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.plan.json'))
    .sort()
    .slice(0, mostPlans);
}

/** Stores the approval of a plan that the user has seen. Returns a description of what is approved. Times in ms. */
async function sayYes(
  saved: SavedPlan,
  said: { campaign: OpenCampaign; what: string; by: string; until: number },
  terminal: Pick<Terminal, 'paste'>,
): Promise<string> {
  await keepYes(saved, { ...said, at: systemClock.now() });
  const apply = terminal.paste({ ...call('apply'), file: saved.path, bare: true });
  return `by ${safeText(said.by, 100)} until ${clockText(said.until)}; to apply it: ${apply}`;
}

/**
 * Makes a saved plan again, to show it before it is approved. Throws MB3102 if it is stale. `what`: description of
 * everything that the approval covers; undefined if nothing is bought or published.
 */
export async function showPlan(
  saved: SavedPlan,
  campaign: OpenCampaign,
  { style, width }: Pick<Terminal, 'style' | 'width'>,
): Promise<{ plan: Plan; text: string; what: string | undefined }> {
  const plan = await planSaved(saved, campaign);
  const now = systemClock.now();
  return {
    plan,
    text: planText(plan, { style, width, all: false, isRehearsal: campaign.sandbox, now }),
    what: subjectOf(plan, now),
  };
}

/**
 * Describes everything that an approval of a plan covers, like `12 credits, and 1 post to …`. Undefined if nothing is
 * bought or published.
 */
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
