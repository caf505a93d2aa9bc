import { resolve } from 'node:path';
import { whyOver } from '../../campaign/approvals.ts';
import { nameOfPerson } from '../../campaign/person.ts';
import { openSavedPlan, type SavedPlan } from '../../campaign/saved-plan.ts';
import type { Approval } from '../../contract/approval.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { dropApproval, listApprovals } from '../../disk/state/own-files.ts';
import { call, way } from '../../ground/advice.ts';
import { strong } from '../../report/document.ts';
import { clockText, countOf } from '../../report/numbers.ts';
import { requestsText } from '../../report/plan/requests-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { approvalsView } from '../../report/tables/approvals-text.ts';
import { askPerson } from '../ask-person.ts';
import { approving } from '../consent.ts';
import { open } from '../open.ts';
import { savedPlansIn, sayYes, showPlan } from '../saved-plans.ts';
import { outJson, show, type Terminal } from '../terminal.ts';

export interface ApproveOptions {
  /** Validity of the approval in ms. */
  valid: number;
  by?: string;
  list?: boolean;
  revoke?: boolean;
  /** Whether to print every request instead of asking. */
  rows?: boolean;
  json?: boolean;
}

/** Approves a saved plan beforehand, so that its `apply` does not ask for consent. */
export async function approve(file: string | undefined, options: ApproveOptions, terminal: Terminal): Promise<number> {
  if (options.list === true) return showApprovals(options, terminal);
  if (options.json === true) throw usage('--json goes with --list only', 'add --list, or leave it out', ['--json']);
  if (file === undefined) {
    const [found] = await savedPlansIn('.');
    const here = found === undefined ? [] : [way('the one that is here', approving(found))];
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
      hint: 'run this command on a terminal of the person who pays',
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
    err('there is nothing in it that takes a yes\n');
    return exitCodes.done;
  }
  err(`prompts, texts, voices and models of every step: ${rowsCommand(saved, terminal)}\n`);
  const now = systemClock.now();
  const until = now + valid;
  const answer = await askPerson(
    [strong('Approve'), ` ${what}? Until ${clockText(until)}, apply does it once, and asks nobody.`],
    { yes: false, terminal },
  );
  if (answer !== 'yes') {
    err('nothing was approved\n');
    return answer === 'no' ? exitCodes.done : exitCodes.interrupted;
  }
  const name = by ?? (await nameOfPerson(campaign.paths.folder));
  const counts = await sayYes(saved, { campaign, what, by: name, until }, terminal);
  err(`${style.green('approved')} ${counts}\n`);
  return exitCodes.done;
}

function rowsCommand({ path }: SavedPlan, terminal: Terminal): string {
  const command = approving(path);
  return terminal.paste({ ...command, words: [...(command.words ?? []), '--rows'] });
}

/** Prints the request of every step that an approval lets apply buy or publish, now or after picks. */
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
